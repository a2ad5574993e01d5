"""The C++ parser: what C hasn't got."""

from codeforge.localize.model import EntityKind
from tests.localize.parsers.reading import Reading

CART = Reading(
    "a.cpp",
    """
    #include "cart.hpp"
    namespace shop::deep {

    /// Holds items.
    template <typename T>
    class Cart : public Base<T>, private ns::Tool {
    public:
        explicit Cart(Pen* pen) : Base<T>(pen), Tool(1), pen_(pen) { init(); }
        ~Cart();
        virtual int area() const = 0;
        int total(int rate) const;
        Price& price() { return find(this->pen_->draw()); }
        bool operator==(const Cart& o) const { return same(o); }
    private:
        Pen* pen_;
        std::unique_ptr<Line> line;
        struct Inner { int deep() { return 1; } };
    };

    }

    // Sums.
    template <typename T>
    int shop::deep::Cart<T>::total(int rate) const {
        auto p = std::make_unique<Price>(rate);
        auto q = new Line(1);
        Line r(2);
        auto s = make();
        helper(rate);
        q->draw();
        return ns::sum<int>(rate);
    }

    Cart::~Cart() { done(); }
    enum class Color { Red };
    using Alias = Cart<int>;
    static Pen* pick(const Pen& a, Line b = Line()) { for (Pen& x : all()) { x.draw(); } return nullptr; }
    std::ostream& operator<<(std::ostream& os, const Cart& c) { return os; }
    """,
)


def test_definitions() -> None:
    assert [(name, *CART.lines(name)) for name in CART.names] == [
        ("shop.deep.Cart", 5, 18),
        ("shop.deep.Cart.Cart", 8, 8),
        ("shop.deep.Cart.area", 10, 10),
        ("shop.deep.Cart.price", 12, 12),
        ("shop.deep.Cart.operator==", 13, 13),
        ("shop.deep.Cart.Inner", 17, 17),
        ("shop.deep.Cart.Inner.deep", 17, 17),
        ("shop.deep.Cart.total", 23, 32),
        ("Cart.~Cart", 34, 34),
        ("Color", 35, 35),
        ("Alias", 36, 36),
        ("pick", 37, 37),
        ("operator<<", 38, 38),
    ]
    classes = {name for name in CART.names if CART[name].kind is EntityKind.CLASS}
    assert classes == {"shop.deep.Cart", "shop.deep.Cart.Inner", "Color", "Alias"}
    assert CART["shop.deep.Cart"].docstring == "Holds items."
    assert CART["shop.deep.Cart.total"].docstring == "Sums."
    assert not CART.parsed.has_errors


def test_calls() -> None:
    assert CART.calls("shop.deep.Cart.price") == {"find", "this.pen_.draw"}
    assert CART.calls("shop.deep.Cart.total") == {
        "std.make_unique",
        "Line",
        "make",
        "helper",
        "q.draw",
        "ns.sum",
    }
    assert CART.calls("Cart.~Cart") == {"done"}
    assert CART.calls("pick") == {"all", "x.draw", "Line"}


def test_constructors_of_bases_are_called() -> None:
    assert CART.calls("shop.deep.Cart.Cart") >= {"init", "Base", "Tool"}


def test_bases() -> None:
    assert CART.bases("shop.deep.Cart") == {"Base", "ns.Tool"}


def test_types() -> None:
    assert CART["shop.deep.Cart.price"].returns == "Price" and CART["pick"].returns == "Pen"
    assert CART.hints("shop.deep.Cart") == {"pen_": "Pen", "line": "Line"}
    made = {"r": "Line", "p": "Price", "q": "Line()", "s": "make()"}
    assert CART.hints("shop.deep.Cart.total") == made
    assert CART.hints("pick") == {"a": "Pen", "b": "Line", "x": "Pen"}


def test_broken_source_keeps_what_parses() -> None:
    reading = Reading(
        "a.cpp",
        """
        class A {
            void good() { one(); }
            int x = = 2;
            void fine() { three(); }
        };
        int after() { return four(); }
        """,
    )
    assert reading.parsed.has_errors
    assert {"A", "A.good", "A.fine", "after"} <= set(reading.names)
    assert reading.calls("A.good") == {"one"} and reading.calls("A.fine") == {"three"}
