"""The locate command's call and output."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from codeforge.errors import ExitCode, UsageError
from codeforge.git import GitRepo
from codeforge.localize.model import Location
from codeforge.localize.ranker import Localizer, LocateAnswer, LocateQuery

if TYPE_CHECKING:
    from codeforge.localize.agent.session import AgentOrder, LocatedSession
    from codeforge.models.protocol import ChatModel

_SHOWN_REASONS = 3


@dataclass(frozen=True, slots=True)
class AgentArguments:
    """The part of the command line that is about an agent; no kind: the ranker alone."""

    kind: Literal["choose", "tools"] | None = None
    model: str | None = None
    samples: int = 1


@dataclass(frozen=True, slots=True)
class LocateArguments:
    """The command line of `locate`."""

    text: str
    issue_file: str
    limit: int
    files: bool
    as_json: bool
    encoder: str = ""
    agent: AgentArguments = AgentArguments()


def run_locate_command(arguments: LocateArguments) -> int:
    """Run `locate` and return the exit status: 0 when something was found, else 1; 130 when Ctrl-C ended the
    agent (the ranker's answer is shown all the same)."""
    if arguments.agent.kind is None and (arguments.agent.model is not None or arguments.agent.samples != 1):
        raise UsageError(
            "--model and --samples are an agent's, and there is none.", hint="add --agent choose"
        )
    if arguments.agent.kind is not None and arguments.encoder:
        raise UsageError("An agent ranks without an encoder.", hint="leave out --agent or --encoder")
    text = _issue_text(arguments)
    repo = GitRepo.discover(Path.cwd())
    query = LocateQuery(text, limit=arguments.limit)
    done = None
    if arguments.agent.kind is None:
        answer = _ranked(arguments.encoder, repo, query)
        _say_notices(answer)
    else:
        done = _run_agent(arguments.agent, repo, query)
        answer = done.outcome.answer
    _print(arguments, repo, answer, done)
    if done is not None and done.interrupted:
        sys.stderr.write(
            f"codeforge: interrupted; this is the ranker's answer. Session {done.id} has the steps.\n"
        )
        # Not by returning: the entry point would print a second document.
        raise SystemExit(int(ExitCode.INTERRUPTED))
    found = answer.files if arguments.files else answer.locations
    return int(ExitCode.SOLVED if found else ExitCode.NO_PATCH)


def _ranked(encoder: str, repo: GitRepo, query: LocateQuery) -> LocateAnswer:
    """The ranker's answer, with an encoder when one is named."""
    if not encoder:
        return Localizer(repo.root, repo.list_files()).locate_all(query)
    from codeforge.localize.dense.scorer import DenseScorer

    with DenseScorer.open(repo.root, encoder) as scorer:
        return Localizer(repo.root, repo.list_files(), scorer=scorer).locate_all(query)


def _run_agent(arguments: AgentArguments, repo: GitRepo, query: LocateQuery) -> "LocatedSession":
    from codeforge.cli.agent_progress import show_agent_event, summary
    from codeforge.localize.agent.session import locate_with_agent

    order, notices = _order(arguments, repo, query)
    for notice in notices:
        sys.stderr.write(f"codeforge: {notice}\n")
    done = locate_with_agent(order, show_agent_event)
    if not done.interrupted:
        sys.stderr.write(summary(done) + "\n")
    return done


def _order(
    arguments: AgentArguments, repo: GitRepo, query: LocateQuery
) -> tuple["AgentOrder", tuple[str, ...]]:
    """Layer flags over settings; also what the settings want said."""
    from codeforge.config import load_settings
    from codeforge.localize.agent.session import AgentKind, AgentOrder
    from codeforge.models.registry import check_name

    settings = load_settings(repo.root, {"model": arguments.model})
    if settings.model is not None:
        check_name(settings.model)
    order = AgentOrder(
        repo=repo,
        query=query,
        kind=AgentKind(arguments.kind or "choose"),
        samples=arguments.samples,
        seed=settings.seed,
        temperature=settings.temperature,
        model_name=settings.model or "auto",
        open_model=lambda: _open_model(settings.model, settings.threads, settings.litellm.api_base),
    )
    return order, settings.settings_notices


def _open_model(name: str | None, threads: int | None, api_base: str | None) -> "ChatModel":
    """The model that `name` means; a hosted one with its tool calling."""
    from codeforge.localize.agent.hosted import HostedAgentModel
    from codeforge.models.litellm_model import LiteLLMModel
    from codeforge.models.registry import open_model

    model = open_model(name, threads=threads, api_base=api_base)
    return HostedAgentModel(model.name, api_base=api_base) if isinstance(model, LiteLLMModel) else model


def _say_notices(answer: LocateAnswer) -> None:
    for notice in answer.notices:
        sys.stderr.write(f"codeforge: {notice}\n")


def _print(
    arguments: LocateArguments, repo: GitRepo, answer: LocateAnswer, done: "LocatedSession | None"
) -> None:
    if not arguments.as_json:
        _show(answer.files if arguments.files else answer.locations)
        return
    document: dict[str, object] = {
        "schema_version": 1,
        "repository": str(repo.root),
        "locations": [_location(location) for location in answer.locations],
        "files": [_location(location) for location in answer.files],
        "notices": list(answer.notices),
    }
    if done is not None:
        document["agent"] = {
            "kind": arguments.agent.kind,
            "session": done.id,
            "samples": done.outcome.samples,
            "failed": done.outcome.failed,
            "interrupted": done.interrupted,
            "usage": asdict(done.outcome.usage),
        }
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


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
