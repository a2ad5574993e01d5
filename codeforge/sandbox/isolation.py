"""Which cage this machine offers, found out by trying."""

import functools
import os
import sys
from dataclasses import dataclass

from codeforge.sandbox import bubblewrap
from codeforge.sandbox.bubblewrap import BubblewrapProbe
from codeforge.sandbox.model import Isolation

SANDBOX_VARIABLE = "CODEFORGE_SANDBOX"
"""Names a weaker isolation on purpose ("landlock", "limits-only"), for repositories whose tests need it."""


@dataclass(frozen=True, slots=True)
class IsolationProbe:
    """What was tried: bubblewrap first, then the kernel's Landlock (ABI 0: there is none)."""

    bubblewrap: BubblewrapProbe
    landlock_abi: int

    @property
    def best(self) -> Isolation:
        """The strongest that works."""
        if self.bubblewrap.usable:
            return Isolation.BUBBLEWRAP
        return Isolation.LANDLOCK if self.landlock_abi > 0 else Isolation.LIMITS_ONLY


@functools.cache
def probe_isolation() -> IsolationProbe:
    """Try what there is, once a process (a few milliseconds)."""
    if not sys.platform.startswith("linux"):
        return IsolationProbe(BubblewrapProbe("", "bubblewrap needs Linux"), 0)
    from codeforge.sandbox.landlock import abi_version

    return IsolationProbe(bubblewrap.probe(), abi_version())


def available_isolation() -> Isolation:
    """The strongest isolation that works here, or the weaker one that `CODEFORGE_SANDBOX` asks for."""
    wanted = os.environ.get(SANDBOX_VARIABLE, "")
    if wanted == Isolation.LIMITS_ONLY:
        return Isolation.LIMITS_ONLY
    probed = probe_isolation()
    if wanted == Isolation.LANDLOCK and probed.landlock_abi > 0:
        return Isolation.LANDLOCK
    return probed.best


def supports_mounts(isolation: Isolation) -> bool:
    """Whether `Cage.mount_as` and `Cage.read_only_mounts` have an effect."""
    return isolation is Isolation.BUBBLEWRAP


def isolation_warning() -> str:
    """What the user must know about the cage in use; "" with bubblewrap."""
    isolation = available_isolation()
    if isolation is Isolation.BUBBLEWRAP:
        return ""
    if isolation is Isolation.LANDLOCK:
        tcp = "" if probe_isolation().landlock_abi >= 4 else "TCP, "
        return (
            f"Commands are caged by Landlock, not bubblewrap ({_why_not_bubblewrap()}): they can't write "
            f"outside the scratch tree, but {tcp}UDP and Unix sockets stay open, modes, owners and times of "
            "files can be changed, and absolute paths lead to your own tree (read-only)."
        )
    return (
        f"Commands run with limits only ({_why_not_bubblewrap()}): nothing keeps them from writing your "
        "files or using the network."
    )


def _why_not_bubblewrap() -> str:
    if os.environ.get(SANDBOX_VARIABLE):
        return f"{SANDBOX_VARIABLE} says so"
    return probe_isolation().bubblewrap.reason
