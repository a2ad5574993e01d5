"""The Rust parser."""

import pytest

from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import Import
from tests.localize.parsers.reading import Reading

SHOP = Reading(
    "a.rs",
    """
    //! Crate.

    /// Holds items.
    #[derive(Debug)]
    pub struct Cart<'a> {
        pen: Box<dyn Pen>,
        name: &'a str,
    }

    pub enum Kind { A, B }

    pub trait Pen: Tool + fmt::Display {
        fn draw(&self, x: i32) -> Line;
        fn twice(&self) -> Line { self.draw(2) }
    }

    impl<'a> Cart<'a> {
        /// Makes one.
        pub fn new(name: &'a str) -> Self {
            let list = L::new();
            let other: Price = pricing::find(name)?;
            Cart { pen: Box::new(Pencil {}), name }
        }
        async fn total(&self) -> Result<Price, Error> {
            self.pen.draw(1);
            println!("{}", helper(self.name));
            Self::new("x");
            list.iter().map(|x| x.round()).collect::<Vec<_>>()
        }
    }

    impl Pen for Cart<'_> {
        fn draw(&self, x: i32) -> Line { Line::default() }
    }

    mod tests {
        #[test]
        fn works() { assert_eq!(add(1), deep::make(2)); }
    }

    macro_rules! shout { ($x:expr) => { loud($x) }; }
    type Short = Cart<'static>;
    """,
)


def test_definitions() -> None:
    assert [(name, *SHOP.lines(name)) for name in SHOP.names] == [
        ("Cart", 4, 8),
        ("Kind", 10, 10),
        ("Pen", 12, 15),
        ("Pen.draw", 13, 13),
        ("Pen.twice", 14, 14),
        ("Cart.new", 19, 23),
        ("Cart.total", 24, 29),
        ("Cart.draw", 33, 33),
        ("tests.works", 37, 38),
        ("shout", 41, 41),
        ("Short", 42, 42),
    ]
    assert {name for name in SHOP.names if SHOP[name].kind is EntityKind.CLASS} == {
        "Cart",
        "Kind",
        "Pen",
        "Short",
    }
    assert SHOP["Cart"].docstring == "Holds items." and SHOP["Cart.new"].docstring == "Makes one."
    assert SHOP["Cart.total"].signature == "async fn total(&self) -> Result<Price, Error>"
    assert not SHOP.parsed.has_errors


@pytest.mark.parametrize(
    ("statement", "imports"),
    [
        (
            "use crate::pricing::{self, Price, list::List as L};",
            [
                ("crate", "pricing", "pricing"),
                ("crate::pricing", "Price", "Price"),
                ("crate::pricing::list", "List", "L"),
            ],
        ),
        ("pub(crate) use super::*;", [("super", "*", "*")]),
        ("mod inner;", [("self::inner", "", "inner")]),
        ("mod inner { }", []),
        ("extern crate serde as s;", [("serde", "", "s")]),
        ("fn f() { use a::b as _; use a::c; }", [("a", "c", "c")]),
    ],
)
def test_imports(statement: str, imports: list[Import]) -> None:
    assert Reading("a.rs", statement).imports == imports


def test_calls() -> None:
    assert SHOP.calls("Pen.twice") == {"self.draw"}
    assert SHOP.calls("Cart.new") == {"L.new", "pricing.find", "Cart", "Box.new", "Pencil"}
    assert {"self.pen.draw", "println", "helper", "Self.new", "x.round"} <= SHOP.calls("Cart.total")
    assert SHOP.calls("tests.works") == {"assert_eq", "add", "deep.make"}
    assert SHOP.calls("shout") == {"loud"}


def test_traits_are_bases() -> None:
    assert SHOP.bases("Pen") == {"Tool", "fmt.Display"}
    assert SHOP.bases("Cart") == {"Pen"}


def test_types() -> None:
    assert SHOP["Cart.new"].returns == "Self" and SHOP["Cart.total"].returns == "Price"
    assert SHOP.hints("Cart") == {"pen": "Pen"}
    assert SHOP.hints("Cart.new") == {"list": "L.new()", "other": "Price"}


def test_broken_source_keeps_what_parses() -> None:
    reading = Reading(
        "a.rs",
        """
        fn good() { one(); }

        fn broken( {
            let = ;
        }

        impl C {
            fn fine(&self) { self.three(); }
        }
        """,
    )
    assert reading.parsed.has_errors
    assert {"good", "C.fine"} <= set(reading.names)
    assert reading.calls("good") == {"one"} and reading.calls("C.fine") == {"self.three"}
