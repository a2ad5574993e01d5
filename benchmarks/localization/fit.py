"""Fit the ranker's weights on prepared rows, with cross-validation by repository.

    python -m benchmarks.localization.fit --data loc-train.jsonl --rows rows/ [--dense-rows rows/] [--write]

`--write` stores the weights with their provenance as `codeforge/localize/weights.json` (what is set by hand
there stays), and those of the ablations in `benchmarks/localization/ablations/`. Features that the training
texts can't teach are not fitted: they hold no tracebacks, failing tests, paths or qualified names.
`--dense-rows` (prepared with `--dense`; some of the tasks will do) fits what similarity in meaning weighs
beside all the others.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.localization.measure import NEVER, shown
from benchmarks.localization.rows import Rows
from benchmarks.localization.softmax import Group, fit
from benchmarks.localization.tasks import Task, read_tasks
from codeforge.localize.features import BEST, ENTITY_FEATURES, FILE_FEATURES, FILE_PLACE, FILE_SCORE
from codeforge.localize.signals import changes, failing, meaning, paths, proximity, symbols, traceback
from codeforge.localize.weights import PATH

ABLATIONS = Path(__file__).with_name("ablations")
L2 = 0.01
NAMED_SHARE = 0.3
"""What a task counts whose text names a gold file. Such tasks are easy, and a third of the training data,
where the development data has none of them."""
_SEPARATE = (
    meaning.MEANING,
    symbols.NAMED,
    traceback.TRACEBACK,
    traceback.FAILING,
    failing.CALLED,
    failing.IMPORTED,
    paths.PATH,
)
"""Set by hand, or fitted on other rows."""
GRAPH = (proximity.RANK, proximity.CALLEES, proximity.CALLERS, proximity.TESTED, proximity.SUBCLASSES)
HISTORY = (changes.RECENT, changes.SIMILAR, changes.TOGETHER, changes.SIMILAR_FUNCTION)
WITHOUT = {"lexical": (*GRAPH, *HISTORY), "graph": HISTORY}
"""The ablations: by name, what is left out."""
_FILE_SCORE, _FILE_PLACE = ENTITY_FEATURES.index(FILE_SCORE), ENTITY_FEATURES.index(FILE_PLACE)

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Example:
    """A task with its rows."""

    task: Task
    rows: Rows

    @property
    def weight(self) -> float:
        """How much it counts in the fit."""
        return NAMED_SHARE if self.task.names_a_gold_file else 1.0


@dataclass(frozen=True, slots=True)
class Model:
    """Weights by feature, 0 where it isn't used; shapes (FILE_FEATURES,), (ENTITY_FEATURES,)."""

    files: Floats
    entities: Floats


def fitted(examples: Sequence[Example], without: Sequence[str] = ()) -> Model:
    """Fit the file model, then the entity model on top of it, without these features."""
    used = _used(FILE_FEATURES, without)
    groups = [
        Group(one.rows.files[:, used], one.rows.gold_files, one.weight)
        for one in examples
        if one.rows.gold_files.any()
    ]
    files = _spread(fit(groups, L2), used)
    used = _used(ENTITY_FEATURES, without)
    groups = [
        Group(_entities(one.rows, files)[:, used], one.rows.gold_entities, one.weight)
        for one in examples
        if one.rows.gold_entities.any()
    ]
    return Model(files, _spread(fit(groups, L2), used))


def _used(names: Sequence[str], without: Sequence[str]) -> Flags:
    left_out = {*_SEPARATE, *without}
    return np.array([name.removeprefix(BEST) not in left_out for name in names], np.bool_)


def _spread(weights: Floats, used: Flags) -> Floats:
    found = np.zeros(len(used))
    found[used] = weights
    return found


def _entities(rows: Rows, files: Floats) -> NDArray[np.float32]:
    """The entities' features with the standing that this model gives their files."""
    scores = rows.files @ files
    place = np.empty(len(scores))
    place[np.argsort(-scores, kind="stable")] = 1 / (1 + np.arange(len(scores)))
    values = rows.entities.copy()
    values[:, _FILE_SCORE] = np.maximum(scores - scores.max(initial=-20), -20)[rows.file_of]
    values[:, _FILE_PLACE] = place[rows.file_of]
    return values


def ranks(examples: Sequence[Example], model: Model) -> tuple[list[int], list[int]]:
    """For each example the place of its last gold file, and of its last gold function."""
    files = [
        _worst(one.rows.files @ model.files, one.rows.gold_files, one.rows.missing[0]) for one in examples
    ]
    functions = [
        _worst(_entities(one.rows, model.files) @ model.entities, one.rows.gold_entities, one.rows.missing[1])
        for one in examples
        if one.task.gold_functions
    ]
    return files, functions


def _worst(scores: Floats, gold: Flags, missing: int) -> int:
    if missing or not gold.any():
        return NEVER
    return int(np.flatnonzero(gold[np.argsort(-scores, kind="stable")]).max()) + 1


def cross_validated(examples: Sequence[Example], without: Sequence[str] = ()) -> tuple[list[int], list[int]]:
    """The ranks of every repository by a model that was fitted on the others."""
    files: list[int] = []
    functions: list[int] = []
    for repo in sorted({one.task.repo for one in examples}):
        model = fitted([one for one in examples if one.task.repo != repo], without)
        inside, within = ranks([one for one in examples if one.task.repo == repo], model)
        print(f"  {repo:24} files {shown(inside)}   functions {shown(within)}", flush=True)
        files += inside
        functions += within
    return files, functions


def meaning_weights(examples: Sequence[Example], model: Model) -> tuple[float, float]:
    """What similarity in meaning weighs for files and for entities, beside the scores of `model`."""
    place = FILE_FEATURES.index(f"{BEST}{meaning.MEANING}")
    files = [
        Group(_two(one.rows.files @ model.files, one.rows.files[:, place]), one.rows.gold_files, one.weight)
        for one in examples
        if one.rows.gold_files.any()
    ]
    place = ENTITY_FEATURES.index(meaning.MEANING)
    entities = [
        Group(
            _two(_entities(one.rows, model.files) @ model.entities, one.rows.entities[:, place]),
            one.rows.gold_entities,
            one.weight,
        )
        for one in examples
        if one.rows.gold_entities.any()
    ]
    (score, similar), (entity_score, entity_similar) = fit(files, 1e-4), fit(entities, 1e-4)
    return float(similar / score), float(entity_similar / entity_score)


def _two(scores: Floats, similarity: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.column_stack((scores, similarity)).astype(np.float32)


def _as_data(model: Model) -> dict[str, dict[str, float]]:
    """The weights by name; those that are 0 are left out."""
    columns = (("files", FILE_FEATURES, model.files), ("entities", ENTITY_FEATURES, model.entities))
    return {
        name: {
            feature: round(float(weight), 4)
            for feature, weight in zip(features, weights, strict=True)
            if weight
        }
        for name, features, weights in columns
    }


def _provenance(examples: Sequence[Example], data: Path, figures: str, by_hand: str) -> dict[str, str]:
    repositories = len({one.task.repo for one in examples})
    return {
        "fitted_on": f"{len(examples)} tasks of {data.name} ({repositories} repositories) by "
        f"benchmarks/localization/fit.py: listwise softmax, L2 {L2} on standardised features, tasks that "
        f"name a gold file count {NAMED_SHARE}",
        "cross_validation": f"leave one repository out, all gold in the first 1/3/5/10: {figures}",
        "date": datetime.now(UTC).date().isoformat(),
        "by_hand": by_hand,
    }


def _examples(data: Path, rows: Path) -> list[Example]:
    tasks = read_tasks(data)
    pairs = ((task, rows / f"{task.id}.npz") for task in tasks)
    found = [Example(task, Rows.load(path)) for task, path in pairs if path.exists()]
    print(f"{rows}: {len(found)} of {len(tasks)} tasks are prepared")
    return found


def main() -> None:
    """Parse the arguments, fit, print, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--dense-rows", type=Path)
    parser.add_argument("--write", action="store_true", help="store the weights")
    arguments = parser.parse_args()
    examples = _examples(arguments.data, arguments.rows)
    files, functions = cross_validated(examples)
    figures = f"files {shown(files)}, functions {shown(functions)}"
    print(f"cross-validation: {figures}")
    stored = json.loads(PATH.read_text(encoding="utf-8"))
    model = fitted(examples)
    by_hand = stored["provenance"]["by_hand"]
    stored["provenance"] = _provenance(examples, arguments.data, figures, by_hand)
    stored["fitted"] = _as_data(model)
    if arguments.dense_rows:
        some = _examples(arguments.data, arguments.dense_rows)
        of_files, of_entities = meaning_weights(some, model)
        stored["dense"] = {
            "fitted_on": f"{len(some)} of the tasks, vectors of MiniLM",
            "files": {f"{BEST}{meaning.MEANING}": round(of_files, 4)},
            "entities": {meaning.MEANING: round(of_entities, 4)},
        }
    text = json.dumps(stored, indent=2) + "\n"
    if not arguments.write:
        print(text)
        return
    PATH.write_text(text, encoding="utf-8")
    ABLATIONS.mkdir(exist_ok=True)
    for name, left_out in WITHOUT.items():
        ablated = {**stored, "fitted": _as_data(fitted(examples, left_out))}
        (ABLATIONS / f"{name}.json").write_text(json.dumps(ablated, indent=2) + "\n", encoding="utf-8")
    print(f"written: {PATH}, {ABLATIONS}")


if __name__ == "__main__":
    main()
