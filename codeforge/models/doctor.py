"""What `codeforge doctor` says about models."""

from codeforge.doctor_model import DoctorCheck, DoctorStatus
from codeforge.models import store
from codeforge.models.catalog import find
from codeforge.models.manage import ListedModel, list_models

_NAME = "models"


def check_models() -> list[DoctorCheck]:
    """The models that are here, what is wrong with them, and whether the chosen one can be used."""
    listed = list_models()
    checks = [_check_model(model) for model in listed if model.installed is not None]
    checks += [_check_unfinished(model) for model in listed if model.installed is None and model.pulled]
    if all(model.installed is None for model in listed):
        advice = "Run `codeforge models pull`, or name a hosted model: `--model provider/model`."
        checks.append(DoctorCheck(_NAME, DoctorStatus.WARN, "no local model is here", advice))
    missing = _missing_choice(store.active_name())
    return [*checks, missing] if missing is not None else checks


def _check_model(model: ListedModel) -> DoctorCheck:
    name, here = model.entry.name, model.installed
    if here is not None and here.problem:
        advice = f"Run `codeforge models pull {name}`; the damaged file is put aside."
        return DoctorCheck(_NAME, DoctorStatus.FAIL, f"{name} is damaged: {here.problem}", advice)
    if not model.fits:
        found = f"{name} needs {model.entry.memory / 1e9:.1f} GB of memory, more than is available"
        advice = "Close something, or use a smaller model (`codeforge models list`)."
        return DoctorCheck(_NAME, DoctorStatus.WARN, found, advice)
    state = (
        "its hash was checked" if here is not None and here.verified else "its hash is checked at first use"
    )
    return DoctorCheck(_NAME, DoctorStatus.OK, f"{name}{' (chosen)' if model.active else ''}, {state}")


def _check_unfinished(model: ListedModel) -> DoctorCheck:
    name = model.entry.name
    found = f"an unfinished pull of {name} keeps {model.pulled / 1e6:.0f} MB"
    advice = f"Run `codeforge models pull {name}` to go on, or `codeforge models rm {name}` to drop it."
    return DoctorCheck(_NAME, DoctorStatus.WARN, found, advice)


def _missing_choice(active: str) -> DoctorCheck | None:
    entry = find(active)
    if entry is None or store.model_path(entry).is_file():
        return None
    advice = f"Run `codeforge models pull {active}`, or `codeforge models use auto`."
    return DoctorCheck(_NAME, DoctorStatus.FAIL, f"the chosen model {active} is not here", advice)
