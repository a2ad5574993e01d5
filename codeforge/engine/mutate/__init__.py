"""Candidate edits that need no model: mutations of suspicious lines, ranked."""

from codeforge.engine.mutate.model import Mutation, MutationHints
from codeforge.engine.mutate.mutate import mutate

__all__ = ["Mutation", "MutationHints", "mutate"]
