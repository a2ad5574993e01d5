"""Fixtures of the engine's tests."""

from pathlib import Path

import pytest

from tests.engine.samples import CALC, TEST_CALC


@pytest.fixture
def broken(repository) -> Path:
    """A repository with one defect, two failing tests and one that passes."""
    return repository({"calc.py": CALC, "test_calc.py": TEST_CALC})
