"""From expressions and types as they are written to chains of names, the same way for every language."""

import re
from collections.abc import Iterator

LONGEST_CHAIN = 120
"""A longer chain is data, not a use of a name."""
_LONGEST_TEXT = 4000
_NAME = r"(?:[^\W\d]|\$)[\w$]*"
_PLAIN = re.compile(rf"{_NAME}(?:\.{_NAME})*")
_MADE = re.compile(rf"({_NAME}(?:\.{_NAME})*)\(")
_ATTRIBUTES = re.compile(rf"(?:\.{_NAME})+")
_LAST = re.compile(rf"\.({_NAME})$")
_KEYWORDS = re.compile(r"^\s*(?:new|await|co_await)\s+")
_BLANKS = re.compile(r"\s+")
_SEPARATORS = re.compile(r"::|->|\?\.|!\.|\.#")
_GENERICS = re.compile(r"\.?<[\w\s,.:&*'\[\]?|]*>")
_MODIFIERS = re.compile(
    r"^(?:(?:const|mut|dyn|impl|final|readonly|volatile|static|struct|class|enum|union|typename|unique|asserts"
    r"|keyof|'\w+)\s+|[&*:\s]|->|\.\.\.)+"
)
_MAKERS = re.compile(r"\bmake_(?:unique|shared)\s*<(.*)>$", re.DOTALL)
_TAIL = re.compile(r"(?:[*&?!\s]|\bconst\b|\.\.\.)+$")
_WRAPPER_NAMES = """
Optional Union Annotated ClassVar Final Type type Awaitable InitVar Required NotRequired ReadOnly Mapped
Promise Readonly Partial NonNullable
Option Result Box Rc Arc RefCell Cell Ref RefMut Cow Pin Mutex RwLock
unique_ptr shared_ptr weak_ptr optional reference_wrapper atomic
"""
_WRAPPERS = frozenset(_WRAPPER_NAMES.split())
_PLAIN_TYPES = """
None null undefined any Any unknown void never object auto var let Literal error
str string String bytes int float bool boolean number char double long short byte unsigned signed
usize u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 size_t uint uint8 uint32 uint64 int32 int64 float64
"""
_NO_CLASS = frozenset(_PLAIN_TYPES.split())


def chain_of(expression: str) -> str:
    """A called or named expression as a chain: `a.b`, `Class().b`, `?.b`; "" when it ends in no name."""
    if _PLAIN.fullmatch(expression):
        return _plain(expression)
    if len(expression) > _LONGEST_TEXT:  # only how it ends can be told at a fair price
        expression = "?" + expression[-LONGEST_CHAIN:]
    text = _SEPARATORS.sub(".", _BLANKS.sub("", _KEYWORDS.sub("", expression)))
    if "<" in text:
        text = _without_generics(text)
    text = text.lstrip(".#")
    if _PLAIN.fullmatch(text):
        return _plain(text)
    return _called(text) or _ending(text)


def _plain(chain: str) -> str:
    if len(chain) > LONGEST_CHAIN:
        return _ending(chain)
    if chain.startswith("super"):
        # Calling `super` itself uses no name; its attributes are those of the object in its base class.
        return "" if chain == "super" else f"super(){chain[5:]}" if chain[5] == "." else chain
    return chain


def _without_generics(text: str) -> str:
    """`f::<A<B>>` and `Box<T>.run` without what stands in the brackets."""
    for _ in range(8):
        shorter = _GENERICS.sub("", text)
        if shorter == text:
            break
        text = shorter
    return text


def _called(text: str) -> str:
    """`Class(x, y).run` → `Class().run`; "" when it is anything else."""
    made = _MADE.match(text)
    if made is None:
        return ""
    end = _closing(text, made.end() - 1)
    if end < 0 or not _ATTRIBUTES.fullmatch(text, end + 1):
        return ""
    chain = f"{made[1]}(){text[end + 1 :]}"
    return chain if len(chain) <= LONGEST_CHAIN else ""


def _closing(text: str, opening: int) -> int:
    """Where the bracket that opens at `opening` closes; -1 when nowhere. Brackets in strings count too: what
    comes out then is no chain, and nothing wrong is said."""
    depth = 0
    for place in range(opening, len(text)):
        char = text[place]
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return place
    return -1


def _ending(text: str) -> str:
    last = _LAST.search(text)
    return f"?.{last[1]}" if last and len(last[1]) <= LONGEST_CHAIN else ""


def type_of(written: str) -> str:
    """The class that a type names, "" when it names none of interest.

    `Optional[a.B]`, `B | None`, `"B"`, `*B`, `const B&`, `Box<dyn B>` and `Promise<B>` are all `B` (or
    `a.B`); the generic class `B<T>` is `B`; arrays, tuples and functions are nothing.
    """
    if len(written) > 400:
        return ""
    for part in _split(written.strip().strip("\"'"), "|"):
        found = _single(part)
        if found:
            return found
    return ""


def made_type(expression: str) -> str:
    """The class in `std::make_unique<Class>` and its like, "" when it is anything else."""
    made = _MAKERS.search(expression)
    return type_of(made[1]) if made else ""


def _single(written: str) -> str:
    text = _MODIFIERS.sub("", written.strip()).replace("::", ".").strip().strip("\"'")
    if "=>" in text:
        return ""
    text = _TAIL.sub("", text)
    head = _PLAIN.match(text)
    if head is None:
        return ""
    name, rest = head[0], text[head.end() :].strip()
    last = name.rpartition(".")[2]
    if not rest:
        return "" if last in _NO_CLASS else "Self" if name == "this" else name
    rest = rest.removeprefix(".")
    if rest[0] not in "[<" or rest[-1] not in "]>" or rest.startswith("[]"):
        return ""
    if last not in _WRAPPERS:
        return "" if rest.endswith("[]") or last in _NO_CLASS else name
    for part in _split(rest[1:-1], ","):
        found = type_of(part)
        if found:
            return found
    return ""


def _split(text: str, separator: str) -> Iterator[str]:
    """The parts of a text between separators that stand in no brackets."""
    if separator not in text:
        yield text
        return
    depth = last = 0
    for place, char in enumerate(text):
        if char in "([{<":
            depth += 1
        elif char in ")]}>":
            depth -= 1
        elif char == separator and depth <= 0:
            yield text[last:place]
            last = place + 1
    yield text[last:]
