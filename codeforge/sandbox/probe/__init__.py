"""The test probe: why tests fail, seen from inside the user's own pytest."""

from codeforge.sandbox.probe.command import is_pytest_command, join_env, plugin_folder, probe_env
from codeforge.sandbox.probe.model import FailureDetail, Frame, ObservedTypes, ProbeReport
from codeforge.sandbox.probe.read import read_probe
from codeforge.sandbox.probe.render import render_failure
from codeforge.sandbox.probe.spectrum import suspicions

__all__ = [
    "FailureDetail",
    "Frame",
    "ObservedTypes",
    "ProbeReport",
    "is_pytest_command",
    "join_env",
    "plugin_folder",
    "probe_env",
    "read_probe",
    "render_failure",
    "suspicions",
]
