"""The locate command's call and output."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from codeforge.errors import ExitCode, UsageError
from codeforge.git import GitRepo
from codeforge.localize.model import Location
from codeforge.localize.ranker import Localizer, LocateQuery

_SHOWN_REASONS = 3


@dataclass(frozen=True, slots=True)
class LocateArguments:
    """The command line of `locate`."""

    text: str
    issue_file: str
    limit: int
    files: bool
    as_json: bool


def run_locate_command(arguments: LocateArguments) -> int:
    """Run `locate` and return the exit status: 0 when something was found, else 1."""
    text = _issue_text(arguments)
    repo = GitRepo.discover(Path.cwd())
    answer = Localizer(repo.root, repo.list_files()).locate_all(LocateQuery(text, limit=arguments.limit))
    for notice in answer.notices:
        sys.stderr.write(f"codeforge: {notice}\n")
    found = answer.files if arguments.files else answer.locations
    if arguments.as_json:
        document = {
            "schema_version": 1,
            "repository": str(repo.root),
            "locations": [_location(location) for location in answer.locations],
            "files": [_location(location) for location in answer.files],
            "notices": list(answer.notices),
        }
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        _show(found)
    return int(ExitCode.SOLVED if found else ExitCode.NO_PATCH)


def _issue_text(arguments: LocateArguments) -> str:
    """The issue's text from wherever it was given.

    Raises:
        UsageError: it was given twice or not at all, or its file can't be read.
    """
    source = arguments.issue_file
    if source and arguments.text:
        raise UsageError("The issue was given as text and as a file.", hint="drop one")
    if "-" in (source, arguments.text):
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    if source:
        try:
            return Path(source).read_bytes().decode("utf-8", "replace")
        except OSError as error:
            raise UsageError(f"The issue file {source} can't be read: {error.strerror}.") from error
    if not arguments.text.strip():
        raise UsageError("There is no issue to locate.", hint='codeforge locate "what goes wrong"')
    return arguments.text


def _show(found: Sequence[Location]) -> None:
    """One line a location; reasons in a dimmer colour on a terminal."""
    dim, plain = ("\x1b[2m", "\x1b[0m") if sys.stdout.isatty() else ("", "")
    for location in found:
        entity = location.entity
        place = f"{entity.path}:{entity.start_line}"
        reasons = "; ".join(f"{r.detail} ({r.signal})" for r in location.reasons[:_SHOWN_REASONS])
        name = f" {entity.qualname}" if entity.qualname else ""
        sys.stdout.write(f"{place}{name}  {location.score:.2f}  {dim}{reasons}{plain}\n")


def _location(location: Location) -> dict[str, object]:
    entity = location.entity
    return {
        "id": entity.id,
        "kind": entity.kind.value,
        "path": entity.path,
        "qualname": entity.qualname,
        "start_line": entity.start_line,
        "end_line": entity.end_line,
        "signature": entity.signature,
        "score": round(location.score, 4),
        "reasons": [asdict(reason) for reason in location.reasons],
    }
