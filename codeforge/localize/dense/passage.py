"""What an encoder or a reranker reads of an entity: a key and a text."""

from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

BODY_LINES = 20
MOST_CHARS = 2_000
"""Most encoders stop reading at 256 or 512 tokens; what lies beyond this many characters none of them sees."""
_MARKS = " \t\"'`#/*-,:;(){}"


class Passage(NamedTuple):
    """A text that can be found.

    Attributes:
        key: names it in every ranking; of passages with equal keys the first counts.
        text: what is encoded, and what a reranker is shown.
    """

    key: str
    text: str


def passage_text(qualname: str, signature: str, docstring: str, code: str) -> str:
    """The text of an entity: its qualified name, signature, docstring and the first lines of its body.

    Args:
        qualname: the name (of a file, its path).
        signature: its header, one line of text; may be empty.
        docstring: its documentation; may be empty.
        code: its source; lines at its head that the signature or the docstring have said already are left
            out, so that they don't use up what the encoder reads.
    """
    body = [line for line, _ in zip(_unsaid(code, f"{signature}\n{docstring}"), range(BODY_LINES), strict=False)]
    parts = (qualname, signature, docstring.strip(), "\n".join(body))
    return "\n".join(part for part in parts if part)[:MOST_CHARS]


def text_digest(version: str, text: str) -> bytes:
    """16 bytes that name the vector of `text` by the encoder of this version."""
    digest = blake2b(version.encode("utf-8", "surrogatepass"), digest_size=16)
    digest.update(b"\0" + text.encode("utf-8", "surrogatepass"))
    return digest.digest()


def _unsaid(code: str, said: str) -> Iterator[str]:
    """The lines of `code` that aren't blank, without those at its head that `said` holds."""
    known = "".join(said.split())
    at_head = True
    for line in code.splitlines():
        bare = "".join(line.split())
        if not bare:
            continue
        # Decorators stand before the signature and are no part of it.
        if at_head and not bare.startswith("@"):
            if bare.strip(_MARKS) in known:
                continue
            at_head = False
        yield line
