"""The TypeScript parser: what JavaScript hasn't got."""

from codeforge.localize.model import EntityKind
from tests.localize.parsers.reading import Reading

SHAPES = Reading(
    "a.ts",
    """
    import type { Pen } from './pen';
    import fs = require('./fs-like');
    export { Maker as Builder } from './maker';

    /** A tool. */
    export interface Tool extends Base<string>, ns.Other {
      use(x: number): Promise<Result>;
      pen: Pen;
    }

    export type Alias = { a: Pen };
    export enum Color { Red, Green }

    @Component({ selector: 'x' })
    export abstract class Shape<T> extends Figure<T> implements Tool, ns.Drawn {
      private store = new Map<string, Pen>();
      cache: Cache | null = null;
      constructor(private readonly pen: Pen, count: number) { super(); }
      abstract area(): number;
      use(x: number): Promise<Result> { return this.pen.draw(x); }
      handler = (e: Event): void => { this.use(1); };
      static make(): Shape<any> { return new Circle<number>(); }
    }

    export function load(path: string): Pen;
    export function load(path: string, tool?: Tool): Pen {
      const list: Pen[] = [];
      const one: Pen = find(path)!;
      return one;
    }
    namespace Inner { export function deep() { return load('x'); } }
    declare function ambient(x: string): void;
    export const typed = async (a: Tool): Promise<Pen> => a.use(1) as any;
    export default function () { return ambient('x'); }
    """,
)


def test_definitions() -> None:
    assert [(name, *SHAPES.lines(name)) for name in SHAPES.names if name != "load"] == [
        ("Tool", 6, 9),
        ("Tool.use", 7, 7),
        ("Alias", 11, 11),
        ("Color", 12, 12),
        ("Shape", 14, 23),
        ("Shape.constructor", 18, 18),
        ("Shape.area", 19, 19),
        ("Shape.use", 20, 20),
        ("Shape.handler", 21, 21),
        ("Shape.make", 22, 22),
        ("Inner.deep", 31, 31),
        ("ambient", 32, 32),
        ("typed", 33, 33),
        ("default", 34, 34),
    ]
    overloads = [item for item in SHAPES.parsed.entities if item.qualname == "load"]
    assert [(item.start_line, item.end_line) for item in overloads] == [(25, 25), (26, 30)]
    classes = {item.qualname for item in SHAPES.parsed.entities if item.kind is EntityKind.CLASS}
    assert classes == {"Tool", "Alias", "Color", "Shape"}
    assert SHAPES["Tool"].docstring == "A tool."
    assert not SHAPES.parsed.has_errors


def test_imports() -> None:
    assert SHAPES.imports == [
        ("./pen", "Pen", "Pen"),
        ("./fs-like", "default", "fs"),
        ("./fs-like", "", "fs"),
        ("./maker", "Maker", "Builder"),
    ]


def test_bases_in_the_order_of_the_source() -> None:
    bases = [one.chain for one in SHAPES.parsed.references if SHAPES.bases("Shape") >= {one.chain}]
    assert bases == ["Figure", "Tool", "ns.Drawn"]
    assert SHAPES.bases("Tool") == {"Base", "ns.Other"}
    assert SHAPES.decorators("Shape") == {"Component"}


def test_returned_types() -> None:
    found = {name: SHAPES[name].returns for name in SHAPES.names}
    assert {name: kind for name, kind in found.items() if kind} == {
        "Tool.use": "Result",
        "Shape.use": "Result",
        "Shape.make": "Shape",
        "load": "Pen",
        "typed": "Pen",
    }


def test_types_of_variables_and_attributes() -> None:
    assert SHAPES.hints("Tool") == {"pen": "Pen"}
    assert SHAPES.hints("Shape") == {"cache": "Cache", "store": "Map()"}
    assert SHAPES.hints("Shape.constructor") == {"pen": "Pen", "this.pen": "Pen"}
    assert SHAPES.hints("typed") == {"a": "Tool"}
    body = {
        hint.name: hint.type for hint in SHAPES.parsed.hints if hint.owner == SHAPES.names.index("load") + 2
    }
    assert body == {"tool": "Tool", "one": "Pen"}


def test_calls() -> None:
    assert SHAPES.calls("Shape.use") == {"this.pen.draw"}
    assert SHAPES.calls("Shape.make") == {"Circle"}
    assert SHAPES.calls("Inner.deep") == {"load"}
    assert SHAPES.calls("typed") == {"a.use"}


def test_components() -> None:
    view = Reading(
        "a.tsx",
        """
        export const View = ({ a }: Props) => {
          const [s] = useState<Pen>();
          return <ns.Widget onClick={() => go()}><Inner/>{render(a)}</ns.Widget>;
        };
        """,
    )
    assert view.names == ["View"]
    assert view.calls("View") == {"useState", "ns.Widget", "Inner", "go", "render"}


def test_broken_source_keeps_what_parses() -> None:
    reading = Reading(
        "a.ts",
        """
        function good(a: Pen): Pen { return one(); }

        const x: = {;

        export class Fine { m(): void { three(); } }
        """,
    )
    assert reading.parsed.has_errors
    assert {"good", "Fine", "Fine.m"} <= set(reading.names)
    assert reading.calls("good") == {"one"} and reading["good"].returns == "Pen"
