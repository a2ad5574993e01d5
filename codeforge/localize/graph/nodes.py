"""The nodes of the graph in columns.

A file's nodes are one block: the file, then its entities in source order, so that an entity is
(file's first node + ordinal). Blocks of files that changed are struck out and new ones appended; numbers are
never used twice within one index.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

from codeforge.localize.model import EntityKind
from codeforge.localize.parsers.base import ParsedFile
from codeforge.localize.roles import FileRole, role_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Bytes = NDArray[np.uint8]
    Keys = NDArray[np.uint32]
    Flags = NDArray[np.bool_]

KINDS = (EntityKind.DIRECTORY, EntityKind.FILE, EntityKind.CLASS, EntityKind.FUNCTION)
ROLES = tuple(FileRole)
_KIND_NUMBER = {kind: number for number, kind in enumerate(KINDS)}
_ROLE_NUMBER = {role: number for number, role in enumerate(ROLES)}
DIRECTORY, FILE, CLASS, FUNCTION = range(4)


@dataclass(frozen=True, slots=True)
class Nodes:
    """Columns of equal length, one row a node.

    Attributes:
        paths: by block number, the file or the directory (`""` is the root).
        first: by block number, its first node; a directory is a block of one node.
        block: the block of a node.
        kind: as a place in `KINDS`.
        parent: what contains the node; -1 for the root.
        start, end: 1-based lines, inclusive; 0 for directories.
        names: qualified names; the path for files and directories.
        signatures: headers of entities; "" for others.
        role: of its file, as a place in `ROLES`.
        key: `name_key` of the name of an entity; 0 for others.
        alive: whether the node is still there.
    """

    paths: Sequence[str]
    first: "Ints"
    block: "Ints"
    kind: "Bytes"
    parent: "Ints"
    start: "Ints"
    end: "Ints"
    names: Sequence[str]
    signatures: Sequence[str]
    role: "Bytes"
    key: "Keys"
    alive: "Flags"

    def __len__(self) -> int:
        return len(self.kind)

    def named(self, name: str) -> list[int]:
        """The entities whose last name part is `name`, ignoring case; in order of the nodes."""
        import numpy as np

        lower = name.lower()
        found = np.flatnonzero((self.key == name_key(lower)) & self.alive).tolist()
        return [node for node in found if last_part(self.names[node]).lower() == lower]


def last_part(qualname: str) -> str:
    """`Class.method` → `method`."""
    return qualname[qualname.rfind(".") + 1 :]


def name_key(name: str) -> int:
    """A number by which a name is found in a column; two names may share one, none has 0."""
    return crc32(name.lower().encode("utf-8", "surrogatepass")) or 1


class _Columns:
    """Nodes being listed."""

    def __init__(self, node: int, block: int) -> None:
        self._offset, self._blocks = node, block
        self.paths: list[str] = []
        self.first: list[int] = []
        self.rows: list[tuple[int, int, int, int, int, int]] = []
        self.names: list[str] = []
        self.signatures: list[str] = []

    def add_block(self, path: str, kind: int, parent: int, lines: int) -> int:
        """Begin a block; its first node."""
        node = self._offset + len(self.rows)
        role = _ROLE_NUMBER[role_of(path)] if kind == FILE else 0
        self.first.append(node)
        self.paths.append(path)
        block = self._blocks + len(self.paths) - 1
        self.rows.append((block, kind, parent, int(kind == FILE), lines, role))
        self.names.append(path)
        self.signatures.append("")
        return node

    def add_entities(self, node: int, parsed: ParsedFile) -> None:
        """The entities of the file whose node is `node`."""
        block, role = self._blocks + len(self.paths) - 1, self.rows[-1][5]
        for entity in parsed.entities:
            number = _KIND_NUMBER[entity.kind]
            self.rows.append((block, number, node + entity.parent, entity.start_line, entity.end_line, role))
            self.names.append(entity.qualname)
            self.signatures.append(entity.signature)

    def nodes(self) -> Nodes:
        """The columns as arrays."""
        import numpy as np

        table = np.array(self.rows, dtype=np.int32).reshape(-1, 6)
        kinds = table[:, 1].tolist()
        keys = [
            name_key(last_part(name)) if kind >= CLASS else 0
            for name, kind in zip(self.names, kinds, strict=True)
        ]
        return Nodes(
            self.paths,
            np.array(self.first, dtype=np.int32),
            table[:, 0].copy(),
            table[:, 1].astype(np.uint8),
            table[:, 2].copy(),
            table[:, 3].copy(),
            table[:, 4].copy(),
            self.names,
            self.signatures,
            table[:, 5].astype(np.uint8),
            np.array(keys, dtype=np.uint32),
            np.ones(len(table), dtype=np.bool_),
        )


def nodes_of(
    paths: Iterable[str],
    parsed: Callable[[str], ParsedFile],
    *,
    offset: tuple[int, int] = (0, 0),
    directories: Mapping[str, int] | None = None,
) -> Nodes:
    """List the nodes of files and of the directories above them; the root is there without any file.

    Args:
        paths: the files, sorted.
        parsed: their structure.
        offset: the numbers of the first node and of the first block.
        directories: the nodes of directories that are listed already.
    """
    columns = _Columns(*offset)
    known = dict(directories or {})
    listed = list(paths)
    _add_directories(columns, known, "")
    for path in listed:
        _add_directories(columns, known, path.rpartition("/")[0])
    for path in listed:
        structure = parsed(path)
        node = columns.add_block(path, FILE, known[path.rpartition("/")[0]], structure.lines)
        columns.add_entities(node, structure)
    return columns.nodes()


def _add_directories(columns: _Columns, known: dict[str, int], folder: str) -> None:
    if folder in known:
        return
    above = folder.rpartition("/")[0]
    if folder:
        _add_directories(columns, known, above)
    known[folder] = columns.add_block(folder, DIRECTORY, known[above] if folder else -1, 0)


def joined(old: Nodes, new: Nodes, alive: "Flags") -> Nodes:
    """`new` appended to `old`, of which only `alive` is still there."""
    import numpy as np

    columns = ("first", "block", "kind", "parent", "start", "end", "role", "key")
    arrays = {name: np.concatenate((getattr(old, name), getattr(new, name))) for name in columns}
    return Nodes(
        paths=[*old.paths, *new.paths],
        names=[*old.names, *new.names],
        signatures=[*old.signatures, *new.signatures],
        alive=np.concatenate((alive, new.alive)),
        **arrays,
    )
