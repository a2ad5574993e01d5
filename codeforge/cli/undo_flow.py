"""The undo command's calls and output."""

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from codeforge.errors import ExitCode
from codeforge.git import GitRepo
from codeforge.patch import journal


def run_list_command(*, as_json: bool) -> int:
    """Print the journal; an interrupted write is rolled back first, and said so."""
    root = GitRepo.discover(Path.cwd()).root
    recovered = [report.message for report in journal.recover(root)]
    listed = journal.list_entries(root)
    _tell(recovered)
    if as_json:
        entries = [{**asdict(item.entry), "active": item.active} for item in listed]
        _print_json({"schema_version": 1, "entries": entries, "notes": recovered})
        return int(ExitCode.SOLVED)
    for item in reversed(listed):
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(item.entry.created))
        state = "" if item.active else "  (undone)"
        paths = ", ".join(file.path for file in item.entry.files)
        sys.stdout.write(f"{item.entry.id}  {when}  {item.entry.label}: {paths}{state}\n")
    return int(ExitCode.SOLVED)


def run_undo_command(entry_id: str | None, *, redo: bool, as_json: bool) -> int:
    """Undo or redo one entry."""
    root = GitRepo.discover(Path.cwd()).root
    report = journal.redo(root, entry_id) if redo else journal.undo(root, entry_id)
    _tell(report.notes)
    if as_json:
        document: dict[str, object] = {
            "schema_version": 1,
            "action": report.entry.kind.value,
            "entry": report.about.id,
            "label": report.about.label,
            "written": list(report.written),
            "removed": list(report.removed),
            "notes": list(report.notes),
        }
        _print_json(document)
        return int(ExitCode.SOLVED)
    verb = "applied again" if redo else "undone"
    sys.stdout.write(f"{verb}: {report.about.id} ({report.about.label})\n")
    for path in report.written:
        sys.stdout.write(f"  written  {path}\n")
    for path in report.removed:
        sys.stdout.write(f"  removed  {path}\n")
    return int(ExitCode.SOLVED)


def _tell(notes: list[str] | tuple[str, ...]) -> None:
    for note in notes:
        sys.stderr.write(note + "\n")


def _print_json(document: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
