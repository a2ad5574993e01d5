"""The token-budgeted context compiler: the most important pieces in full, the next folded, the rest cut."""

from collections.abc import Callable, Sequence

from codeforge.context.model import CompiledContext, ContextItem, Cut

CountTokens = Callable[[str], int]

SEPARATOR = "\n\n"

__all__ = ["CompiledContext", "ContextItem", "Cut", "compile_context"]


def compile_context(
    items: Sequence[ContextItem], budget_tokens: int, count_tokens: CountTokens
) -> CompiledContext:
    """Choose from `items` by priority what fits in `budget_tokens`, and join it in the given order.

    The budget is checked on the joined text itself, because tokenizers merge across seams: the tokens of
    a text are not the sum of its parts'. A piece that does not fit is tried in its shorter forms.
    """
    order = sorted(range(len(items)), key=lambda place: (-items[place].priority, place))
    chosen: dict[int, str] = {}
    cut: dict[int, Cut] = {}
    tokens = 0
    for place in order:
        item = items[place]
        for level, form in enumerate((item.text, *item.folds)):
            count = count_tokens(_join({**chosen, place: form}))
            if count <= budget_tokens:
                chosen[place], tokens = form, count
                if level:
                    cut[place] = Cut(item.title, "shortened to fit the budget")
                break
        else:
            cut[place] = Cut(item.title, "left out: it does not fit the budget")
    return CompiledContext(
        text=_join(chosen),
        tokens=tokens,
        included=tuple(items[place].title for place in sorted(chosen)),
        cut=tuple(cut[place] for place in sorted(cut)),
    )


def _join(chosen: dict[int, str]) -> str:
    return SEPARATOR.join(chosen[place] for place in sorted(chosen))
