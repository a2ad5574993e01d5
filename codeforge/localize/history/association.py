"""Files that change together."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from codeforge.localize.history.timeline import Timeline

MOST_FILES = 30
"""Commits that change more files say nothing of any two of them (imports, reformatting, renamed packages)."""
PRIOR = 1.0
"""Added below the line of the cosine, so that one chance meeting is weak evidence."""


def associations(timeline: "Timeline", path: int) -> "NDArray[np.float64]":
    """How strongly each file is tied to `path`: the cosine of the sets of commits that changed them, shrunk.

    Returns:
        By path's number a number from 0 to below 1, shape (paths + 1,); 0 for `path` itself.
    """
    import numpy as np

    focused = (timeline.sizes <= MOST_FILES)[timeline.ages] & (timeline.paths > 0)
    paths, ages = timeline.paths[focused], timeline.ages[focused]
    size = max(timeline.names, default=0) + 1
    with_path = np.zeros(len(timeline), bool)
    with_path[ages[paths == path]] = True
    together = np.bincount(paths[with_path[ages]], minlength=size).astype(np.float64)
    if not together[path]:
        return np.zeros(size)
    counts = np.bincount(paths, minlength=size)
    together /= np.sqrt(counts * counts[path]) + PRIOR
    together[path] = 0.0
    return together
