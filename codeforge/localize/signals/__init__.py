"""Signals: each says, in columns over the nodes, where an issue may live."""
