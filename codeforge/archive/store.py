"""The archive: every session, on disk as it happens."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType

from codeforge.archive import forking, reading, transfer, verify, writer
from codeforge.archive.database import BUSY_TIMEOUT_S
from codeforge.archive.handle import Handle
from codeforge.archive.model import SessionRecord, SessionSummary, VerifyReport
from codeforge.archive.writer import SessionWriter


class Archive:
    """The sessions in one database. Safe to use from several threads and processes at once.

    Every method raises `EnvironmentUnavailableError` when the database can't be used.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    @classmethod
    def open(cls, path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> "Archive":
        """Open the database at `path`; it and its folders are created when missing.

        A damaged one is kept aside and a new one started; `notices` says so.
        """
        return cls(Handle(path, busy_timeout_s))

    @property
    def path(self) -> Path:
        """The database file."""
        return self._handle.path

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know about the opening."""
        return self._handle.notices

    def start_session(
        self, command: str, task: Mapping[str, object], *, model: str, versions: Mapping[str, object]
    ) -> SessionWriter:
        """Start a session.

        Args:
            command: the codeforge command ("fix").
            task: the TaskSpec as data; "repo", "base_commit" and "issue" are shown in lists.
            model: the model's name.
            versions: what produces the answers ("model", "prompt", "codeforge", … → version).
        """
        return writer.start_session(self._handle, command, task, model=model, versions=versions)

    def sessions(self, limit: int | None = None, repo: str | None = None) -> list[SessionSummary]:
        """The newest sessions first; of one repository when `repo` is given."""
        with self._handle.read() as transaction:
            return reading.list_sessions(transaction, limit, repo)

    def count(self, repo: str | None = None) -> int:
        """How many sessions there are."""
        with self._handle.read() as transaction:
            return reading.count_sessions(transaction, repo)

    def session(self, id_or_prefix: str) -> SessionRecord:
        """A whole session ("last": the newest). `UsageError` when there is not exactly one."""
        with self._handle.read() as transaction:
            return reading.load_session(transaction, reading.find_session(transaction, id_or_prefix))

    def verify(self, id_or_prefix: str) -> VerifyReport:
        """Whether a session is as it was written."""
        with self._handle.read() as transaction:
            return verify.verify_session(transaction, reading.find_session(transaction, id_or_prefix))

    def fork(self, id_or_prefix: str, at_seq: int) -> SessionWriter:
        """A new session with the steps 0 … `at_seq` of another."""
        return forking.fork_session(self._handle, id_or_prefix, at_seq)

    def export(self, id_or_prefix: str) -> Iterator[str]:
        """The lines (JSONL, without line breaks) of a session."""
        return transfer.export_lines(self.session(id_or_prefix))

    def import_jsonl(self, lines: Iterable[str]) -> str:
        """Add an exported session and return its id; `UsageError` when anything in it is not right."""
        return transfer.import_lines(self._handle, lines)

    def close(self) -> None:
        """Close the connection."""
        self._handle.close()

    def __enter__(self) -> "Archive":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
