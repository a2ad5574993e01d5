"""Steps of agents in a real archive."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeforge.archive.agent_step import (
    AgentCommand,
    AgentStep,
    RecordedAgentStep,
    StepStatus,
    StepTokens,
    agent_steps,
    write_agent_step,
)
from codeforge.archive.model import SessionStatus
from codeforge.archive.store import Archive

# Words only: what looks like a secret is redacted, here as everywhere.
TEXT = st.text(st.sampled_from('ab {}[]":\n\u2028é\ud800'), max_size=20)
STEPS = st.builds(
    AgentStep,
    st.builds(AgentCommand, TEXT, TEXT),
    TEXT,
    st.sampled_from(StepStatus),
    st.floats(0, 1e4),
    st.builds(StepTokens, st.integers(0, 9**9), st.integers(0, 9**9)),
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 9), STEPS), max_size=4))
def test_they_are_read_as_they_were_written(tmp_path: Path, steps: list[tuple[int, AgentStep]]) -> None:
    with Archive.open(tmp_path / "archive.db") as archive:
        with archive.start_session("locate", {"issue": "x"}, model="m", versions={}) as session:
            session.step("note", {"text": "not a step of an agent"})
            for sample, step in steps:
                write_agent_step(session, sample, step)
            session.finish(SessionStatus.SOLVED, {})
        assert archive.verify(session.id).ok
        record = archive.session(session.id)
        assert agent_steps(record) == tuple(RecordedAgentStep(sample, step) for sample, step in steps)


def test_steps_survive_export_and_import(tmp_path: Path) -> None:
    step = AgentStep(AgentCommand("search", "{}"), "found", StepStatus.OK, 0.5, StepTokens(3, 4))
    with Archive.open(tmp_path / "one.db") as one, Archive.open(tmp_path / "two.db") as two:
        with one.start_session("locate", {"issue": "x"}, model="m", versions={}) as session:
            write_agent_step(session, 2, step)
            session.finish(SessionStatus.SOLVED, {})
        copy = two.session(two.import_jsonl(one.export(session.id)))
        assert agent_steps(copy) == (RecordedAgentStep(2, step),)
        assert copy.steps[1].tokens == {"prompt": 3, "completion": 4}
