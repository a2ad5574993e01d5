"""Prompts are the `.md` files of this folder: a system part and a user part with `$names`."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from string import Template

from codeforge.models.protocol import Message

_SYSTEM, _USER = "<!-- system -->", "<!-- user -->"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt; `version` is its name and the first 12 digits of its text's SHA-256."""

    name: str
    version: str
    system: str
    user: str

    def messages(self, **values: str) -> tuple[Message, Message]:
        """The two messages with every `$name` of the user part filled in.

        Raises:
            KeyError: a name has no value.
        """
        return Message("system", self.system), Message("user", Template(self.user).substitute(values))


def load_prompt(name: str) -> Prompt:
    """Read the prompt `name` (a file name without `.md`)."""
    text = (Path(__file__).parent / f"{name}.md").read_text(encoding="utf-8")
    system, user = text.removeprefix(_SYSTEM).split(_USER)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Prompt(name, f"{name}@{digest}", system.strip(), user.strip())
