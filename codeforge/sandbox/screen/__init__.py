"""Judging many small variants of one tree quickly, before one of them is checked in full."""
