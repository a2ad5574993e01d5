"""Landlock: the kernel's own cage for a process and its descendants, without namespaces.

Only the standard library, because the supervisor imports this before it runs a command. There are
libraries for it, but starting one costs more than these three system calls. What it can't deny: changes
of mode, owner and times of files outside the tree, UDP, and Unix sockets that have a path.
"""

import ctypes
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SYS_CREATE_RULESET, _SYS_ADD_RULE, _SYS_RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_CHAR, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8
_MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM, _REFER, _TRUNCATE = (1 << n for n in range(9, 15))

_READ = _EXECUTE | _READ_FILE | _READ_DIR
_CHANGE_TREE = _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SOCK | _MAKE_FIFO | _MAKE_SYM
_WRITE = _WRITE_FILE | _TRUNCATE | _CHANGE_TREE | _REFER
_ON_FILES = _EXECUTE | _READ_FILE | _WRITE_FILE | _TRUNCATE  # the only rights a rule for a file may have

_NET_BIND_TCP, _NET_CONNECT_TCP = 1, 2
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1, 2

# Without these hardly any program runs; none of them keeps what is written, but for shared memory,
# which multiprocessing needs.
_WRITABLE_DEVICES = (
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
    *("/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"),
)


class _RulesetAttr(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneathAttr(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def abi_version() -> int:
    """The kernel's Landlock ABI; 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(_libc().syscall(_SYS_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)))


def restrict(writable: "Sequence[str]", hidden: "Sequence[str]", *, network: bool) -> None:
    """Cage this thread and everything that it starts, for good.

    Args:
        writable: folders that may be written; everything else may be read and executed only.
        hidden: resolved paths whose contents may not even be read.
        network: whether TCP is allowed (denied from ABI 4; UDP can't be).

    Raises:
        OSError: the kernel refused.
    """
    abi = abi_version()
    if abi == 0:
        raise OSError("the kernel has no Landlock")
    libc = _libc()
    handled = _handled(abi)
    ruleset = _create_ruleset(abi, handled, network=network)
    try:
        for path, rights in _readable("/", frozenset(hidden)):
            _allow(ruleset, path, rights & handled)
        for path in (*writable, *_WRITABLE_DEVICES):
            _allow(ruleset, path, (_READ | _WRITE) & handled)
        _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(libc.syscall(_SYS_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _handled(abi: int) -> int:
    """The file-system rights that a kernel with this ABI can deny."""
    rights = _READ | _WRITE_FILE | _CHANGE_TREE | _MAKE_CHAR | _MAKE_BLOCK
    if abi >= 2:
        rights |= _REFER
    if abi >= 3:
        rights |= _TRUNCATE
    return rights


def _create_ruleset(abi: int, handled: int, *, network: bool) -> int:
    attr = _RulesetAttr(handled_access_fs=handled)
    size = 8
    if abi >= 4:
        size = 16
        attr.handled_access_net = 0 if network else _NET_BIND_TCP | _NET_CONNECT_TCP
    if abi >= 6:
        size = 24
        attr.scoped = _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS
    return _checked(_libc().syscall(_SYS_CREATE_RULESET, ctypes.byref(attr), ctypes.c_size_t(size), 0))


def _readable(root: str, hidden: frozenset[str]) -> "Iterator[tuple[str, int]]":
    """The rules that make everything below `root` readable but for `hidden`.

    Landlock only adds rights, so a folder on the way to a hidden path is opened up entry by entry.
    """
    if root in hidden:
        return
    prefix = root.rstrip("/") + "/"
    if not any(path.startswith(prefix) for path in hidden):
        yield root, _READ
        return
    yield root, _READ_DIR
    try:
        entries = [entry.path for entry in os.scandir(root) if not entry.is_symlink()]
    except OSError:
        return  # unreadable for this user anyway
    for entry in entries:
        yield from _readable(entry, hidden)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Add a rule; a path that is gone or can't be opened stays denied."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112 (pathlib is too slow to import here)
            rights &= _ON_FILES
        attr = _PathBeneathAttr(allowed_access=rights, parent_fd=handle)
        if rights:
            _checked(_libc().syscall(_SYS_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(attr), 0))
    finally:
        os.close(handle)
