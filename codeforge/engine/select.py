"""Which candidate is shown: accepted before all, then the higher reward, the more votes, the earlier."""

from collections.abc import Mapping, Sequence

from codeforge.engine.candidate import Candidate


def best_of(candidates: Sequence[Candidate], votes: Mapping[str, int]) -> Candidate | None:
    """The best candidate, or `None` of none. `votes` counts, by candidate id, the answers that led to the
    same bytes: independent samples that agree are right more often (self-consistency, Wang et al. 2022)."""
    if not candidates:
        return None
    order = {candidate.id: -place for place, candidate in enumerate(candidates)}

    def merit(candidate: Candidate) -> tuple[bool, int, float, int]:
        unchecked_votes = votes.get(candidate.id, 1) if not candidate.checks else 0
        return (
            candidate.reward.accepted,
            unchecked_votes,
            candidate.reward.total + 1e-3 * votes.get(candidate.id, 1),
            order[candidate.id],
        )

    return max(candidates, key=merit)
