"""Files and modules that the text names, and words of paths."""

from collections import Counter
from math import log

from codeforge.localize.resolve import files_for_module, files_for_path
from codeforge.localize.signals.board import Board, relative
from codeforge.localize.signals.symbols import SYMBOL
from codeforge.localize.tokens import words_in

PATH, PATH_WORDS, NAME_WORDS = "path", "path_words", "file_name_words"
_MOST_PLACES = 8


def score(board: Board) -> None:
    """A path or module that fits one file weighs fully; one that fits several is shared out."""
    snapshot = board.index.snapshot
    for written in board.mentions.paths:
        _name(board, files_for_path(snapshot, written), written)
    for dotted in board.mentions.dotted:
        files, rest = files_for_module(snapshot, dotted)
        known = len(dotted.split(".")) - (len(rest.split(".")) if rest else 0)
        if known >= 2:  # one word alone (`json.loads`) is a module only by accident
            _name(board, files, dotted)
            for path in files if rest else ():
                node = board.graph.find(f"{path}:{rest}")
                if node is not None:
                    board.raise_to(SYMBOL, node, 1.25 / len(files), f"`{dotted}` is named")
    _words(board)


def _name(board: Board, files: list[str], written: str) -> None:
    if not files or len(files) > _MOST_PLACES:
        return
    for path in files:
        node = board.graph.files.get(path)
        if node is not None:
            board.raise_to(PATH, node, 1.0 / len(files), f"{written} is named")
            if len(files) == 1:
                board.named.add(node)


def _words(board: Board) -> None:
    """How much of the text the words of a path hold, each word by its rarity in paths; the same for the file
    name alone, as a share of the name."""
    import numpy as np

    wanted = board.mentions.words
    names = [board.rows.paths[block] for block in board.rows.block[board.files].tolist()]
    folders: dict[str, frozenset[str]] = {}
    own: list[frozenset[str]] = []
    every: list[frozenset[str]] = []
    for path in names:
        folder, _, name = path.rpartition("/")
        if folder not in folders:
            folders[folder] = words_in(folder)
        words = words_in(name.rpartition(".")[0] or name)
        own.append(words)
        every.append(words | folders[folder])
    frequency = Counter(word for words in every for word in words)
    gain = {word: log(1 + len(names) / count) for word, count in frequency.items()}
    shares = np.zeros(len(board.rows), np.float32)
    parts = np.zeros(len(board.rows), np.float32)
    for node, words, name_words in zip(board.files.tolist(), every, own, strict=True):
        hit = wanted.keys() & words
        if hit:
            shares[node] = sum(gain[word] * wanted[word] for word in hit)
            board.details[PATH_WORDS, node] = f"path has {board.mentions.spelled(sorted(hit)[:4])}"
            total = sum(gain[word] for word in name_words)
            named = wanted.keys() & name_words
            parts[node] = sum(gain[word] for word in named) / total if named else 0.0
    board.nodes[PATH_WORDS] = relative(shares)
    board.nodes[NAME_WORDS] = parts
