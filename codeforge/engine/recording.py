"""Events of a run, written to the archive as they happen."""

from dataclasses import asdict

from codeforge.archive.model import CandidateRecord
from codeforge.archive.writer import SessionWriter
from codeforge.engine.candidate import Candidate
from codeforge.engine.events import (
    BaselineChecked,
    CandidateChecked,
    ContextCompiled,
    Event,
    EventSink,
    Located,
    ModelAnswered,
    ModelAsked,
    ModelText,
    MutantsScreened,
    Notice,
    ProposalRefused,
    TestCommandChosen,
)
from codeforge.models.protocol import Message

_KINDS: dict[type, str] = {
    Notice: "note",
    TestCommandChosen: "test_command",
    BaselineChecked: "baseline",
    Located: "localize",
    ContextCompiled: "context",
    MutantsScreened: "screen",
    ModelAsked: "ask",
    ProposalRefused: "refuse",
}


class Recorder:
    """Hands every event to the archive first and then to the front end.

    Streamed text is not written: the whole answer is, when it is complete.
    """

    def __init__(self, session: SessionWriter, front_end: EventSink) -> None:
        self._session = session
        self._front_end = front_end

    def emit(self, event: Event) -> None:
        """Record `event`, then show it."""
        if isinstance(event, CandidateChecked):
            self._session.candidate(candidate_record(event.candidate, "checked"))
        elif isinstance(event, ModelAnswered):
            self._session.message("assistant", event.text)
            payload = {"sample": event.sample, "usage": asdict(event.usage)}
            tokens = event.usage.completion_tokens
            self._session.step("answer", payload, event.elapsed_s, tokens)
        elif not isinstance(event, ModelText):
            self._session.step(_KINDS[type(event)], asdict(event))
        self._front_end(event)

    def messages(self, messages: tuple[Message, ...]) -> None:
        """Record what a model is about to be sent."""
        for message in messages:
            self._session.message(message.role, message.content)


def candidate_record(candidate: Candidate, status: str) -> CandidateRecord:
    """How the archive keeps a candidate."""
    return CandidateRecord(
        id=candidate.id,
        parent=candidate.parent,
        origin=asdict(candidate.origin),
        edits=[asdict(edit) for edit in candidate.patch.edits],
        diff=candidate.diff,
        checks=[asdict(check) for check in candidate.checks],
        reward=asdict(candidate.reward),
        status=status,
    )
