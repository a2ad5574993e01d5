"""From messages to tokens, through the chat template that the model file carries.

Text in a message stays text: `<|im_end|>` in a source file must not end the user's turn. So when a message
holds text that the tokenizer would read as a special token, the template's own text and the messages are
tokenized apart.
"""

from collections.abc import Sequence
from typing import Any

from codeforge.errors import EnvironmentUnavailableError
from codeforge.models.protocol import Message

_FALLBACK = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{{ message.content }}<|im_end|>\n{% endfor %}"
    "<|im_start|>assistant\n"
)


class ChatTemplate:
    """The template of an open `llama_cpp.Llama`; ChatML where its file has none."""

    def __init__(self, llama: Any) -> None:
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        self._llama = llama
        self._formatter = Jinja2ChatFormatter(
            template=llama.metadata.get("tokenizer.chat_template", _FALLBACK),
            eos_token=_token_text(llama, llama.token_eos()),
            bos_token=_token_text(llama, llama.token_bos()),
        )

    def tokens(self, messages: Sequence[Message], answer_prefix: str) -> list[int]:
        """The prompt's tokens; the assistant's turn is begun with `answer_prefix`.

        Raises:
            EnvironmentUnavailableError: the template refuses these messages.
        """
        contents = [message.content for message in messages]
        if not any(self._has_special(text) for text in [*contents, answer_prefix]):
            return self._tokenize(self._render(messages) + answer_prefix, special=True)
        marks = [f"\ue000{place}\ue001" for place in range(len(messages))]
        marked = [Message(message.role, mark) for message, mark in zip(messages, marks, strict=True)]
        rest = self._render(marked)
        tokens: list[int] = []
        for mark, content in zip(marks, contents, strict=True):
            before, found, rest = rest.partition(mark)
            if not found:
                raise _refused("it leaves a message out")
            tokens += self._tokenize(before, special=True) + self._tokenize(content, special=False)
        return tokens + self._tokenize(rest, special=True) + self._tokenize(answer_prefix, special=False)

    def _render(self, messages: Sequence[Message]) -> str:
        import jinja2

        try:
            rendered = self._formatter(messages=[_as_dict(message) for message in messages])
        except (jinja2.TemplateError, ValueError) as error:
            raise _refused(str(error)) from error
        prompt: str = rendered.prompt
        return prompt

    def _has_special(self, text: str) -> bool:
        return self._tokenize(text, special=True) != self._tokenize(text, special=False)

    def _tokenize(self, text: str, *, special: bool) -> list[int]:
        if not text:
            return []
        tokens: list[int] = self._llama.tokenize(
            text.encode("utf-8", "replace"), add_bos=False, special=special
        )
        return tokens


def _as_dict(message: Message) -> dict[str, str]:
    return {"role": message.role, "content": message.content}


def _token_text(llama: Any, token: int) -> str:
    if token == -1:
        return ""
    text: bytes = llama.detokenize([token], special=True)
    return text.decode("utf-8", "replace")


def _refused(why: str) -> EnvironmentUnavailableError:
    return EnvironmentUnavailableError(
        f"The model's chat template can't render this conversation: {why}.",
        kept="nothing was generated",
        hint="use another model",
    )
