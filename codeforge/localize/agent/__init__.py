"""Agents that find where an issue lives: with the graph tools (`ToolAgent`), or by choosing among what the
ranker found (`ChoosingAgent`). `locate_with_agent` runs one as a recorded session."""
