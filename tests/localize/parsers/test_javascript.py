"""The JavaScript parser: ECMAScript modules, CommonJS, JSX."""

import pytest

from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import Import
from tests.localize.parsers.reading import Reading

SHAPES = Reading(
    "a.js",
    """
    /**
     * Adds things.
     * @param a first
     */
    export function add(a, b) {
      return helper(a) + ns.deep.call(b);
    }

    export const arrow = async (x) => {
      await fetchIt(x);
    };

    // A shape.
    export default class Shape extends Base.Inner {
      static sides = 4;
      handler = () => this.draw();
      constructor(pen) {
        super(pen);
        this.pen = new Pen();
      }
      get area() { return this.compute(); }
      async *items() { yield one(); }
      draw() {
        super.draw();
        const p = new Pen(); p.use();
        function local() { return uno(); }
        return <Widget a={make()}><div/></Widget>;
      }
    }

    const api = {
      load() { return go(); },
      save: function () { return stop(); },
      run: async () => start(),
    };

    exports.out = function () { inner(); };
    module.exports.other = () => {};
    Shape.prototype.late = function () { this.draw(); };
    setup(() => { nested(); });
    let K = class { m() {} };
    function* gen() {}
    const Card = React.memo((props) => paint(props));
    """,
)


def test_definitions() -> None:
    assert [(name, *SHAPES.lines(name)) for name in SHAPES.names] == [
        ("add", 5, 7),
        ("arrow", 9, 11),
        ("Shape", 14, 29),
        ("Shape.handler", 16, 16),
        ("Shape.constructor", 17, 20),
        ("Shape.area", 21, 21),
        ("Shape.items", 22, 22),
        ("Shape.draw", 23, 28),
        ("Shape.draw.local", 26, 26),
        ("api.load", 32, 32),
        ("api.save", 33, 33),
        ("api.run", 34, 34),
        ("out", 37, 37),
        ("other", 38, 38),
        ("Shape.late", 39, 39),
        ("K", 41, 41),
        ("K.m", 41, 41),
        ("gen", 42, 42),
        ("Card", 43, 43),
    ]
    assert {name for name in SHAPES.names if SHAPES[name].kind is EntityKind.CLASS} == {"Shape", "K"}
    assert SHAPES.parent("Shape.draw.local") == "Shape.draw"
    assert not SHAPES.parsed.has_errors


def test_signatures_and_comments() -> None:
    assert SHAPES["add"].signature == "function add(a, b)"
    assert SHAPES["Shape.items"].signature == "async *items()"
    assert SHAPES["add"].docstring == "Adds things.\n@param a first"
    assert SHAPES["Shape"].docstring == "A shape."
    assert SHAPES["arrow"].docstring == ""


def test_calls() -> None:
    assert SHAPES.calls("add") == {"helper", "ns.deep.call"}
    assert SHAPES.calls("Shape.constructor") == {"super().constructor", "Pen"}
    assert SHAPES.calls("Shape.handler") == {"this.draw"}
    assert SHAPES.calls("Shape.draw") == {"super().draw", "Pen", "p.use", "Widget", "make"}
    assert SHAPES.calls("Shape.draw.local") == {"uno"}
    assert SHAPES.calls("api.run") == {"start"}
    assert {"setup", "nested"} <= SHAPES.calls("")


def test_bases_and_types() -> None:
    assert SHAPES.bases("Shape") == {"Base.Inner"}
    assert SHAPES.hints("Shape.constructor") == {"this.pen": "Pen()"}
    assert SHAPES.hints("Shape.draw") == {"p": "Pen()"}


@pytest.mark.parametrize(
    ("statement", "imports"),
    [
        (
            "import def, { one as uno, two } from './one.js';",
            [
                ("./one.js", "default", "def"),
                ("./one.js", "", "def"),
                ("./one.js", "one", "uno"),
                ("./one.js", "two", "two"),
            ],
        ),
        ("import * as ns from '../ns'", [("../ns", "", "ns")]),
        ("import './side';", [("./side", "", "")]),
        ("export { x as y } from './x';", [("./x", "x", "y")]),
        ("export * from './all';", [("./all", "*", "*")]),
        ("function f() {} export { f as g };", [("", "f", "g")]),
        ("import {\n  a, // why\n  b,\n} from '@/deep/a'", [("@/deep/a", "a", "a"), ("@/deep/a", "b", "b")]),
        ("const m = await import('./late.js');", [("./late.js", "", "")]),
        ("class A {} export default A;", [("", "A", "default")]),
        ("module.exports = { f: g };", [("", "g", "f")]),
    ],
)
def test_imports(statement: str, imports: list[Import]) -> None:
    assert Reading("a.js", statement).imports == imports


def test_required_modules() -> None:
    found = Reading(
        "a.js",
        """
        const fs = require('fs');
        const { readIt, b: c } = require('./reader');
        const part = require('./part').piece;
        """,
    ).imports
    assert {("fs", "", "fs"), ("./reader", "readIt", "readIt"), ("./reader", "b", "c")} <= set(found)
    assert ("./part", "piece", "part") in found


def test_broken_source_keeps_what_parses() -> None:
    reading = Reading(
        "a.js",
        """
        function good() { return one(); }

        function torn() { const x = = two(; }

        class Fine { m() { three(); } }
        """,
    )
    assert reading.parsed.has_errors
    assert {"good", "Fine", "Fine.m"} <= set(reading.names)
    assert reading.calls("good") == {"one"} and reading.calls("Fine.m") == {"three"}
