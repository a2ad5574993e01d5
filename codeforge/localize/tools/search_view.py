"""How found entities are shown: folded, as previews or in full, by how many and how good they are."""

import re
from collections.abc import Collection, Sequence

from codeforge.localize.graph.model import GraphView
from codeforge.localize.model import Entity, EntityKind
from codeforge.localize.tools.budget import Budget, Form, Layout, Shown, lay_out
from codeforge.localize.tools.search import Found, Hit, MatchKind
from codeforge.localize.tools.sources import counted
from codeforge.localize.tools.views import View, Views

_FEW = 3
"""So many entities of one name are shown in more than a line (as LocAgent does)."""
_SHORT = 60
"""Entities of so many lines are shown whole where a preview was due."""
_WORD = re.compile(r"[^\W_]{3,}")


def show_found(
    found: Found, graph: GraphView, views: Views, budget: Budget, view: View | None = None
) -> Layout:
    """The hits within the budget. Without `view` each hit is shown as its match deserves:

    ids and lines in full; a name that at most three entities have in full when short, else as a preview; the
    first three similar names or contents as previews; all others folded.
    """
    entities = [graph.entity(hit.node) for hit in found.hits]
    targets = [view] * len(found.hits) if view else _targets(found.hits, entities)
    pieces = [
        _forms(views, hit, target, place)
        for place, (hit, target) in enumerate(zip(found.hits, targets, strict=True), start=1)
    ]

    def footer(shown: Sequence[Shown | None]) -> str:
        missing = found.more + sum(form is None for form in shown)
        pairs = zip(shown, targets, strict=True)
        shorter = sum(form is not None and form.view != target for form, target in pairs)
        parts = [f"… {shorter} shown shorter, to fit {budget.max_tokens} tokens"] if shorter else []
        if missing:
            noun = counted(missing, "more match", "more matches")
            parts.append(f"… {noun} left out: give more exact keywords, a path or kinds")
        return "\n".join([*parts, *found.notes])

    return lay_out(pieces, budget, footer=footer)


def why(hit: Hit) -> str:
    """How it matched, for people and models: `name "add"; content "add item" 3.2`."""
    ways = []
    for match in hit.matches:
        score = "" if match.kind.exact or not match.score else f" ({match.score:.0f})"
        ways.append(f'{match.kind} "{match.keyword}"{score}')
    return "; ".join(ways)


def _targets(hits: Sequence[Hit], entities: Sequence[Entity]) -> list[View]:
    targets: list[View] = []
    whole: list[Entity] = []
    unsure = 0
    for hit, entity in zip(hits, entities, strict=True):
        target = _target(hit, entity, unsure)
        unsure += not hit.matches[0].kind.exact
        if target is View.FULL:
            if any(_holds(other, entity) for other in whole):
                target = View.FOLD  # its source is shown above already
            else:
                whole.append(entity)
        targets.append(target)
    return targets


def _target(hit: Hit, entity: Entity, unsure: int) -> View:
    kind = hit.matches[0].kind
    if entity.kind is EntityKind.DIRECTORY:
        return View.PREVIEW
    if kind in (MatchKind.ID, MatchKind.LINE):
        return View.FULL
    if kind.exact and hit.rivals <= _FEW:
        short = entity.end_line - entity.start_line < _SHORT
        return View.FULL if short and entity.kind is not EntityKind.FILE else View.PREVIEW
    return View.PREVIEW if not kind.exact and unsure < _FEW else View.FOLD


def _holds(outer: Entity, inner: Entity) -> bool:
    return (
        outer.path == inner.path and outer.start_line <= inner.start_line and inner.end_line <= outer.end_line
    )


def _forms(views: Views, hit: Hit, target: View, place: int) -> list[Form]:
    note = why(hit)
    words = _words(hit)
    made = {
        View.FOLD: Form(View.FOLD, lambda _: f"{place}. {views.fold(hit.node, note)}"),
        View.PREVIEW: Form(View.PREVIEW, lambda _: f"{place}. {views.preview(hit.node, note, words)}"),
        View.OUTLINE: Form(View.OUTLINE, lambda _: f"{place}. {views.outline(hit.node, note)}"),
        View.FULL: Form(View.FULL, lambda _: _placed(place, views.full(hit.node, note))),
    }
    order = list(View)
    levels = [
        level for level in order[: order.index(target) + 1] if level is target or level is not View.OUTLINE
    ]
    return [made[level] for level in levels]


def _placed(place: int, text: str | None) -> str | None:
    return None if text is None else f"{place}. {text}"


def _words(hit: Hit) -> Collection[str]:
    """The words to look for in the source: those of keywords that matched the content."""
    texts = [match.keyword for match in hit.matches if match.kind is MatchKind.CONTENT]
    return dict.fromkeys(word for text in texts for word in _WORD.findall(text))
