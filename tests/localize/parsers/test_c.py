"""The C parser."""

from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import language_of
from tests.localize.parsers.reading import Reading

CART = Reading(
    "a.c",
    """
    #include <stdio.h>
    #include "cart.h"

    /* Holds items. */
    struct cart { struct pen *pen; int count; };
    typedef struct { int x; } point_t;
    typedef enum { A, B } kind_t;
    enum color { RED };
    #define MAX(a, b) bigger(a, b)

    // Adds.
    static int add(struct cart *c, int n) {
        struct pen *p = make_pen(n);
        point_t q;
        c->pen->draw(p);
        return MAX(n, count(c));
    }

    const struct pen *pen_of(const cart_t *c) { return strdup(c->name); }
    char **names(void)
    {
        return 0;
    }
    int declared(int x);
    """,
)


def test_definitions() -> None:
    assert [(name, *CART.lines(name)) for name in CART.names] == [
        ("cart", 5, 5),
        ("point_t", 6, 6),
        ("kind_t", 7, 7),
        ("color", 8, 8),
        ("MAX", 9, 9),
        ("add", 12, 17),
        ("pen_of", 19, 19),
        ("names", 20, 23),
    ]
    classes = {name for name in CART.names if CART[name].kind is EntityKind.CLASS}
    assert classes == {"cart", "point_t", "kind_t", "color"}
    assert CART["cart"].docstring == "Holds items." and CART["add"].docstring == "Adds."
    assert CART["add"].signature == "static int add(struct cart *c, int n)"
    assert not CART.parsed.has_errors


def test_includes() -> None:
    assert CART.imports == [("<stdio.h>", "*", "*"), ("cart.h", "*", "*")]


def test_calls() -> None:
    assert CART.calls("add") == {"make_pen", "c.pen.draw", "MAX", "count"}
    assert CART.calls("pen_of") == {"strdup"}


def test_types() -> None:
    assert CART["pen_of"].returns == "pen" and CART["add"].returns == ""
    assert CART.hints("cart") == {"pen": "pen"}
    assert CART.hints("add") == {"c": "cart", "p": "pen", "q": "point_t"}


def test_headers_are_of_one_family_with_sources() -> None:
    families = {
        language.family for path in ("a.c", "a.h", "a.cpp", "a.hpp") if (language := language_of(path))
    }
    assert families == {"c"}


def test_broken_source_keeps_what_parses() -> None:
    reading = Reading(
        "a.c", "int good(void) { return one(); }\n\nint x = = 2;\n\nint fine(void) { return three(); }\n"
    )
    assert reading.parsed.has_errors
    assert {"good", "fine"} <= set(reading.names)
    assert reading.calls("good") == {"one"} and reading.calls("fine") == {"three"}
