"""What an encoder or a reranker reads of an entity: a key and a text."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

BODY_LINES = 24
MOST_CHARS = 2_000
"""Most encoders stop reading at 256 or 512 tokens: what lies beyond this, none of them sees."""
_MARKS = " \t\"'`#/*-,:;(){}"


class Passage(NamedTuple):
    """A text that can be found.

    Attributes:
        key: names it in every ranking; of passages with equal keys the first counts.
        text: what is encoded, and what a reranker is shown.
    """

    key: str
    text: str


def passage_text(name: str, signature: str, lines: Sequence[str]) -> str:
    """The text of an entity: its name, its signature and the first lines of its source.

    Args:
        name: says what and where it is.
        signature: its header, one line of text; may be empty.
        lines: its source, with what documents it; blank lines, and those at its head that the signature has
        said
            already, are left out, so that they don't use up what the encoder reads.
    """
    body = islice(_unsaid(lines, signature), BODY_LINES)
    return "\n".join(part for part in (name, signature, *body) if part)[:MOST_CHARS]


def text_digest(version: str, text: str) -> bytes:
    """16 bytes that name the vector of `text` by the encoder of this version."""
    digest = blake2b(version.encode("utf-8", "surrogatepass"), digest_size=16)
    digest.update(b"\0" + text.encode("utf-8", "surrogatepass"))
    return digest.digest()


def _unsaid(lines: Iterable[str], said: str) -> Iterator[str]:
    known = "".join(said.split())
    at_head = True
    for line in lines:
        bare = "".join(line.split())
        if not bare:
            continue
        # Decorators stand before the signature and are no part of it.
        if at_head and not bare.startswith("@"):
            if bare.strip(_MARKS) in known:
                continue
            at_head = False
        yield line.rstrip()
