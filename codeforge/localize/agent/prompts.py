"""The prompts of the agents: `.md` files beside the code, with a system and a user part and `$names`."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

_SYSTEM, _USER = "<!-- system -->", "<!-- user -->"


@dataclass(frozen=True, slots=True)
class AgentPrompt:
    """One prompt; `version` is its name and the first 12 digits of its text's SHA-256."""

    version: str
    system: Template
    user: Template


@cache
def load_prompt(name: str) -> AgentPrompt:
    """Read the prompt `name` (a file name without `.md`)."""
    text = (Path(__file__).parent / f"{name}.md").read_text(encoding="utf-8")
    system, user = text.removeprefix(_SYSTEM).split(_USER)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return AgentPrompt(f"{name}@{digest}", Template(system.strip()), Template(user.strip()))
