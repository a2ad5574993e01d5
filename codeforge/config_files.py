"""Settings files: reading with errors that name the line, and changing one key with the comments kept."""

import os
import re
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from codeforge.errors import CodeforgeError, EnvironmentUnavailableError, UsageError

_MOST_BYTES = 1024**2


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A settings file as read.

    Attributes:
        path: where it lies.
        data: its bytes (what trust is given to).
        text: the bytes as text.
        values: the parsed document.
    """

    path: Path
    data: bytes
    text: str
    values: dict[str, object]

    def place(self, key: str) -> str:
        """ "FILE, line N" of a dotted key, or just the file when the line can't be told."""
        line = _line_of(self.text, key)
        return f"{self.path}, line {line}" if line else str(self.path)


def read_settings_file(path: Path) -> SettingsFile | None:
    """The file at `path`; `None` when there is none.

    Raises:
        UsageError: it is not UTF-8, not TOML, or too large; the message names the line.
        EnvironmentUnavailableError: it can't be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unusable(path, error) from error
    if len(data) > _MOST_BYTES:
        raise _broken(path, f"it is larger than {_MOST_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig")
        return SettingsFile(path, data, text, tomllib.loads(text))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _broken(path, f"line {line} is not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise _broken(path, f"it is not valid TOML: {error}") from error


def set_in_file(path: Path, key: str, value: object) -> bytes:
    """Set a dotted key in the file (created when missing), and return the bytes written."""
    import tomlkit

    document = _document(path)
    table = document
    *sections, name = key.split(".")
    for section in sections:
        if section not in table:
            table[section] = tomlkit.table()
        table = table[section]
    table[name] = value
    return _write(path, tomlkit.dumps(document))


def unset_in_file(path: Path, key: str) -> bytes | None:
    """Remove a dotted key from the file and return the bytes written; `None` when it was not there."""
    import tomlkit

    table = document = _document(path)
    *sections, name = key.split(".")
    for section in sections:
        table = table.get(section, {})
    if name not in table:
        return None
    del table[name]
    return _write(path, tomlkit.dumps(document))


def replace_file(path: Path, data: bytes) -> None:
    """Write a file of codeforge's own so that at any moment it holds the old bytes or the new ones."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        target = path.resolve()  # a link (settings kept in a dotfiles repository) stays a link
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise _unusable(path, error) from error


def project_root(start: Path) -> Path | None:
    """The top of the working tree around `start`: the nearest folder that holds `.git`."""
    folder = start.resolve()
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)


def _document(path: Path):  # type: ignore[no-untyped-def]  # tomlkit's containers are typed loosely
    import tomlkit

    from codeforge.config_model import SCHEMA_VERSION

    current = read_settings_file(path)
    if current is not None:
        return tomlkit.parse(current.text)
    document = tomlkit.document()
    document["schema_version"] = SCHEMA_VERSION
    return document


def _write(path: Path, text: str) -> bytes:
    data = text.encode("utf-8")
    replace_file(path, data)
    return data


def _line_of(text: str, key: str) -> int | None:
    """The line that sets `key`. Plain `[section]` and `name =` lines are known; other ways of writing
    TOML are rare in settings, and then the file alone is named."""
    here = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\s*([\w.\"' -]+?)\s*\]\s*(?:#.*)?$", line)
        if header:
            here = re.sub(r"[\"' ]", "", header.group(1))
            if here == key:
                return number
            continue
        assigned = re.match(r"\s*([\w.\"' -]+?)\s*=", line)
        if assigned:
            found = re.sub(r"[\"' ]", "", assigned.group(1))
            whole = f"{here}.{found}" if here else found
            if whole == key or key.startswith(f"{whole}.") or whole.startswith(f"{key}."):
                return number
    return None


def _broken(path: Path, problem: str) -> CodeforgeError:
    return UsageError(
        f"The settings file {path} can't be used: {problem}.",
        kept="The file is left as it is.",
        hint="Correct the file, or move it away.",
    )


def _unusable(path: Path, error: OSError) -> CodeforgeError:
    return EnvironmentUnavailableError(
        f"The file {path} can't be used: {error.strerror or error}.",
        kept="Nothing was changed.",
        hint="Check its permissions and the free space on its disk.",
    )
