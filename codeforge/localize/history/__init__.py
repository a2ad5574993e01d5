"""The history of a repository as evidence: what changes often, together, or for reasons like these."""
