"""Which model and how many threads suit this machine.

A model is usable when it generates at least 8 tokens a second: a fix with eight calls of 300 tokens then
takes five minutes. Until it has run here its speed is estimated: one core of a small machine reads about 22
billion weights a second at 4 bits (measured: 1.5B at 14 to 19 tokens/s on one thread), and more cores help
less and less because they share the memory bus.
"""

import math

from codeforge.errors import EnvironmentUnavailableError
from codeforge.models import machine, store
from codeforge.models.catalog import CatalogEntry, entries

USABLE_TOKENS_PER_S = 8.0
"""What a model that is to be fetched should reach here, by estimate on an idle machine."""
TOLERABLE_TOKENS_PER_S = 3.0
"""What a model that is here already must reach: a measurement on a busy machine is often far too low."""
_BILLION_WEIGHTS_PER_CORE_S = 22.0
_CORE_EXPONENT = 0.7
_MOST_DECODE_THREADS = 8


def threads() -> tuple[int, int]:
    """Threads for a model, for one token and for prompts: the cores that are free now, at least 1.

    More threads than free cores wait for each other and collapse to a tenth of the speed of one thread, so
    codeforge runs no test command while a model generates. One token is bound by memory, which a few cores
    use up; a prompt is bound by arithmetic, which every core speeds up.
    """
    free = max(1, machine.usable_cores() - round(machine.busy_cores()))
    return min(free, _MOST_DECODE_THREADS), free


def estimated_speed(entry: CatalogEntry, cores: int) -> float:
    """Tokens/s expected of `entry` on `cores` threads."""
    return _BILLION_WEIGHTS_PER_CORE_S / entry.active_parameters * math.pow(max(1, cores), _CORE_EXPONENT)


def expected_speed(entry: CatalogEntry) -> float:
    """Tokens/s: measured on this machine where the model has run, else estimated for an idle machine."""
    path = store.model_path(entry)
    if path.is_file():
        measured = store.measured_speed(store.fingerprint(path).sha256)
        if measured is not None:
            return measured
    cores = machine.usable_cores()
    return estimated_speed(entry, cores)


def fits(entry: CatalogEntry, memory: int | None = None) -> bool:
    """Whether the model fits in the memory that is available now (or in `memory` bytes)."""
    return entry.memory <= (machine.available_memory() if memory is None else memory)


def default_model() -> CatalogEntry:
    """The largest model here that is whole, fits in memory and is fast enough; else the smallest that fits.

    Raises:
        EnvironmentUnavailableError: there is none.
    """
    here = [found.entry for found in store.installed()]
    whole = [entry for entry in here if store.is_verified(entry)]
    if not whole:
        if here:
            store.verify(here[-1])  # says what is wrong with it
        raise EnvironmentUnavailableError(
            "There is no local model yet.",
            hint="run `codeforge models pull`, or name a hosted one: `--model provider/model`",
        )
    memory = machine.available_memory()
    fitting = [entry for entry in whole if fits(entry, memory)]
    if not fitting:
        smallest = whole[0]
        raise EnvironmentUnavailableError(
            f"{smallest.name} needs {smallest.memory / 1e9:.1f} GB of memory, "
            f"but {memory / 1e9:.1f} GB are available.",
            hint="close something, pull a smaller model (`codeforge models list`), or use a hosted one",
        )
    usable = [entry for entry in fitting if expected_speed(entry) >= TOLERABLE_TOKENS_PER_S]
    return usable[-1] if usable else fitting[0]


def pull_candidates() -> list[CatalogEntry]:
    """What to pull when nothing was named: what suits the machine, best first, then smaller ones.

    A model whose licence restricts use is never chosen unasked.
    """
    memory = machine.available_memory()
    free = [entry for entry in entries() if entry.free_to_use]
    suited = [entry for entry in free if fits(entry, memory) and expected_speed(entry) >= USABLE_TOKENS_PER_S]
    return list(reversed(suited)) or free[:1]


def recommend_pull() -> CatalogEntry:
    """The model that suits this machine best."""
    return pull_candidates()[0]
