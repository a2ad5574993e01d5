"""Words that people use to talk about changes, whatever the code is about."""

from codeforge.localize.tokens import stem

_WORDS = """
actually add added all allow also always any avoid back because behavior behaviour break broken bug by case
cause
change changelog ci close closes com commit consider correct correctly do documentation doc docs doesn don
drop
during each ensure error even fix fixed follow get github handle http implement improve instead into
introduce issue
its just like make md merge more need new now one other out pr prevent previous previously problem properly
pull py
python ref refs related remove replace request restore see simplify since some still such support test tests
them
they those through two typo update use using via work wrong
"""
SPEECH = frozenset(stem(word) for word in _WORDS.split())
SPEECH_SHARE = 0.45
"""What such a word weighs, where a word of the matter weighs 1 (fitted by hand on the training tasks)."""
