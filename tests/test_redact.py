"""Secrets are taken out; ordinary code stays."""

import json
import os
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeforge.redact import redact, redact_json

# Put together at run time, so that no scanner takes this file for a leak.
_ALNUM = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
SECRETS = {
    "anthropic-key": "sk-" + "ant-api03-" + _ALNUM[:40] + "-AA",
    "openai-key": "sk-" + "proj-" + _ALNUM[:48],
    "stripe-key": "sk_" + "live_" + _ALNUM[:24],
    "github-token": "ghp" + "_" + _ALNUM[:36],
    "gitlab-token": "glpat" + "-" + _ALNUM[:20],
    "google-key": "AIza" + "Sy" + _ALNUM[:33],
    "slack-token": "xoxb" + "-123456789012-" + _ALNUM[:24],
    "huggingface-token": "hf" + "_" + _ALNUM[:34],
    "npm-token": "npm" + "_" + _ALNUM[:36],
    "pypi-token": "pypi" + "-AgEIcHlwaS5vcmc" + _ALNUM[:60],
    "aws-access-key": "AKIA" + "ABCDEFGH2345IJKL",
    "jwt": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + _ALNUM[:43],
}
PRIVATE_KEY = "-----BEGIN RSA PRIVATE" + " KEY-----\n" + (_ALNUM[:64] + "\n") * 8


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize(
    "around", ["{}", "x = '{}'", "key={}\n", "line\\n{} end", '{{"a": "{}"}}', "--key={},"]
)
def test_known_secrets_are_taken_out(kind: str, around: str) -> None:
    text = around.format(SECRETS[kind])
    result = redact(text)
    assert SECRETS[kind] not in result
    assert f"[redacted:{kind}]" in result
    assert len(result) > len(around) - 4  # what stands around the secret stays


@pytest.mark.parametrize("ending", ["-----END RSA PRIVATE" + " KEY-----\n", ""])
def test_private_key_whole_and_cut_off(ending: str) -> None:
    result = redact(f"before\n{PRIVATE_KEY}{ending}after the key\n")
    assert _ALNUM[:64] not in result
    assert result.startswith("before\n[redacted:private-key]")
    assert result.endswith("after the key\n")


@pytest.mark.parametrize(
    ("text", "secret", "kept"),
    [
        ("postgres://admin:hunter2@db.local/x", "hunter2", "postgres://admin:"),
        ("git clone https://me:p%40ss@example.com/r.git", "p%40ss", "@example.com/r.git"),
        ("Authorization: Bearer abc123def456ghi789", "abc123def456ghi789", "Authorization: Bearer "),
        ('"Authorization": "Basic YWxhZGRpbjpvcGVu"', "YWxhZGRpbjpvcGVu", '"Authorization": "Basic '),
        ('password = "tr0ub4dor&3"', "tr0ub4dor&3", "password = "),
        ("DB_PASSWORD: 's3cr3t-Passw0rd'", "s3cr3t-Passw0rd", "DB_PASSWORD: "),
        ('{"api_key": "9f8e7d6c5b4a39281706"}', "9f8e7d6c5b4a39281706", '{"api_key": '),
        ("token: 'Zx81kLm92QpR'", "Zx81kLm92QpR", "token: "),
        ("export APP_TOKEN=9f8e7d6c5b4a3928\n", "9f8e7d6c5b4a3928", "export APP_TOKEN="),
        (
            "aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYzA1B2C3D4E5F",
            "wJalrXUtnFEMIK7MDENGbPxRfiCYzA1B2C3D4E5F",
            "aws_secret_access_key = ",
        ),
        ("X-Api-Key: 12345abcde", "12345abcde", "X-Api-Key: "),
    ],
)
def test_secrets_known_by_their_place(text: str, secret: str, kept: str) -> None:
    result = redact(text)
    assert secret not in result
    assert kept in result
    assert "[redacted:" in result


@pytest.mark.parametrize(
    "code",
    [
        "token = next(tokens)",
        "password = get_password()",
        'password = os.environ["DB_PASSWORD"]',
        'token_kind = "identifier_name"',
        'API_KEY = settings["api_key_name"]',
        'url = f"https://{user}:{password}@{host}/"',
        'url = "https://$USER:$PASSWORD@host/"',
        'headers["Authorization"] = f"Bearer {token}"',
        "Authorization: Basic authentication is required",
        "the bearer of this letter",
        'key = "name"',
        'tokens = ["a1", "b2"]',
        "sorted(items, key=lambda item: item.key)",
        ".sk-loading-spinner-animation-large { color: red }",
        "task-sk-something",
        'if "-----BEGIN PRIVATE KEY-----" in text and "-----END PRIVATE KEY-----" in text:',
        'KEY_FILE = "/etc/keys/server1.pem"',
        "pwd = '/home/user1/project2'",
        "hf_tokenizer_from_pretrained_model_name = 1",
        "secret_santa = draw(names2024)",
        "PASSWORD_MIN_LENGTH=12",
        "sha256 = '1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32'",
        "commit 5eb6f1a9c0ffee5eb6f1a9c0ffee5eb6f1a9c0ff",
    ],
)
def test_ordinary_code_is_untouched(code: str) -> None:
    assert redact(code) == code


def test_the_standard_library_is_untouched() -> None:
    """Hundreds of real modules: none is changed but the one that documents a made-up password."""
    changed = []
    for path in sorted(Path(os.__file__).parent.glob("[a-m]*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if redact(text) != text:
            changed.append(path.name)
    assert changed == []


def test_values_of_secret_looking_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_API_KEY", "open sesame now")
    monkeypatch.setenv("SHORT_TOKEN", "abc")
    monkeypatch.setenv("EDITOR_THEME", "solarized-dark")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/tmp/ssh-agent.sock")
    monkeypatch.setenv("KEYRING_SECRET", "/run/secrets/keyring")
    text = "say 'open sesame now', abc, solarized-dark, /tmp/ssh-agent.sock, /run/secrets/keyring"
    assert redact(text) == text.replace("open sesame now", "[redacted:env]")


def test_json_keeps_its_shape_and_judges_members_by_their_key() -> None:
    value = {
        "password": "hunter2hunter2",
        "note": f"key {SECRETS['github-token']}",
        "list": [1, None, True, 2.5, SECRETS["jwt"]],
        "tokens": 12,
        "token": "plain",
    }
    result = redact_json(value)
    assert result == {
        "password": "[redacted:password]",
        "note": "key [redacted:github-token]",
        "list": [1, None, True, 2.5, "[redacted:jwt]"],
        "tokens": 12,
        "token": "plain",
    }


@given(
    st.text(alphabet=st.sampled_from(string.ascii_letters + string.digits + "-_ =:'\"\n./@"), max_size=200)
)
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(
    st.sampled_from(sorted(SECRETS)),
    st.text(alphabet=" \n\t,;()[]{}\"'", max_size=20),
    st.text(alphabet=" \n\t,;()[]{}\"'", max_size=20),
)
def test_a_secret_never_survives_whatever_stands_around_it(kind: str, before: str, after: str) -> None:
    text = before + SECRETS[kind] + after
    assert redact(text) == f"{before}[redacted:{kind}]{after}"
    assert SECRETS[kind] not in json.dumps(redact_json({"a": [text]}))


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "unit",
    ["a", "sk-", "password", "TOKEN=", "key ", "-----BEGIN PRIVATE KEY-----", "http://a:", "eyJ", "A_"],
)
def test_time_grows_with_the_length_only(unit: str) -> None:
    """A quadratic pattern would need hours for this; the timeout is only there to end it."""
    assert len(redact(unit * (400_000 // len(unit)))) > 0
