"""`History`: what the commits that HEAD reaches say about its files."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import log
from pathlib import Path
from typing import TYPE_CHECKING

from codeforge.errors import CodeforgeError
from codeforge.git import GitRepo
from codeforge.localize.history import timeline as timelines
from codeforge.localize.history.association import MOST_FILES, associations
from codeforge.localize.history.commits import Commits
from codeforge.localize.history.hunks import MARKER, touched
from codeforge.localize.history.messages import frequencies, similarity
from codeforge.localize.history.refresh import Span, read_timeline

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from codeforge.localize.history.timeline import Timeline

MOST_COMMITS = 5000
HALF_LIFE = 100.0
"""After so many further commits a change counts half as recent."""
SIMILAR_HALF_LIFE = 2000.0
"""After so many further commits a similar commit has half a vote."""
VOTERS = 100
SHOWN_COMMITS = 20
# The half-lives, the voters and the square of the similarity were chosen by hand on samples of
# shared/bench/loc-train.jsonl (every third and fourth task), by the mean reciprocal rank of the first gold
# file.
# They are flat there: between 50 and 400, 1000 and 3000, 50 and 300, the first to the third power.

_ATTRIBUTES = Path(__file__).with_name("attributes")


class History:
    """An answer to every question holds for the HEAD that was there when it was opened.

    Paths are those of HEAD: changes made before a rename count for the new name; files that HEAD lacks are
    left out. All is in memory: no file and no process stays open. Ties are in the order of paths or ages.

    Attributes:
        notices: what the user should know about how it was opened.
    """

    def __init__(
        self, timeline: "Timeline", commits: Commits | None = None, notices: Sequence[str] = ()
    ) -> None:
        self.notices = tuple(notices)
        self._timeline = timeline
        self._commits = commits

    @classmethod
    def open(cls, root: Path, *, most_commits: int = MOST_COMMITS, repo: GitRepo | None = None) -> "History":
        """Read the history of the repository at `root`; without one it is empty, and a notice says why.

        Args:
            root: the top of a working tree. Commits are kept in its `.codeforge/index/history.db`.
            most_commits: how far back to read; merges don't count.
            repo: the repository at `root` if the caller has it, which saves a process.
        """
        try:
            return cls._open(root, most_commits, repo or GitRepo.discover(root))
        except CodeforgeError as error:
            return cls(timelines.empty(), notices=(f"git history isn't used: {error.message}",))

    @classmethod
    def _open(cls, root: Path, most_commits: int, repo: GitRepo) -> "History":
        if repo.root != root.resolve():
            why = f"{root} is a folder inside the repository {repo.root}, not its top"
            return cls(timelines.empty(), notices=(f"git history isn't used: {why}.",))
        commits = Commits(repo)
        span = Span(commits.head(), most_commits, commits.boundary())
        timeline, notices = read_timeline(root, commits, span)
        if span.boundary:
            notices = (*notices, f"the clone is shallow: its history ends after {len(timeline)} commits")
        return cls(timeline, commits, notices)

    def __len__(self) -> int:
        """How many commits were read."""
        return len(self._timeline)

    def subject(self, sha: str) -> str:
        """The first line of a commit's message.

        Raises:
            KeyError: HEAD doesn't reach it, or not within `most_commits`.
        """
        age = self._ages[sha]
        return self._timeline.subjects[age]

    def change_count(self, path: str) -> int:
        """How many commits changed a file."""
        return int(self._counts[self._numbers.get(path, 0)])

    def last_changed(self, path: str) -> int | None:
        """How many commits ago a file was changed last: 0 is the newest commit; `None`: none did."""
        number = self._numbers.get(path)
        found = self._timeline.ages[self._timeline.paths == number].tolist() if number else []
        return int(found[0]) if found else None

    def recency(self, half_life: float = HALF_LIFE) -> Mapping[str, float]:
        """How much each file was changed of late: the sum of 0.5 ** (age / half_life) over its changes.

        Args:
            half_life: in commits.
        """
        import numpy as np

        weights = self._decay(half_life)[self._timeline.ages]
        sums = np.bincount(self._timeline.paths, weights=weights, minlength=self._size)
        return self._by_path(sums.astype(np.float64))

    def cochanged(self, path: str, limit: int = 10) -> Sequence[tuple[str, float]]:
        """The files that changed together with a file, strongest first.

        Returns:
            Paths with an association from above 0 to below 1 (`associations`).
        """
        number = self._numbers.get(path)
        if number is None:
            return []
        return list(self._by_path(associations(self._timeline, number), limit).items())

    def word_rarity(self, words: Iterable[str]) -> Mapping[str, float]:
        """How rarely the messages of commits say each word: its inverse document frequency as a share of the
        greatest, from above 0 to 1. Words that no message has are the rarest; without history all are."""
        commits = len(self)
        frequency = frequencies(self._timeline)
        most = log(1 + (commits + 0.5) / 0.5)
        found = {}
        for word in words:
            number = self._timeline.vocabulary.get(word)
            count = int(frequency[number]) if number is not None and number < len(frequency) else 0
            found[word] = log(1 + (commits - count + 0.5) / (count + 0.5)) / most
        return found

    def similar_commits(self, text: str, limit: int = 10) -> Sequence[tuple[str, float]]:
        """The commits whose messages are most like `text`, best first.

        Returns:
            Ids with a similarity from above 0 to below 1 (`similarity`).
        """
        return [(self._timeline.shas[age], score) for age, score in self._similar(text, limit)]

    def files_of_similar(
        self, text: str, limit: int = 50, *, commits: int = VOTERS, half_life: float = SIMILAR_HALF_LIFE
    ) -> Mapping[str, float]:
        """The files that the commits most like `text` changed, strongest first.

        A commit's vote is the square of its similarity, less for old ones and for those with many files; a
        file that half of all commits change gains little from one (inverse document frequency). Commits that
        change more than `MOST_FILES` files have no vote.

        Args:
            limit: how many files.
            commits: how many commits vote.
            half_life: in commits.
        """
        import numpy as np

        votes = np.zeros(len(self))
        for age, vote in self._votes(text, commits, half_life).items():
            votes[age] = vote / self._timeline.sizes[age] ** 0.5
        scores = np.bincount(self._timeline.paths, weights=votes[self._timeline.ages], minlength=self._size)
        return self._by_path(scores * self._rarity, limit)

    def functions_of_similar(
        self, text: str, *, commits: int = SHOWN_COMMITS, half_life: float = SIMILAR_HALF_LIFE
    ) -> Mapping[tuple[str, str], float]:
        """The functions that the commits most like `text` touched, strongest first; one git process.

        Returns:
            By path and the line that starts the function (`def total(self):`), as it was then, the sum of the
            commits' votes as in `files_of_similar`, but not less for many files. Commits whose contents a
            partial clone lacks are left out.
        """
        if self._commits is None:
            return {}
        votes = self._votes(text, commits, half_life)
        ages = {self._timeline.shas[age]: age for age in votes}
        now = {sha: self._paths_of(age) for sha, age in ages.items()}
        found: dict[tuple[str, str], float] = {}
        patches = self._commits.patches(list(ages), MARKER, str(_ATTRIBUTES))
        for sha, path, function in dict.fromkeys(touched(patches)):
            if path in now[sha]:
                key = (now[sha][path], function)
                rarity = float(self._rarity[self._numbers[key[0]]])
                found[key] = found.get(key, 0.0) + votes[ages[sha]] * rarity
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def _similar(self, text: str, limit: int) -> list[tuple[int, float]]:
        """The ages and similarities of the commits most like `text`, best first, newest first where equal."""
        import numpy as np

        scores = similarity(self._timeline, text)
        order = np.argsort(-scores, kind="stable")[:limit]
        return [(int(age), float(scores[age])) for age in order if scores[age] > 0]

    def _votes(self, text: str, commits: int, half_life: float) -> dict[int, float]:
        """By age the votes of the commits most like `text`; none where no files or too many were changed."""
        sizes, decay = self._timeline.sizes, self._decay(half_life)
        return {
            age: score**2 * float(decay[age])
            for age, score in self._similar(text, commits)
            if 0 < sizes[age] <= MOST_FILES
        }

    def _decay(self, half_life: float) -> "NDArray[np.float64]":
        import numpy as np

        return np.asarray(0.5 ** (np.arange(len(self)) / half_life))

    def _by_path(self, scores: "NDArray[np.float64]", limit: int | None = None) -> dict[str, float]:
        """The files with a score above 0, best first."""
        import numpy as np

        names = self._timeline.names
        found = [
            (names[int(number)], float(scores[number])) for number in np.flatnonzero(scores > 0) if number
        ]
        return dict(sorted(found, key=lambda item: (-item[1], item[0]))[:limit])

    def _paths_of(self, age: int) -> dict[str, str]:
        """By the path that a commit gives a changed file the one in HEAD."""
        import numpy as np

        line = self._timeline
        start, end = np.searchsorted(line.ages, [age, age + 1])
        pairs = zip(line.names_then[start:end].tolist(), line.paths[start:end].tolist(), strict=True)
        return {line.names[then]: line.names[now] for then, now in pairs if now}

    @cached_property
    def _size(self) -> int:
        return max(self._timeline.names, default=0) + 1

    @cached_property
    def _counts(self) -> "NDArray[np.float64]":
        """By path's number how many commits changed it; 0 for no file."""
        import numpy as np

        counts = np.bincount(self._timeline.paths, minlength=self._size).astype(np.float64)
        counts[0] = 0
        return counts

    @cached_property
    def _rarity(self) -> "NDArray[np.float64]":
        """By path's number its inverse document frequency, as a share of the greatest."""
        import numpy as np

        return np.asarray(np.log((2 + len(self)) / (1 + self._counts)) / np.log(2 + len(self)))

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {path: number for number, path in self._timeline.names.items()}

    @cached_property
    def _ages(self) -> Mapping[str, int]:
        return {sha: age for age, sha in enumerate(self._timeline.shas)}
