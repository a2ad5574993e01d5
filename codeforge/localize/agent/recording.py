"""An agent's events, written to the archive as they happen."""

from dataclasses import asdict

from codeforge.archive.agent_step import write_agent_step
from codeforge.archive.writer import SessionWriter
from codeforge.localize.agent.events import (
    AgentEvent,
    AgentEventSink,
    AgentNotice,
    ModelReplied,
    Ranked,
    SampleEnded,
    SampleStarted,
    StepTaken,
)


class AgentRecorder:
    """Hands every event to the archive first and then to the front end."""

    def __init__(self, session: SessionWriter, front_end: AgentEventSink) -> None:
        self._session = session
        self._front_end = front_end

    def emit(self, event: AgentEvent) -> None:
        """Record `event`, then show it."""
        session = self._session
        match event:
            case Ranked(answer, elapsed_s):
                session.step("localize", asdict(answer), elapsed_s)
            case SampleStarted(sample, samples, model, messages):
                session.step("ask", {"sample": sample, "samples": samples, "model": model})
                for message in messages:
                    session.message(message.role, message.content)
            case ModelReplied(_, text):
                session.message("assistant", text)
            case StepTaken(sample, _, step):
                write_agent_step(session, sample, step)
            case SampleEnded(sample, ids, problem):
                session.step("sample", {"sample": sample, "ids": ids, "problem": problem})
            case AgentNotice(text):
                session.step("note", {"text": text})
        self._front_end(event)
