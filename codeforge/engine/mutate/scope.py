"""Names of one function: where they are bound and read, and what kind of value they seem to hold."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Kinds = frozenset[
    str
]  # of "int", "float", "str", "bool", "list", "dict", "set", "object", "function"; empty: unknown

NUMBERS = frozenset({"int", "float", "bool"})
CONTAINERS = frozenset({"list", "dict", "set", "str"})
UNKNOWN: Kinds = frozenset()
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_BY_KIND = {
    "int": ("len", "int", "ord", "hash", "round", "id"),
    "float": ("float",),
    "str": ("str", "repr", "chr"),
    "bool": ("bool", "isinstance", "any", "all"),
    "list": ("list", "sorted", "deque", "tuple"),
    "set": ("set", "frozenset"),
    "dict": ("dict", "defaultdict", "Counter", "OrderedDict"),
}
_CALL_KINDS = {function: kind for kind, functions in _BY_KIND.items() for function in functions}
_METHODS_OF = {
    "list": "append extend insert popleft appendleft",
    "set": "add discard issubset issuperset",
    "dict": "items keys values setdefault get",
    "str": "split strip startswith endswith find rfind lower upper join format",
}
_METHOD_KINDS = {method: kind for kind, names in _METHODS_OF.items() for method in names.split()}
_METHODS_GIVING = {
    "list": "split keys values items",
    "str": "strip lower upper join",
    "int": "find rfind index count",
}
_RESULT_KINDS = {method: kind for kind, names in _METHODS_GIVING.items() for method in names.split()}
GROWING = frozenset(
    [
        "append",
        "appendleft",
        "add",
        "insert",
        "extend",
        "extendleft",
        "update",
        "setdefault",
        "heappush",
        "push",
        "put",
        "insort",
    ]
)


class Scope:
    """One function (or the module).

    Attributes:
        node: the function.
        parent: the scope of the function around it.
        params: its parameters, in order.
        stores: the lines at which each local name is bound, in order (parameters: the function's line).
        loads, load_nodes: the lines and places at which each name is read, nested functions included.
        kinds: what a name seems to hold; absent when nothing is known.
    """

    def __init__(
        self, node: ast.AST, parent: "Scope | None", observed: Mapping[str, frozenset[str]] | None = None
    ) -> None:
        self.node = node
        self.parent = parent
        self.params = _parameters(node)
        self.stores: dict[str, list[int]] = defaultdict(list)
        self.loads: dict[str, list[int]] = defaultdict(list)
        self.load_nodes: dict[str, list[ast.Name]] = defaultdict(list)
        for param in self.params:
            self.stores[param].append(getattr(node, "lineno", 1))
        for inner in own_nodes(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                self.stores[inner.id].append(inner.lineno)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
                self.loads[inner.id].append(inner.lineno)
                self.load_nodes[inner.id].append(inner)
        self._grown: dict[str, bool] = {}
        known = {name: kinds_of_types(types) for name, types in (observed or {}).items()}
        self._observed = {name: kinds for name, kinds in known.items() if kinds}
        self.kinds: dict[str, Kinds] = dict(self._observed)
        for _ in range(2):  # the second pass sees what the first one learned
            self._learn()

    def visible(self, line: int, loop: ast.For | ast.While | None) -> list[str]:
        """Local names bound before a line, or anywhere in the loop around it, the latest first; then
        those of the functions around."""
        first = loop.lineno if loop is not None else line
        last = loop.end_lineno or line if loop is not None else line
        own = [
            name
            for name, lines in self.stores.items()
            if lines[0] < line or any(first <= stored <= last for stored in lines) or name in self.params
        ]
        names = own[::-1]
        if self.parent is not None and not isinstance(self.parent.node, ast.Module):
            names += self.parent.visible(10**9, None)
        return list(dict.fromkeys(names))

    def kinds_of_name(self, name: str) -> Kinds:
        """What a name seems to hold, here or in the functions around."""
        if name in self.kinds:
            return self.kinds[name]
        return self.parent.kinds_of_name(name) if self.parent is not None else UNKNOWN

    def never_read(self, name: str) -> bool:
        """Bound here and read nowhere."""
        return name in self.stores and not self.loads.get(name)

    def never_grown(self, name: str) -> bool:
        """A container made here, to which no code of this scope adds anything."""
        if name not in self.stores or not (self.kinds_of_name(name) & {"list", "set", "dict"}):
            return False
        if name not in self._grown:
            self._grown[name] = any(_grows(node, name) for node in ast.walk(self.node))
        return not self._grown[name]

    def infer(self, node: ast.AST | None) -> Kinds:
        """What an expression seems to hold."""
        if isinstance(node, ast.Name):
            return self.kinds_of_name(node.id)
        if isinstance(node, ast.BinOp):
            return self._infer_binary(node)
        if isinstance(node, ast.Call):
            return _infer_call(node, [self.infer(argument) for argument in node.args])
        if isinstance(node, ast.Subscript):
            sliced = isinstance(node.slice, ast.Slice)
            return self.infer(node.value) if sliced else UNKNOWN
        if isinstance(node, ast.IfExp):
            return self.infer(node.body) | self.infer(node.orelse)
        return _infer_simple(node)

    def _infer_binary(self, node: ast.BinOp) -> Kinds:
        left, right = self.infer(node.left), self.infer(node.right)
        if isinstance(node.op, ast.Div):
            return frozenset({"float"})
        if isinstance(node.op, ast.Mult) and (left | right) & {"list", "str"}:
            return (left | right) & {"list", "str"}
        if isinstance(node.op, ast.Mod) and "str" in left:
            return frozenset({"str"})
        both = left | right
        if not both and isinstance(node.op, ast.Sub | ast.FloorDiv | ast.Mod | ast.Pow | ast.Mult):
            return frozenset({"int"})
        return both

    def _learn(self) -> None:
        for node in ast.walk(self.node):
            for name, kinds in self._evidence(node):
                if kinds and name not in self._observed:
                    self.kinds[name] = self.kinds.get(name, UNKNOWN) | kinds

    def _evidence(self, node: ast.AST) -> Iterator[tuple[str, Kinds]]:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from self._assigned(target, node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, self.infer(node.value)
        elif isinstance(node, ast.For | ast.comprehension):
            yield from self._iterated(node.target, node.iter)
        elif isinstance(node, ast.Call):
            yield from _called(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.BinOp):
            yield from _named(node.slice.left, "int")
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            for bound in (node.slice.lower, node.slice.upper, node.slice.step):
                yield from _named(bound, "int")
        elif isinstance(node, ast.Compare):
            yield from self._compared(node)
        elif isinstance(node, ast.BinOp):
            yield from self._calculated(node)
        elif isinstance(node, ast.FunctionDef) and node is not self.node:
            yield node.name, frozenset({"function"})

    def _assigned(self, target: ast.expr, value: ast.expr) -> Iterator[tuple[str, Kinds]]:
        if isinstance(target, ast.Name):
            yield target.id, self.infer(value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, other in zip(target.elts, value.elts, strict=False):
                yield from self._assigned(one, other)
        elif isinstance(target, ast.Tuple | ast.List):
            for one in target.elts:
                if isinstance(one, ast.Starred):
                    yield from _named(one.value, "list")
            yield from _named(value, "list")

    def _iterated(self, target: ast.expr, source: ast.expr) -> Iterator[tuple[str, Kinds]]:
        called = source.func.id if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) else ""
        if called == "range":
            yield from _named(target, "int")
        elif called == "enumerate" and isinstance(target, ast.Tuple):
            yield from _named(target.elts[0], "int")
        elif isinstance(source, ast.Name) and not self.kinds_of_name(source.id):
            yield source.id, frozenset({"list"})
        elif "str" in self.infer(source):
            yield from _named(target, "str")

    def _compared(self, node: ast.Compare) -> Iterator[tuple[str, Kinds]]:
        sides = [node.left, *node.comparators]
        if len(sides) != 2 or isinstance(node.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot):
            return
        for one, other in (sides, sides[::-1]):
            if isinstance(one, ast.Name):
                yield one.id, self.infer(other) & (NUMBERS | {"str"})

    def _calculated(self, node: ast.BinOp) -> Iterator[tuple[str, Kinds]]:
        arithmetic = isinstance(node.op, ast.Sub | ast.FloorDiv | ast.Div | ast.Mod | ast.Pow)
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, ast.Name):
                known = self.infer(other) & NUMBERS
                yield one.id, known or (frozenset({"int"}) if arithmetic and not self.infer(one) else UNKNOWN)


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of nested functions, classes, lambdas and comprehensions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        yield child
        if not isinstance(child, _COMPREHENSIONS):
            yield from own_nodes(child)


_TYPES_OF = {
    "int": "int",
    "float": "float Decimal Fraction",
    "bool": "bool",
    "str": "str bytes",
    "list": "list tuple deque",
    "dict": "dict defaultdict OrderedDict Counter",
    "set": "set frozenset",
    "function": "function method type builtin_function_or_method",
}
_KIND_OF_TYPE = {name: kind for kind, names in _TYPES_OF.items() for name in names.split()}


def kinds_of_types(types: frozenset[str]) -> Kinds:
    """Kinds of observed type names; `None` says nothing."""
    return frozenset(_KIND_OF_TYPE.get(name, f"object:{name}") for name in types if name != "NoneType")


def is_object(kinds: Kinds) -> bool:
    """Known to be an object of some class, nothing that adds up or can be sliced."""
    return bool(kinds) and all(kind.startswith("object:") or kind == "function" for kind in kinds)


def compatible(one: Kinds, other: Kinds) -> bool:
    """Whether a value of one kind could stand where the other stands."""
    if not one or not other:
        return True
    if one & other or (one & NUMBERS and other & NUMBERS):
        return True
    return bool(one & {"list", "set", "dict"} and other & {"list", "set", "dict"})


def _parameters(node: ast.AST) -> tuple[str, ...]:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return ()
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    return tuple(argument.arg for argument in every if argument.arg not in ("self", "cls"))


def _grows(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GROWING:
        return isinstance(node.func.value, ast.Name) and node.func.value.id == name
    if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in GROWING:
        return any(isinstance(argument, ast.Name) and argument.id == name for argument in node.args)
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return isinstance(node.value, ast.Name) and node.value.id == name
    return isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name


def _infer_call(node: ast.Call, arguments: list[Kinds]) -> Kinds:
    if isinstance(node.func, ast.Attribute):
        kind = _RESULT_KINDS.get(node.func.attr)
    else:
        name = getattr(node.func, "id", "")
        if name in ("abs", "sum", "pow", "min", "max"):
            return frozenset().union(*arguments) & NUMBERS or frozenset({"int"})
        kind = _CALL_KINDS.get(name)
    return frozenset({kind}) if kind else UNKNOWN


def _infer_simple(node: ast.AST | None) -> Kinds:
    if isinstance(node, ast.Constant):
        name = type(node.value).__name__
        return frozenset({name}) if name in ("int", "float", "str", "bool") else UNKNOWN
    if isinstance(node, ast.List | ast.ListComp | ast.Tuple):
        return frozenset({"list"})
    if isinstance(node, ast.Dict | ast.DictComp):
        return frozenset({"dict"})
    if isinstance(node, ast.Set | ast.SetComp):
        return frozenset({"set"})
    if isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return frozenset({"bool"})
    return frozenset({"str"}) if isinstance(node, ast.JoinedStr) else UNKNOWN


def _called(node: ast.Call) -> Iterator[tuple[str, Kinds]]:
    if isinstance(node.func, ast.Attribute):
        kind = _METHOD_KINDS.get(node.func.attr)
        if kind is not None:
            yield from _named(node.func.value, kind)
    else:
        yield from _named(node.func, "function")
        if getattr(node.func, "id", "") == "range":
            for argument in node.args:
                yield from _named(argument, "int")


def _named(node: ast.AST | None, kind: str) -> Iterator[tuple[str, Kinds]]:
    if isinstance(node, ast.Name):
        yield node.id, frozenset({kind})
