"""The Go parser."""

from codeforge.localize.model import EntityKind
from tests.localize.parsers.reading import Reading

SHOP = Reading(
    "a.go",
    """
    // Package shop sells.
    package shop

    import (
        "fmt"
        yaml "gopkg.in/yaml.v3"
        . "example.com/me/shop/util"
        _ "example.com/me/shop/side"
        "example.com/me/go-pricing/v2"
    )

    // Cart holds items.
    type Cart struct {
        Base
        *pricing.List
        pen  *Pen
        name string
    }

    // Total sums.
    // All of it.
    func (c *Cart) Total(rate float64) (*pricing.Price, error) {
        p := pricing.New(rate)
        q := &Pen{}
        var z Pen = makePen()
        fmt.Println(p, q, z)
        return c.pen.Draw(p), nil
    }

    type (
        Pen interface {
            Draw(p int) Line
            Tool
        }
        ID = int
    )

    func Map[T any](xs []T, f func(T) T) []T {
        go func() { work() }()
        return nil
    }

    var Default = NewCart()

    func NewCart() *Cart { return &Cart{name: "x"} }
    func (s Stack[T]) Push(x T) { s.grow() }
    """,
)


def test_definitions() -> None:
    assert [(name, *SHOP.lines(name)) for name in SHOP.names] == [
        ("Cart", 13, 18),
        ("Cart.Total", 22, 28),
        ("Pen", 31, 34),
        ("Pen.Draw", 32, 32),
        ("ID", 35, 35),
        ("Map", 38, 41),
        ("NewCart", 45, 45),
        ("Stack.Push", 46, 46),
    ]
    assert {name for name in SHOP.names if SHOP[name].kind is EntityKind.CLASS} == {"Cart", "Pen", "ID"}
    assert SHOP["Cart.Total"].docstring == "Total sums.\nAll of it."
    assert SHOP["Cart.Total"].signature == "func (c *Cart) Total(rate float64) (*pricing.Price, error)"
    assert not SHOP.parsed.has_errors


def test_imports() -> None:
    assert SHOP.imports == [
        ("fmt", "", "fmt"),
        ("gopkg.in/yaml.v3", "", "yaml"),
        ("example.com/me/shop/util", "*", "*"),
        ("example.com/me/shop/side", "", "_"),
        ("example.com/me/go-pricing/v2", "", "pricing"),
    ]


def test_calls() -> None:
    assert SHOP.calls("Cart.Total") == {"pricing.New", "Pen", "makePen", "fmt.Println", "c.pen.Draw"}
    assert SHOP.calls("Map") == {"work"}
    assert SHOP.calls("NewCart") == {"Cart"}
    assert SHOP.calls("Stack.Push") == {"s.grow"}
    assert SHOP.calls("") == {"NewCart"}


def test_embedded_types_are_bases() -> None:
    assert SHOP.bases("Cart") == {"Base", "pricing.List"}
    assert SHOP.bases("Pen") == {"Tool"}


def test_types() -> None:
    assert SHOP["Cart.Total"].returns == "pricing.Price"
    assert SHOP["NewCart"].returns == "Cart" and SHOP["Pen.Draw"].returns == "Line"
    assert SHOP["Map"].returns == ""
    assert SHOP.hints("Cart") == {"pen": "Pen"}
    assert SHOP.hints("Cart.Total") == {"c": "Cart", "p": "pricing.New()", "q": "Pen", "z": "Pen"}
    assert SHOP.hints("") == {"Default": "NewCart()"}


def test_broken_source_keeps_what_parses() -> None:
    reading = Reading(
        "a.go",
        """
        package a

        func Good() { one() }

        func Broken( {
            x := := 2
        }

        func (c *C) Fine() { c.three() }
        """,
    )
    assert reading.parsed.has_errors
    assert {"Good", "C.Fine"} <= set(reading.names)
    assert reading.calls("Good") == {"one"} and reading.calls("C.Fine") == {"c.three"}
