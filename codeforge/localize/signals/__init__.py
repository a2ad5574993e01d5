"""Signals of the ranker: each module scores entities from one kind of evidence and says why."""
