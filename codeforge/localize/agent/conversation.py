"""A conversation in which a model calls tools, whatever way its backend has of saying so."""

from dataclasses import dataclass

from codeforge.models.protocol import Role, Usage


@dataclass(frozen=True, slots=True)
class Said:
    """Plain words: the opening, or a correction of ours."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it; `arguments` is JSON, or what it took for it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Turn:
    """An answer of the model.

    Attributes:
        text: what it says besides its calls; for models that call in JSON, the whole answer.
        calls: what it calls.
        written: all of the answer as one text, for the record.
        problem: what is wrong with an answer without a call, and how it should be; else "".
        usage: what it cost.
        elapsed_s: seconds it took.
    """

    text: str
    calls: tuple[ToolCall, ...]
    written: str
    problem: str
    usage: Usage
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Observed:
    """What a call was answered."""

    call: ToolCall
    text: str


Entry = Said | Turn | Observed
