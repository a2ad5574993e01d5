"""What Python code means by its names, in real small repositories."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.localize.conftest import MakeRepo
from tests.localize.graph.conftest import Link

PACKAGE = {
    "app/__init__.py": "from .core import Engine as Motor\nfrom app.tools import *\n",
    "app/core.py": """
        class Engine:
            def __init__(self, size):
                self.size = size

            def start(self):
                return self.spin()

            def spin(self):
                return 1


        def build():
            return Engine(1)
        """,
    "app/tools/__init__.py": "from .deep import polish\n",
    "app/tools/deep.py": "def polish(): pass\n\n\ndef _secret(): pass\n",
}


@pytest.mark.parametrize(
    ("statement", "call", "target"),
    [
        ("import app.core", "app.core.build()", "app/core.py:build"),
        ("import app.core as kernel", "kernel.build()", "app/core.py:build"),
        ("import app", "app.core.build()", "app/core.py:build"),
        ("from app import core", "core.build()", "app/core.py:build"),
        ("from app.core import build", "build()", "app/core.py:build"),
        ("from app.core import build as make", "make()", "app/core.py:build"),
        ("from app import Motor", "Motor(1)", "app/core.py:Engine"),
        ("import app", "app.Motor(1)", "app/core.py:Engine"),
        ("from app.core import *", "build()", "app/core.py:build"),
        ("from app import *", "polish()", "app/tools/deep.py:polish"),
        ("from app import polish", "polish()", "app/tools/deep.py:polish"),
        ("from app.tools import polish", "polish()", "app/tools/deep.py:polish"),
        ("from app.tools import deep", "deep.polish()", "app/tools/deep.py:polish"),
        (
            "try:\n    from app.core import build\nexcept ImportError:\n    build = None",
            "build()",
            "app/core.py:build",
        ),
    ],
)
def test_absolute_imports(link: Link, statement: str, call: str, target: str) -> None:
    edges = link({**PACKAGE, "main.py": f"{statement}\n\n\ndef run():\n    {call}\n"})
    assert target in edges.invokes("main.py:run")
    assert edges.imports("main.py") & {"app/__init__.py", "app/core.py", "app/tools/__init__.py", target}


@pytest.mark.parametrize(
    ("statement", "call", "target"),
    [
        ("from .core import build", "build()", "app/core.py:build"),
        ("from . import core", "core.build()", "app/core.py:build"),
        ("from . import core as c", "c.build()", "app/core.py:build"),
        ("from .tools.deep import polish", "polish()", "app/tools/deep.py:polish"),
        ("from . import Motor", "Motor(1)", "app/core.py:Engine"),
        ("from .core import *", "build()", "app/core.py:build"),
    ],
)
def test_relative_imports(link: Link, statement: str, call: str, target: str) -> None:
    edges = link({**PACKAGE, "app/side.py": f"{statement}\n\n\ndef run():\n    {call}\n"})
    assert target in edges.invokes("app/side.py:run")


def test_relative_imports_from_above(link: Link) -> None:
    edges = link({**PACKAGE, "app/tools/up.py": "def run():\n    from ..core import build\n    build()\n"})
    assert edges.invokes("app/tools/up.py:run") == {"app/core.py:build"}
    assert {"app/core.py", "app/core.py:build"} <= edges.imports("app/tools/up.py")


def test_re_exports_reach_the_definition(link: Link) -> None:
    edges = link({**PACKAGE, "main.py": "from app import Motor, polish\n"})
    assert edges.imports("main.py") == {
        "app/__init__.py",
        "app/core.py",
        "app/core.py:Engine",
        "app/tools/deep.py",
        "app/tools/deep.py:polish",
    }


@pytest.mark.parametrize("source", ["src", "lib/python", "packages/one/src"])
def test_source_layouts(link: Link, source: str) -> None:
    files = {f"{source}/{name}": text for name, text in PACKAGE.items()}
    edges = link(
        {**files, "tests/test_core.py": "from app.core import build\n\n\ndef test_it():\n    build()\n"}
    )
    assert edges.invokes("tests/test_core.py:test_it") == {f"{source}/app/core.py:build"}
    assert edges.invokes(f"{source}/app/core.py:build") == {
        f"{source}/app/core.py:Engine",
        f"{source}/app/core.py:Engine.__init__",
    }


def test_foreign_modules_are_not_taken_for_files_of_the_same_name(link: Link) -> None:
    edges = link(
        {
            "app/__init__.py": "",
            "app/json.py": "def loads(): pass\n",
            "app/main.py": """
                import json
                import requests


                def run():
                    json.loads('')
                    requests.loads()
                """,
        }
    )
    assert edges.invokes("app/main.py:run") == set()
    assert edges.guesses("app/main.py:run") == set()
    assert edges.imports("app/main.py") == set()


@pytest.mark.parametrize("folder", ["pk", "utils/deep", "src"])
@pytest.mark.parametrize("importer", ["main.py", "other/main.py", "tests/unit/main.py"])
def test_the_standard_library_is_not_looked_for_anywhere(link: Link, folder: str, importer: str) -> None:
    edges = link(
        {
            f"{folder}/random.py": "def choice(): pass\n",
            f"{folder}/json/__init__.py": "def loads(): pass\n",
            importer: """
                import json
                from random import choice


                def run():
                    choice()
                    json.loads()
                """,
        }
    )
    assert edges.invokes(f"{importer}:run") == edges.guesses(f"{importer}:run") == set()
    assert edges.imports(importer) == set()


def test_a_script_imports_the_file_beside_it_even_with_a_name_of_the_standard_library(link: Link) -> None:
    edges = link(
        {
            "pk/random.py": "def choice(): pass\n",
            "pk/main.py": "import random\n\n\ndef run():\n    random.choice()\n",
        }
    )
    assert edges.invokes("pk/main.py:run") == {"pk/random.py:choice"}
    assert edges.imports("pk/main.py") == {"pk/random.py"}


def test_imports_inside_a_function_bind_only_there(link: Link) -> None:
    edges = link(
        {
            "a/__init__.py": "",
            "a/mod.py": "def same(): pass\n\n\nclass Wheel:\n    def turn(self): pass\n",
            "b.py": "def same(): pass\n",
            "space/deep/far.py": "def reach(): pass\n",
            "main.py": """
                from b import same


                def one():
                    from a.mod import same
                    import space.deep.far
                    same()
                    space.deep.far.reach()

                    def nested():
                        same()

                    class Local:
                        def method(self):
                            same()


                def two():
                    same()
                    Wheel()
                    space.deep.far.reach()


                class Car:
                    from a.mod import Wheel as wheel_type

                    spare = wheel_type()

                    def __init__(self):
                        from a.mod import Wheel

                        self.wheel = Wheel()

                    def drive(self):
                        self.wheel.turn()

                    def other(self):
                        wheel_type()
                """,
        }
    )
    inner = {"main.py:one.nested", "main.py:one.Local.method"}
    for function in inner:
        assert edges.invokes(function) == {"a/mod.py:same"}
    assert edges.invokes("main.py:one") == {"a/mod.py:same", "space/deep/far.py:reach"}
    assert edges.invokes("main.py:two") == {"b.py:same"}
    assert edges.guesses("main.py:two") == {"a/mod.py:Wheel", "space/deep/far.py:reach"}
    assert edges.invokes("main.py:Car") == edges.invokes("main.py:Car.__init__") == {"a/mod.py:Wheel"}
    assert edges.invokes("main.py:Car.drive") == {"a/mod.py:Wheel.turn"}
    assert edges.invokes("main.py:Car.other") == set()
    # All of them are imports of the file.
    assert {"a/mod.py:same", "a/mod.py:Wheel", "b.py:same", "space/deep/far.py"} <= edges.imports("main.py")


def test_what_a_function_imports_is_not_the_modules(link: Link) -> None:
    edges = link(
        {
            "a.py": "def same(): pass\n",
            "b.py": "def get():\n    from a import same\n    return same()\n",
            "main.py": "from b import same\n\n\ndef run():\n    same()\n",
        }
    )
    assert edges.invokes("b.py:get") == {"a.py:same"}
    assert edges.invokes("main.py:run") == set()


STARRED = """
    from star.inner import *


    def listed(): pass


    def unlisted(): pass


"""


@pytest.mark.parametrize(
    ("names", "strong"),
    [
        ("__all__ = ['listed', 'deep']", "listed deep"),
        ("__all__ = (\n    'listed',  # one\n)", "listed"),
        ("__all__: list[str] = ['deep']", "deep"),
        ("__all__ = []", ""),
        ("__all__ = ['listed']\n__all__ += other.__all__", "listed unlisted deep"),
        ("__all__ = ['listed']\n__all__.append('deep')", "listed unlisted deep"),
        ("__all__ = ['listed']\nif deep:\n    __all__ = ['deep'] + other", "listed unlisted deep"),
        ("__all__ = ['listed'] + other.__all__", "listed unlisted deep"),
        ("__all__ = [name for name in dir()]", "listed unlisted deep"),
        ("__all__ = ['listed', '\\ud800']", "listed unlisted deep"),
        ("'no __all__ at all'", "listed unlisted deep"),
    ],
)
def test_stars_give_what_is_listed(link: Link, names: str, strong: str) -> None:
    functions = ("listed", "unlisted", "deep")
    calls = "".join(f"    {name}()\n" for name in functions)
    edges = link(
        {
            "star/__init__.py": dedent(STARRED) + names + "\n",
            "star/inner.py": "def deep(): pass\n",
            "again.py": "from star import *\n",
            "main.py": f"from again import *\n\n\ndef run():\n{calls}",
            "named.py": f"from star import listed, unlisted, deep\n\n\ndef run():\n{calls}",
        }
    )
    places = {name: f"star/{'inner' if name == 'deep' else '__init__'}.py:{name}" for name in functions}
    assert edges.invokes("main.py:run") == {places[name] for name in strong.split()}
    assert edges.invokes("named.py:run") == set(places.values())
    assert edges.imports("star/__init__.py") == {"star/inner.py"}


def test_stars_on_two_ways_give_what_either_gives(link: Link) -> None:
    edges = link(
        {
            "base.py": "def one(): pass\n\n\ndef two(): pass\n\n\ndef three(): pass\n",
            "left.py": "from base import *\n__all__ = ['one']\n",
            "right.py": "from base import *\n__all__ = ['two']\n",
            "main.py": """
                from left import *
                from right import *


                def run():
                    one()
                    two()
                    three()
                """,
        }
    )
    assert edges.invokes("main.py:run") == {"base.py:one", "base.py:two"}
    assert edges.guesses("main.py:run") == {"base.py:three"}


SHADOWS = """
    import mod
    from mod import same, same as other, Wheel


    def shared(): pass


    def parameter(mod): mod.same()


    def default(first=(1, ")"), *, shared: "list[int]" = [2, 3]): shared()


    def gathered(*mod, **other):
        mod.same()
        other()


    def variable():
        same = lambda: 0
        same()


    def unpacked(pairs):
        same, (other, last) = pairs
        same()
        other()


    def loop(mods):
        for mod in mods:
            mod.same()


    def opened(path):
        with open(path) as mod:
            mod.same()


    def comprehension(mods): return [mod.same() for mod in mods]


    def walrus(make):
        if (same := make()):
            same()


    def anonymous(): return lambda same: same()


    def outer(same):
        def inner(): same()
        return inner
"""


def test_what_a_function_binds_hides_what_is_outside(link: Link) -> None:
    module = "def same(): pass\n\n\nclass Wheel:\n    def turn(self): pass\n"
    edges = link({"main.py": SHADOWS, "mod.py": module})
    functions = (
        "parameter default gathered variable unpacked loop opened comprehension walrus anonymous outer.inner"
    )
    for function in functions.split():
        assert edges.invokes(f"main.py:{function}") == set(), function
    assert edges.guesses("main.py:variable") == {"mod.py:same"}


def test_what_a_function_does_not_bind_is_not_hidden(link: Link) -> None:
    edges = link(
        {
            "mod.py": "def same(): pass\n\n\nclass Wheel:\n    def turn(self): pass\n",
            "main.py": """
                import mod
                from mod import same


                def typed(same: mod.Wheel): same.turn()


                def made():
                    same = mod.Wheel()
                    same.turn()


                def declared():
                    global same
                    same()
                    same = None


                def argument(call):
                    call(same=1, mod=same())


                def annotated(first: "mod" = mod.same): same()


                class Car:
                    def same(self, mod_=mod): mod.same()

                    same_ = same


                def fallback():
                    try:
                        from mod import same
                    except ImportError:
                        same = None
                    same()
                """,
        }
    )
    assert edges.invokes("main.py:typed") == {"mod.py:Wheel.turn"}
    assert edges.invokes("main.py:made") == {"mod.py:Wheel", "mod.py:Wheel.turn"}
    for function in ("declared", "argument", "annotated", "Car.same", "fallback"):
        assert edges.invokes(f"main.py:{function}") == {"mod.py:same"}, function


METHODS = """
    from .parts import Wheel, make_wheel


    class Base:
        def shared(self): pass

        def hook(self): pass


    class Car(Base):
        count = make_wheel()
        spare = Wheel()

        def __init__(self, wheel: Wheel, other=None):
            self.wheel = wheel
            self.made = make_wheel()
            self.own = Wheel()

        def hook(self):
            super().hook()

        def drive(self):
            self.shared()
            self.hook()
            self.wheel.turn()
            self.made.turn()

        def park(self):
            self.own.stop()
            self.spare.stop()

        @classmethod
        def make(cls):
            cls.shared(None)
            return cls(None)

        @staticmethod
        def loose(): pass


    def outside(car: Car, plain):
        car.drive()
        made = Car(None)
        made.park()
        Car.make().drive()
        Car.loose()
        plain.never_seen()


    def nested():
        def inner():
            return outside(1, 2)

        class Local:
            def go(self):
                return inner()

        return Local().go()
"""
PARTS = """
    class Wheel:
        def turn(self): pass

        def stop(self) -> "Wheel": pass


    def make_wheel() -> Wheel:
        return Wheel()
"""


def test_methods(link: Link) -> None:
    edges = link({"car/__init__.py": "", "car/main.py": METHODS, "car/parts.py": PARTS})
    main, parts = "car/main.py", "car/parts.py"
    assert edges.invokes(f"{main}:Car.drive") == {
        f"{main}:Base.shared",
        f"{main}:Car.hook",
        f"{parts}:Wheel.turn",
    }
    assert edges.invokes(f"{main}:Car.hook") == {f"{main}:Base.hook"}
    assert edges.invokes(f"{main}:Car.park") == {f"{parts}:Wheel.stop"}
    assert edges.invokes(f"{main}:Car.__init__") == {f"{parts}:make_wheel", f"{parts}:Wheel"}
    assert edges.invokes(f"{main}:Car.make") == {f"{main}:Base.shared", f"{main}:Car", f"{main}:Car.__init__"}


def test_variables_of_known_types(link: Link) -> None:
    edges = link({"car/__init__.py": "", "car/main.py": METHODS, "car/parts.py": PARTS})
    main = "car/main.py"
    assert edges.invokes(f"{main}:outside") == {
        f"{main}:Car.drive",
        f"{main}:Car",
        f"{main}:Car.__init__",
        f"{main}:Car.park",
        f"{main}:Car.make",
        f"{main}:Car.loose",
    }
    assert edges.guesses(f"{main}:outside") == set()


def test_nested_functions_and_classes(link: Link) -> None:
    edges = link({"car/__init__.py": "", "car/main.py": METHODS, "car/parts.py": PARTS})
    main = "car/main.py"
    assert edges.invokes(f"{main}:nested.inner") == {f"{main}:outside"}
    assert edges.invokes(f"{main}:nested.Local.go") == {f"{main}:nested.inner"}
    assert edges.invokes(f"{main}:nested") == {f"{main}:nested.Local", f"{main}:nested.Local.go"}


def test_class_bodies_module_level_and_decorators(link: Link) -> None:
    edges = link(
        {
            "marks.py": """
                class Registry:
                    def register(self, function): pass

                    def __call__(self, function): pass


                registry = Registry()


                def mark(kind): return kind


                def plain(function): return function
                """,
            "use.py": """
                import marks
                from marks import mark, plain, registry


                @mark(1)
                @plain
                def decorated(): pass


                @marks.plain
                class Decorated:
                    limit = marks.mark(2)

                    @registry.register
                    def method(self): pass

                    @registry
                    def called(self): pass


                decorated()
                if __name__ == "__main__":
                    marks.mark(decorated())
                """,
        }
    )
    assert edges.invokes("use.py:decorated") == {"marks.py:mark", "marks.py:plain"}
    assert edges.invokes("use.py:Decorated") == {"marks.py:mark", "marks.py:plain"}
    assert edges.invokes("use.py:Decorated.method") == {"marks.py:Registry.register"}
    assert edges.invokes("use.py:Decorated.called") == {"marks.py:Registry.__call__"}
    assert edges.invokes("use.py") == {"use.py:decorated", "marks.py:mark"}
    assert edges.invokes("marks.py") == {"marks.py:Registry"}
    # `registry` is an object: its class is not what is imported.
    assert edges.imports("use.py") == {"marks.py", "marks.py:mark", "marks.py:plain"}


def test_cls_is_a_class_only_as_a_parameter(link: Link) -> None:
    edges = link(
        {
            "a.py": """
                class A:
                    def go(self): pass

                    @classmethod
                    def make(cls):
                        def later():
                            return cls()
                        return later

                    def other(self, kinds):
                        for cls in kinds:
                            cls()


                def run(cls: A):
                    cls.go()
                    cls()
                """
        }
    )
    assert edges.invokes("a.py:A.make.later") == {"a.py:A"}
    assert edges.invokes("a.py:A.other") == edges.guesses("a.py:A.other") == set()
    assert edges.invokes("a.py:run") == {"a.py:A.go"}
    assert edges.guesses("a.py:run") == set()


def test_inheritance(link: Link) -> None:
    edges = link(
        {
            **PACKAGE,
            "main.py": """
                import app.core
                from app import Motor
                from typing import Generic


                class A(Motor): pass


                class B(app.core.Engine, A): pass


                class C(B, Generic[int], Exception):
                    class Meta(A.Missing): pass

                    def run(self):
                        self.start()
                """,
        }
    )
    assert edges.inherits("main.py:A") == {"app/core.py:Engine"}
    assert edges.inherits("main.py:B") == {"app/core.py:Engine", "main.py:A"}
    assert edges.inherits("main.py:C") == {"main.py:B"}
    assert edges.invokes("main.py:C.run") == {"app/core.py:Engine.start"}


def test_the_first_base_in_source_order_gives_the_member(link: Link) -> None:
    names = [f"Base{number}" for number in range(12)]
    bases = "".join(f"class {name}:\n    def go(self): pass\n\n\n" for name in names)
    uses = "".join(
        f"class Use{name}({', '.join([name, *names[::-1]])}):\n    def run(self):\n        self.go()\n\n\n"
        for name in names
    )
    edges = link({"main.py": bases + uses})
    for name in names:
        assert edges.invokes(f"main.py:Use{name}.run") == {f"main.py:{name}.go"}


def test_unknown_receivers_are_guessed_and_never_among_many(link: Link) -> None:
    many = {
        f"many{number}.py": f"class Many{number}:\n    def often_there(self): pass\n" for number in range(12)
    }
    edges = link(
        {
            **many,
            "rare.py": "class Rare:\n    def quite_rare(self): pass\n\n    def get(self): pass\n",
            "main.py": """
                def run(thing):
                    thing.quite_rare()
                    thing.often_there()
                    thing.get()
                    thing.nowhere()


                def plain():
                    quite_rare()
                """,
        }
    )
    assert edges.invokes("main.py:run") == set()
    assert edges.guesses("main.py:run") == {"rare.py:Rare.quite_rare"}
    # A plain name is no method of a class.
    assert edges.invokes("main.py:plain") == edges.guesses("main.py:plain") == set()


def test_tests_are_linked_to_what_they_exercise(link: Link) -> None:
    edges = link(
        {
            **PACKAGE,
            "tests/helpers.py": "def prepare(): pass\n",
            "tests/test_core.py": """
                from app.core import Engine, build
                from tests.helpers import prepare


                def test_build():
                    prepare()
                    assert build()


                class TestEngine:
                    def test_start(self):
                        assert Engine(1).start()
                """,
        }
    )
    assert edges.tests("tests/test_core.py:test_build") == {"app/core.py:build"}
    assert edges.tests("tests/test_core.py:TestEngine.test_start") == {
        "app/core.py:Engine",
        "app/core.py:Engine.__init__",
        "app/core.py:Engine.start",
    }
    assert "app/core.py" in edges.tests("tests/test_core.py")
    assert edges.invokes("tests/test_core.py:test_build") == {"app/core.py:build", "tests/helpers.py:prepare"}
    assert edges.tests("app/core.py:build") == set()


def test_product_code_in_a_folder_named_test_is_not_hidden(link: Link) -> None:
    edges = link(
        {
            "django/__init__.py": "",
            "django/test/__init__.py": "from django.test.client import Client\n",
            "django/test/client.py": "class Client:\n    def fetch(self): pass\n",
            "django/shell.py": """
                from django.test import Client


                def run():
                    Client().fetch()
                """,
            "tests/test_client.py": """
                from django.test import Client


                def test_fetch():
                    Client().fetch()
                """,
        }
    )
    client = {"django/test/client.py:Client", "django/test/client.py:Client.fetch"}
    assert edges.invokes("django/shell.py:run") == client
    assert {"django/test/__init__.py", "django/test/client.py:Client"} <= edges.imports("django/shell.py")
    assert edges.imports("django/test/__init__.py") >= {"django/test/client.py:Client"}
    assert edges.tests("tests/test_client.py:test_fetch") == client


def test_broken_files_still_have_edges(link: Link) -> None:
    edges = link(
        {
            **PACKAGE,
            "main.py": """
                from app.core import build


                def good():
                    build()


                def broken(:
                    x = = build()
                """,
        }
    )
    assert edges.invokes("main.py:good") == edges.invokes("main.py:broken") == {"app/core.py:build"}
    assert "app/core.py:build" in edges.imports("main.py")


def test_circles_end(link: Link) -> None:
    edges = link(
        {
            "a.py": """
                from b import *
                from b import ghost


                class A(ghost): pass


                def run():
                    ghost()
                    there()
                """,
            "b.py": "from a import *\nfrom a import ghost\n\n\ndef there(): pass\n",
            "c.py": "class X(Y):\n    def m(self):\n        self.n()\n\n\nclass Y(X): pass\n\n\nz = z()\n",
        }
    )
    assert edges.invokes("a.py:run") == {"b.py:there"}
    assert edges.inherits("a.py:A") == set()
    assert edges.inherits("c.py:X") == {"c.py:Y"}


DUMP = """
import sys
from pathlib import Path
from codeforge.localize.files import list_files
from codeforge.localize.graph.model import Direction
from codeforge.localize.index import CodeIndex

root = Path(sys.argv[1])
with CodeIndex.open(root, list_files(root)) as index:
    graph = index.graph
    for node in graph.nodes():
        for end in graph.neighbours(node, Direction.FORWARD, weak=True):
            print(graph.entity(node).id, end.relation, graph.entity(end.node).id, end.weak)
"""


def test_the_graph_is_the_same_under_every_hash_seed(make_repo: MakeRepo) -> None:
    root = make_repo({**PACKAGE, "car/__init__.py": "", "car/main.py": METHODS, "car/parts.py": PARTS})
    dumps = [_dump(root, seed) for seed in ("0", "1", "4242")]
    assert dumps[0].count("\n") > 50
    assert dumps[0] == dumps[1] == dumps[2]


def _dump(root: Path, seed: str) -> str:
    """All edges, from an index made anew by another process."""
    database = root / ".codeforge" / "index"
    for old in database.glob("*") if database.exists() else ():
        old.unlink()
    return subprocess.run(
        [sys.executable, "-c", DUMP, str(root)],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[3])},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
