"""The Java parser."""

from codeforge.localize.model import EntityKind
from tests.localize.parsers.reading import Reading

SHOP = Reading(
    "Cart.java",
    """
    package com.shop;

    import com.shop.pricing.Price;
    import com.shop.util.*;
    import static com.shop.Math.round;
    import java.util.List;

    /**
     * Holds items.
     */
    @Entity(name = "x")
    public class Cart<T> extends Base<T> implements Tool, com.shop.Other {
        private Pen pen = new Pen();
        private final List<Price> all = new ArrayList<>();

        public Cart(Pen pen) { super(pen); this.pen = pen; }

        /** Sums. */
        @Override
        public Price total(int rate) throws IOException {
            Price p = pen.draw(rate);
            var q = new Line(1);
            helper(p);
            this.helper(q);
            super.total(rate);
            all.forEach(Price::round);
            Runnable r = () -> later();
            return Price.of(p).plus(round(1));
        }

        private void helper(Object... os) { for (Price p : all) { p.round(); } }

        static class Inner { void deep() { helper(); } }
        enum Kind { A, B; Kind next() { return B; } }
        record Point(int x, int y) { Point { check(x); } }
    }

    interface Tool extends Closeable { Line draw(int x); default void twice() { draw(2); } }
    @interface Mark { }
    """,
)


def test_definitions() -> None:
    assert [(name, *SHOP.lines(name)) for name in SHOP.names] == [
        ("Cart", 11, 36),
        ("Cart.Cart", 16, 16),
        ("Cart.total", 19, 29),
        ("Cart.helper", 31, 31),
        ("Cart.Inner", 33, 33),
        ("Cart.Inner.deep", 33, 33),
        ("Cart.Kind", 34, 34),
        ("Cart.Kind.next", 34, 34),
        ("Cart.Point", 35, 35),
        ("Cart.Point.Point", 35, 35),
        ("Tool", 38, 38),
        ("Tool.draw", 38, 38),
        ("Tool.twice", 38, 38),
        ("Mark", 39, 39),
    ]
    classes = {name for name in SHOP.names if SHOP[name].kind is EntityKind.CLASS}
    assert classes == {"Cart", "Cart.Inner", "Cart.Kind", "Cart.Point", "Tool", "Mark"}
    assert SHOP["Cart"].docstring == "Holds items." and SHOP["Cart.total"].docstring == "Sums."
    assert SHOP["Tool.draw"].signature == "Line draw(int x);"
    assert not SHOP.parsed.has_errors


def test_imports() -> None:
    assert SHOP.imports == [
        ("com.shop.pricing.Price", "Price", "Price"),
        ("com.shop.util", "*", "*"),
        ("com.shop.Math", "round", "round"),
        ("java.util.List", "List", "List"),
    ]


def test_calls() -> None:
    assert SHOP.calls("Cart") == {"Pen", "ArrayList"}
    assert SHOP.calls("Cart.total") == {
        "pen.draw",
        "Line",
        "helper",
        "this.helper",
        "super().total",
        "all.forEach",
        "Price.round",
        "later",
        "Price.of",
        "Price.of().plus",
        "round",
    }
    assert SHOP.calls("Cart.Inner.deep") == {"helper"}
    assert SHOP.calls("Cart.Point.Point") == {"check"}


def test_the_constructor_of_the_base_is_called() -> None:
    assert SHOP.calls("Cart.Cart") == {"Base"}


def test_bases_and_annotations() -> None:
    bases = [
        one.chain for one in SHOP.parsed.references if one.owner == 1 and one.chain in SHOP.bases("Cart")
    ]
    assert bases == ["Base", "Tool", "com.shop.Other"]
    assert SHOP.bases("Tool") == {"Closeable"}
    assert SHOP.decorators("Cart") == {"Entity"} and SHOP.decorators("Cart.total") == {"Override"}


def test_types() -> None:
    assert SHOP["Cart.total"].returns == "Price" and SHOP["Cart.helper"].returns == ""
    assert SHOP.hints("Cart") == {"pen": "Pen", "all": "List"}
    assert SHOP.hints("Cart.total") == {"p": "Price", "r": "Runnable", "q": "Line()"}
    assert SHOP.hints("Cart.helper") == {"os": "Object", "p": "Price"}


def test_broken_source_keeps_what_parses() -> None:
    reading = Reading(
        "A.java",
        """
        class A {
            void good() { one(); }
            void broken( { int x = = 2; }
            void fine() { three(); }
        }
        """,
    )
    assert reading.parsed.has_errors
    assert {"A", "A.good", "A.fine"} <= set(reading.names)
    assert reading.calls("A.good") == {"one"} and reading.calls("A.fine") == {"three"}
