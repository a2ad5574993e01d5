"""The source text of one file, by byte offsets."""


class Source:
    """UTF-8 source.

    Args:
        data: its bytes.

    Attributes:
        data: the bytes.
        text: the same as text where bytes and characters have the same offsets (pure ASCII), else `None`.
    """

    __slots__ = ("data", "text")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.text = data.decode("ascii") if data.isascii() else None

    def between(self, start: int, end: int) -> str:
        """The text of some bytes; what is no UTF-8 is replaced."""
        if self.text is not None:
            return self.text[start:end]
        return self.data[start:end].decode("utf-8", "replace")

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.data.count(b"\n") + (bool(self.data) and not self.data.endswith(b"\n"))
