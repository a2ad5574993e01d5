"""The user's source files: the only module that reads or writes them. Bytes are sacred.

A `TextFile` is a file taken apart into lines such that putting it together again gives the same bytes;
an edit replaces some of the lines and leaves the rest alone, whatever their endings and encoding.
"""

import codecs
import contextlib
import os
import re
import secrets
import stat
import string
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from codeforge.errors import CodeforgeError, EnvironmentUnavailableError, PatchRefusedError
from codeforge.patch.safepath import Target, resolve_target

MAX_BYTES = 4 * 1024 * 1024
"""Files larger than this are refused unless the caller says otherwise."""

_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)")
# Text codecs that rewrite plain ASCII; a cookie naming one is not believed.
_UNFIT = frozenset({"unicode_escape", "raw_unicode_escape", "idna", "punycode", "undefined", "utf-7"})
_UTF16_BOMS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_UTF32_BOMS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_STATELESS = frozenset({"utf-8", "latin-1", "utf-16-le", "utf-16-be"})
_SURROGATES = re.compile("[\udc80-\udcff]")


class Line(NamedTuple):
    """A line: its text, and its ending (`\\n`, `\\r\\n`, `\\r`, or `` for an unended last line)."""

    text: str
    ending: str


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file in lines.

    Attributes:
        path: relative to the repository root.
        lines: the lines; bytes that the encoding can't decode are lone surrogates (`surrogateescape`).
        encoding: Python codec name; `bom` holds the byte order mark, if any.
        errors: "strict", or "surrogateescape" for UTF-8 with undecodable bytes.
        guessed: nothing declares the encoding and it isn't valid UTF-8.
        mode: permission bits.
    """

    path: str
    lines: tuple[Line, ...]
    encoding: str = "utf-8"
    errors: str = "strict"
    bom: bytes = b""
    guessed: bool = False
    mode: int = field(default=0o644)

    @property
    def display(self) -> list[str]:
        """The lines' texts as models and people see them: undecodable bytes become U+FFFD."""
        if self.errors == "strict":
            return [line.text for line in self.lines]
        return [_SURROGATES.sub("\ufffd", line.text) for line in self.lines]

    @property
    def text(self) -> str:
        """The whole text with `\\n` endings, no BOM; undecodable bytes become U+FFFD."""
        return "".join(
            text + ("\n" if line.ending else "") for text, line in zip(self.display, self.lines, strict=True)
        )

    @property
    def shown(self) -> str:
        """`text` with the lines' own endings."""
        return "".join(text + line.ending for text, line in zip(self.display, self.lines, strict=True))

    @property
    def newline(self) -> str:
        """The commonest ending; `\\n` when there is none."""
        counts: dict[str, int] = {}
        for line in self.lines:
            if line.ending:
                counts[line.ending] = counts.get(line.ending, 0) + 1
        return max(counts, key=lambda ending: counts[ending]) if counts else "\n"

    def to_bytes(self) -> bytes:
        """The file's bytes.

        Raises:
            PatchRefusedError: an edit brought a character that the file's encoding lacks.
        """
        try:
            text = [line.text + line.ending for line in self.lines]
            # Line by line: a stateful codec must not spell an untouched line anew because of another.
            parts = ["".join(text)] if self.encoding in _STATELESS else text
            return self.bom + b"".join(part.encode(self.encoding, self.errors) for part in parts)
        except UnicodeEncodeError as error:
            raise PatchRefusedError(
                f"{self.path}: the edit brings {error.object[error.start]!r}, which the file's encoding "
                f"({self.encoding}) can't write",
                kept="nothing was changed",
            ) from error


def split_lines(text: str) -> tuple[Line, ...]:
    """Split at `\\n`, `\\r\\n` and `\\r` only (never at form feeds or Unicode separators)."""
    if "\r" not in text:
        *ended, last = text.split("\n")
        return (*(Line(line, "\n") for line in ended), *([Line(last, "")] if last else []))
    lines = [Line(match[1], match[2]) for match in _LINE.finditer(text)]
    while lines and lines[-1] == Line("", ""):
        lines.pop()
    return tuple(lines)


def decode_bytes(raw: bytes, path: str, mode: int = 0o644) -> TextFile:
    """Take `raw` apart such that `decode_bytes(raw, path).to_bytes() == raw`.

    Raises:
        PatchRefusedError: binary.
    """
    if raw.startswith(codecs.BOM_UTF8):
        return _decode_utf8(raw[3:], path, mode, codecs.BOM_UTF8)
    if raw.startswith(_UTF32_BOMS):
        raise _binary(path)
    for bom, codec in _UTF16_BOMS:
        if raw.startswith(bom):
            return _decode_utf16(raw[2:], path, mode, bom, codec)
    if b"\0" in raw:
        raise _binary(path)
    cookie = _cookie_codec(raw)
    if cookie is not None:
        with contextlib.suppress(UnicodeError):
            lines = split_lines(raw.decode(cookie))
            # Stateful codecs may spell one line differently alone than after another.
            if b"".join((line.text + line.ending).encode(cookie) for line in lines) == raw:
                return TextFile(path, lines, encoding=cookie, mode=mode)
    return _decode_utf8(raw, path, mode, b"")


def _binary(path: str) -> PatchRefusedError:
    return PatchRefusedError(
        f"{path}: a binary file (it holds NUL bytes)",
        kept="nothing was changed",
        hint="codeforge edits text files only",
    )


def _decode_utf16(body: bytes, path: str, mode: int, bom: bytes, codec: str) -> TextFile:
    try:
        text = body.decode(codec)
    except UnicodeDecodeError as error:
        raise PatchRefusedError(
            f"{path}: marked as UTF-16 but not valid UTF-16", kept="nothing was changed"
        ) from error
    if "\0" in text:
        raise _binary(path)
    return TextFile(path, split_lines(text), encoding=codec, bom=bom, mode=mode)


def _decode_utf8(body: bytes, path: str, mode: int, bom: bytes) -> TextFile:
    if b"\0" in body:
        raise _binary(path)
    try:
        return TextFile(path, split_lines(body.decode("utf-8")), bom=bom, mode=mode)
    except UnicodeDecodeError:
        text = body.decode("utf-8", "surrogateescape")
    undecodable = len(_SURROGATES.findall(text))
    decodable = sum(1 for char in text if char > "\x7f") - undecodable
    if bom or decodable > undecodable:
        # UTF-8 with a few broken bytes: text that isn't UTF-8 hardly ever holds valid sequences.
        return TextFile(path, split_lines(text), errors="surrogateescape", bom=bom, guessed=True, mode=mode)
    return TextFile(path, split_lines(body.decode("latin-1")), encoding="latin-1", guessed=True, mode=mode)


def _cookie_codec(raw: bytes) -> str | None:
    """The codec that a PEP 263 cookie names, when it is one that keeps ASCII as it is."""
    for number, line in enumerate(re.split(rb"\r\n|\n|\r", raw[:2048], maxsplit=2)[:2]):
        found = _COOKIE.match(line)
        if found:
            return _usable_codec(found[1].decode("ascii"))
        if number == 0 and line.strip() and not line.lstrip().startswith(b"#"):
            return None
    return None


def _usable_codec(name: str) -> str | None:
    try:
        codec = codecs.lookup(name).name
        if codec in _UNFIT or string.printable.encode(codec) != string.printable.encode("ascii"):
            return None
    except (LookupError, UnicodeError, ValueError):
        return None
    return codec


def read_bytes(root: Path, path: str, *, max_bytes: int = MAX_BYTES) -> tuple[bytes, int] | None:
    """The bytes and permission bits of `path` below `root`; `None` when it does not exist.

    Raises:
        PatchRefusedError: a refused path (see `safepath`), too large, or unreadable.
    """
    return read_target(resolve_target(root, path), max_bytes=max_bytes)


def read_target(target: Target, *, max_bytes: int = MAX_BYTES) -> tuple[bytes, int] | None:
    """`read_bytes` for a path that has been checked."""
    try:
        with target.real.open("rb") as stream:
            status = os.fstat(stream.fileno())
            if status.st_size > max_bytes:
                raise PatchRefusedError(
                    f"{target.path}: too large to edit ({status.st_size:,} bytes; limit {max_bytes:,})",
                    kept="nothing was changed",
                )
            return stream.read(), stat.S_IMODE(status.st_mode)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PatchRefusedError(
            f"{target.path}: can't be read ({error.strerror or error})", kept="nothing was changed"
        ) from error


def read_text_file(root: Path, path: str, *, max_bytes: int = MAX_BYTES) -> TextFile:
    """Read a text file of the repository.

    Raises:
        PatchRefusedError: absent, a refused path, binary, too large, or unreadable.
    """
    target = resolve_target(root, path)
    found = read_target(target, max_bytes=max_bytes)
    if found is None:
        raise PatchRefusedError(f"{path}: no such file", kept="nothing was changed")
    return decode_bytes(found[0], target.path, found[1])


def refuse_read_only(target: Target) -> None:
    """Raise `PatchRefusedError` when the file, or the folder it would be made in, is read-only.

    The permission bits are read as well as asked about: root may write everything, but a read-only file
    is its owner's wish.
    """
    folder = target.real.parent
    while not folder.exists():
        folder = folder.parent
    for place in (target.real, folder):
        try:
            mode = place.stat().st_mode
        except FileNotFoundError:
            continue
        if mode & 0o222 == 0 or not os.access(place, os.W_OK):
            what = "the file" if place == target.real else f"the folder {folder}"
            raise PatchRefusedError(
                f"{target.path}: {what} is read-only (mode {stat.S_IMODE(mode):04o})",
                kept="nothing was changed",
                hint=f"chmod u+w {place}, if it is meant to be edited",
            )


@dataclass(frozen=True, slots=True)
class Staged:
    """New content lying in a temporary file beside its destination."""

    target: Target
    temporary: Path

    def replace(self) -> None:
        """Put the new content in place, atomically."""
        self.temporary.replace(self.target.real)
        fsync_folder(self.target.real.parent)

    def discard(self) -> None:
        """Remove the temporary file, if it is still there."""
        self.temporary.unlink(missing_ok=True)


TEMPORARY_PREFIX = ".codeforge-tmp-"


def stage(target: Target, data: bytes, mode: int | None) -> Staged:
    """Write `data` to a temporary file in the destination's folder, which must exist.

    `mode` `None` keeps the mode of the file that is there, or uses the default of a new file.

    Raises:
        EnvironmentUnavailableError: the disk is full or refuses; no trace is left.
    """
    temporary = target.real.parent / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
    # The kernel applies the umask to a new file; content that replaces a private file starts private.
    first_mode = 0o666 if mode is None and not target.real.exists() else 0o600
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, first_mode)
    except OSError as error:
        raise write_failure(target.path, error) from error
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            _copy_attributes(target.real, stream.fileno(), mode)
            os.fsync(stream.fileno())
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise write_failure(target.path, error) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return Staged(target, temporary)


def _copy_attributes(existing: Path, descriptor: int, mode: int | None) -> None:
    try:
        status = existing.stat()
    except FileNotFoundError:
        if mode is not None:
            os.fchmod(descriptor, mode)
        return
    # Only root may give files away; a lost owner is no reason to fail. chown clears set-id bits: mode last.
    with contextlib.suppress(PermissionError):
        os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode) if mode is None else mode)


def write_failure(path: str, error: OSError) -> CodeforgeError:
    """The user's view of a failed write."""
    return EnvironmentUnavailableError(
        f"{path}: can't be written ({error.strerror or error})",
        kept="every file is as it was",
        hint="free some disk space or check the permissions, then try again",
    )


def remove(target: Target) -> None:
    """Delete the file."""
    target.real.unlink()
    fsync_folder(target.real.parent)


def fsync_folder(folder: Path) -> None:
    """Make the folder's entries durable, where the platform can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)
