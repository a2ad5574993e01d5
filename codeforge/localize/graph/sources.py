"""The files of a tree as the resolver asks for them: their names, where modules lie, what they share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from codeforge.localize.graph.scope import Scope, scope_of
from codeforge.localize.parsers.base import FileTree, ParsedFile

_Names = frozenset[str] | None
"""Some names; `None` for all there are."""


class _Place(NamedTuple):
    """Where a file stands among those whose names are all bound in another one, and which of them are."""

    order: int
    names: _Names


def _both(one: _Names, other: _Names) -> _Names:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _gives(names: _Names, name: str) -> bool:
    return names is None or name in names


class Sources:
    """The files of one tree. They are read only when a name leads there.

    Args:
        tree: the indexed files of the repository.
        parsed: the structure of an indexed file, by path; `None` for a file that isn't indexed.
    """

    def __init__(self, tree: FileTree, parsed: Callable[[str], ParsedFile | None]) -> None:
        self._tree = tree
        self._parsed = parsed
        self._scopes: dict[str, Scope | None] = {}
        self._modules: dict[tuple[str, str], Sequence[str]] = {}
        self._folders: dict[tuple[str, str], Mapping[str, Sequence[str]]] = {}
        self._starred: dict[str, Mapping[str, _Place]] = {}
        self._holders: dict[str, list[str]] = {}
        self._held: set[str] = set()

    def scope(self, path: str) -> Scope | None:
        """The names of a file; `None` when nothing is known of it."""
        if path not in self._scopes:
            parsed = self._parsed(path)
            self._scopes[path] = scope_of(path, parsed) if parsed is not None else None
        return self._scopes[path]

    def modules(self, scope: Scope, module: str) -> Sequence[str]:
        """The files that a module name in this file means."""
        key = (scope.path, module)
        if key not in self._modules:
            self._modules[key] = scope.rules.modules(self._tree, scope.path, module)
        return self._modules[key]

    def companions(self, scope: Scope) -> Sequence[str]:
        """The other files that define what this one declares, by its own name."""
        found = self.modules(scope, scope.path.rpartition("/")[2])
        return [path for path in found if path != scope.path]

    def in_folder(self, scope: Scope, name: str) -> str | None:
        """The first other file of the same folder (or one that shares its names) and family of languages that
        defines the qualified name."""
        key = (scope.path.rpartition("/")[0], scope.family)
        if key not in self._folders:
            found: dict[str, list[str]] = {}
            inside = [path for folder in scope.rules.folders(key[0]) for path in self._tree.inside(folder)]
            for path in inside:
                other = self.scope(path)
                if other is not None and other.family == scope.family:
                    for qualname in other.ordinals:
                        found.setdefault(qualname, []).append(path)
            self._folders[key] = found
        return next((path for path in self._folders[key].get(name, ()) if path != scope.path), None)

    def starred(self, scope: Scope, name: str) -> Sequence[str]:
        """Those of the files whose names are all bound here (`import *`, `#include`), directly or through
        others, that define, make or import `name`; in the order in which they are looked into."""
        places = self._star_places(scope)
        if not places:
            return ()
        holders = [
            path
            for path in self._holders.get(name, ())
            if path in places and _gives(places[path].names, name)
        ]
        return sorted(holders, key=lambda path: places[path].order)

    def star_files(self, scope: Scope) -> Sequence[str]:
        """All of these files, in the order in which they are looked into."""
        return list(self._star_places(scope))

    def _star_places(self, scope: Scope) -> "Mapping[str, _Place]":
        if scope.path not in self._starred:
            places: dict[str, _Place] = {}
            waiting: list[tuple[str, _Names]] = []
            waiting += [(path, None) for path in self._stars(scope)][::-1]
            while waiting:
                path, asked = waiting.pop()
                other = self.scope(path) if path != scope.path else None
                if other is None:
                    continue
                given = _both(asked, other.exports)
                known = places.get(path)
                if known is not None:  # on another way more of its names may get here
                    given = None if known.names is None or given is None else known.names | given
                    if given == known.names:
                        continue
                places[path] = _Place(known.order if known else len(places), given)
                self._hold(other)
                waiting += [(inner, given) for inner in self._stars(other)][::-1]
            self._starred[scope.path] = places
        return self._starred[scope.path]

    def _stars(self, scope: Scope) -> Iterator[str]:
        for module in scope.stars:
            yield from self.modules(scope, module)

    def _hold(self, scope: Scope) -> None:
        if scope.path not in self._held:
            self._held.add(scope.path)
            own = scope.ordinals if scope.rules.namespaces("") else scope.top
            for name in {**own, **scope.variables, **scope.bindings}:
                self._holders.setdefault(name, []).append(scope.path)
