"""What a task from GitHub carries in `TaskSpec.meta`: flat text, with a version.

`meta` maps text to text. `meta_version` is "1". Lists are JSON arrays as text: `gold_files`,
`gold_functions`, `gold_classes`, `created_files`, `test_files` (of strings), `issues` (of numbers). The rest
is plain: `fix_commit`, `fixed_at` (ISO 8601, when the fix was committed), `pull_request` (a number or ""),
`text_source` ("issue", "pull_request" or "commit"), `paired_by` ("api" or "message"), `changed_lines` (a
number).
"""

import json
from collections.abc import Sequence

from codeforge.redact import redact
from codeforge.tasks.github.address import RepositoryName
from codeforge.tasks.github.gold import Gold
from codeforge.tasks.github.pairing import Paired
from codeforge.tasks.spec import TaskSpec

META_VERSION = "1"
SOURCE = "github"


def task_id(name: RepositoryName, fix_commit: str) -> str:
    """The id of the task that the commit `fix_commit` solves."""
    return f"{name.slug}-{fix_commit[:10]}"


def task_of(name: RepositoryName, paired: Paired, gold: Gold) -> TaskSpec:
    """The task: the tree before the fix, the text without secrets, and the gold in `meta`."""
    change = paired.change
    meta = {
        "meta_version": META_VERSION,
        "fix_commit": change.sha,
        "fixed_at": change.committed_at.isoformat(),
        "issues": _list(paired.issues),
        "pull_request": "" if paired.pull is None else str(paired.pull),
        "text_source": paired.text_source.value,
        "paired_by": paired.paired_by,
        "gold_files": _list(gold.files),
        "gold_functions": _list(gold.functions),
        "gold_classes": _list(gold.classes),
        "created_files": _list(gold.created),
        "test_files": _list(gold.tests),
        "changed_lines": str(gold.changed_lines),
    }
    return TaskSpec(
        id=task_id(name, change.sha),
        repo=str(name),
        base_commit=change.base,
        issue=redact(paired.text.encode("utf-8", "replace").decode()),
        source=SOURCE,
        meta=meta,
    )


def _list(values: Sequence[object]) -> str:
    return json.dumps(list(values))
