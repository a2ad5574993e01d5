"""A real llama.cpp model with random weights, a few hundred kilobytes: loads and answers in milliseconds."""

import random
import struct
from pathlib import Path

_STRING, _ARRAY, _U32, _F32, _I32 = 8, 9, 4, 6, 5
_WIDTH, _HEADS, _FEED_FORWARD, _LAYERS = 64, 4, 128, 2
_TEMPLATE = (
    "{% for message in messages %}[{{ message.role }}] {{ message.content }}\n{% endfor %}[assistant] "
)
WORDS = [f"word{i}" for i in range(40)]


def write_tiny_model(path: Path, *, context_length: int = 512, seed: int = 1) -> Path:
    """Write it to `path`. Its tokens are single bytes and `WORDS`; its answers are noise."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "\u2581", *WORDS]
    kinds = [2, 3, 3, *[6] * 256, *[1] * (len(WORDS) + 1)]
    pairs = [
        _pair("general.architecture", _STRING, _text("llama")),
        *(
            _pair(f"llama.{key}", _U32, struct.pack("<I", value))
            for key, value in {
                "context_length": context_length,
                "embedding_length": _WIDTH,
                "block_count": _LAYERS,
                "feed_forward_length": _FEED_FORWARD,
                "attention.head_count": _HEADS,
                "attention.head_count_kv": _HEADS,
                "rope.dimension_count": _WIDTH // _HEADS,
            }.items()
        ),
        _pair("llama.attention.layer_norm_rms_epsilon", _F32, struct.pack("<f", 1e-5)),
        _pair("tokenizer.ggml.model", _STRING, _text("llama")),
        _array("tokenizer.ggml.tokens", _STRING, [_text(token) for token in tokens]),
        _array("tokenizer.ggml.scores", _F32, [struct.pack("<f", -float(i)) for i in range(len(tokens))]),
        _array("tokenizer.ggml.token_type", _I32, [struct.pack("<i", kind) for kind in kinds]),
        _pair("tokenizer.ggml.bos_token_id", _U32, struct.pack("<I", 1)),
        _pair("tokenizer.ggml.eos_token_id", _U32, struct.pack("<I", 2)),
        _pair("tokenizer.chat_template", _STRING, _text(_TEMPLATE)),
    ]
    tensors = dict(_tensors(len(tokens)))
    infos, data = b"", b""
    noise = random.Random(seed)
    for name, shape in tensors.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        infos += _text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        infos += struct.pack("<IQ", 0, len(data))
        ones = name.endswith("norm.weight")
        data += struct.pack(f"<{count}f", *(1.0 if ones else noise.gauss(0, 0.3) for _ in range(count)))
        data += bytes(-len(data) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs) + infos
    path.write_bytes(head + bytes(-len(head) % 32) + data)
    return path


def _tensors(tokens: int) -> list[tuple[str, tuple[int, ...]]]:
    found: list[tuple[str, tuple[int, ...]]] = [
        ("token_embd.weight", (_WIDTH, tokens)),
        ("output_norm.weight", (_WIDTH,)),
        ("output.weight", (_WIDTH, tokens)),
    ]
    for layer in range(_LAYERS):
        found += [(f"blk.{layer}.{part}_norm.weight", (_WIDTH,)) for part in ("attn", "ffn")]
        found += [(f"blk.{layer}.attn_{part}.weight", (_WIDTH, _WIDTH)) for part in ("q", "k", "v", "output")]
        found += [(f"blk.{layer}.ffn_{part}.weight", (_WIDTH, _FEED_FORWARD)) for part in ("gate", "up")]
        found.append((f"blk.{layer}.ffn_down.weight", (_FEED_FORWARD, _WIDTH)))
    return found


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def _pair(key: str, kind: int, value: bytes) -> bytes:
    return _text(key) + struct.pack("<I", kind) + value


def _array(key: str, kind: int, values: list[bytes]) -> bytes:
    return _pair(key, _ARRAY, struct.pack("<IQ", kind, len(values)) + b"".join(values))
