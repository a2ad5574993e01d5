"""`retrieve_entity`: the source of entities with line numbers, within a budget."""

from collections.abc import Sequence

from codeforge.localize.graph.model import GraphView
from codeforge.localize.model import Entity, EntityKind
from codeforge.localize.tools.budget import Budget, Form, Layout, Shown, lay_out
from codeforge.localize.tools.resolve import Resolved
from codeforge.localize.tools.sources import printable
from codeforge.localize.tools.views import View, Views


def show_entities(
    meant: Sequence[Resolved], errors: Sequence[str], graph: GraphView, views: Views, budget: Budget
) -> Layout:
    """The entities in full where they fit; else classes and files as outlines, and functions with a gap that
    says how to ask for what is in it. `errors` are said first."""

    def footer(shown: Sequence[Shown | None]) -> str:
        names = [f"`{printable(graph.entity(item.node).id)}`" for item in meant]
        both = list(zip(names, shown, strict=True))
        gone = [name for name, form in both if form is None]
        named = [name for name, form in both if form is not None and form.view == View.FOLD]
        parts = [f"left out: {', '.join(gone)}"] if gone else []
        parts += [f"only named: {', '.join(named)}"] if named else []
        if not parts:
            return ""
        what = "; ".join(parts)
        return f"… to fit {budget.max_tokens} tokens {what}: retrieve them one by one, or with more tokens"

    return lay_out([_forms(item, graph.entity(item.node), views) for item in meant], budget, errors, footer)


def _forms(item: Resolved, entity: Entity, views: Views) -> list[Form]:
    node = item.node
    note = "; ".join(part for part in (item.note, views.missing(node)) if part)
    fold = Form(View.FOLD, lambda _: views.fold(node, note))
    if item.first:
        note = "; ".join(part for part in (note, f"lines {item.first}-{item.last} shown") if part)
        first, last = _range(item, entity)
        cut = Form("excerpt", lambda room: _excerpt(views, item, first, last, note, room))
        return [fold, cut, Form(View.FULL, lambda _: views.lines(node, first, last, note))]
    if entity.kind is EntityKind.DIRECTORY:
        return [fold, Form(View.FULL, lambda _: views.full(node, note))]
    full = Form(View.FULL, lambda _: views.full(node, note))
    if entity.kind is EntityKind.FUNCTION:
        first, last = entity.start_line, entity.end_line
        cut = Form("excerpt", lambda room: _excerpt(views, item, first, last, note, room))
        bare = Form(View.FULL, lambda _: views.full(node, note, imports=False))
        return [fold, cut, bare, full]
    hint = f"; outline only: retrieve what you need of it, or `{entity.path}:FIRST-LAST`"
    return [fold, Form(View.OUTLINE, lambda _: views.outline(node, f"{note}{hint}".removeprefix("; "))), full]


def _range(item: Resolved, entity: Entity) -> tuple[int, int]:
    """One line stands for the entity around it; a range for itself."""
    whole = item.first == item.last and entity.qualname
    return (entity.start_line, entity.end_line) if whole else (item.first, item.last)


def _excerpt(views: Views, item: Resolved, first: int, last: int, note: str, room: int) -> str | None:
    """An excerpt of at most `room` tokens by the estimate: first for 12 tokens a line, then ever shorter."""
    kept = max(1, room // 24)
    text = views.excerpt(item.node, first, last, kept, note)
    while text is not None and kept > 1 and len(text.encode("utf-8", "replace")) > 3 * room:
        kept = kept * 2 // 3
        text = views.excerpt(item.node, first, last, kept, note)
    return text
