"""Trust in a project's settings: given by a person, for one folder and for exactly the bytes of its file."""

import hashlib
import json
from pathlib import Path

from codeforge.config_files import replace_file
from codeforge.errors import UsageError
from codeforge.paths import data_dir

_VERSION = 1


def trust_path() -> Path:
    """Where trust is recorded."""
    return data_dir() / "trust.json"


def is_trusted(root: Path, data: bytes) -> bool:
    """Whether the user trusts the settings of the project at `root` when they are `data`."""
    return _load().get(_key(root)) == _hash(data)


def trust(root: Path, data: bytes) -> None:
    """Trust the project's settings as long as they are `data`."""
    _store({**_load(), _key(root): _hash(data)})


def untrust(root: Path) -> bool:
    """Take the trust back; whether there was any."""
    known = _load()
    if known.pop(_key(root), None) is None:
        return False
    _store(known)
    return True


def _key(root: Path) -> str:
    return str(root.resolve())


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _load() -> dict[str, str]:
    path = trust_path()
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _broken(path, str(error)) from error
    projects = document.get("projects") if isinstance(document, dict) else None
    if not isinstance(projects, dict) or document.get("schema_version") != _VERSION:
        raise _broken(path, "it has another format")
    return {str(key): str(value) for key, value in projects.items()}


def _store(projects: dict[str, str]) -> None:
    document = {"schema_version": _VERSION, "projects": projects}
    replace_file(trust_path(), (json.dumps(document, indent=2, sort_keys=True) + "\n").encode())


def _broken(path: Path, problem: str) -> UsageError:
    return UsageError(
        f"The list of trusted projects {path} can't be read: {problem}.",
        kept="Nothing was changed.",
        hint="Move the file away, and trust your projects again with: codeforge config trust",
    )
