"""The page of `strat open` under attack: no bytes end in a traceback, no upload outlives it, no limit gives way."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from strat.base.errors import StratError
from strat.base.limits import LIMITS, changed
from strat.show.local_page import Page, jobs, server, sources
from strat.show.local_page.jobs import Jobs


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with Page() as opened:
        yield opened


@pytest.fixture
def raised(monkeypatch: pytest.MonkeyPatch) -> list[BaseException | None]:
    """What would be a traceback on the terminal."""
    found: list[BaseException | None] = []

    def noted(*_: object) -> None:
        error = sys.exc_info()[1]
        found.extend([] if isinstance(error, ConnectionError | TimeoutError) else [error])

    monkeypatch.setattr(server.Server, "handle_error", noted)
    return found


def answer(page: Page, request: bytes) -> bytes:
    """What comes back for these bytes, after which nothing more is sent."""
    got = b""
    with (
        socket.create_connection(("127.0.0.1", page.access.port), timeout=20) as connection,
        contextlib.suppress(OSError),  # it is closed before it has read all
    ):
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(1 << 16):
            got += piece
    return got


def post(page: Page, headers: str, place: str = "api/run", body: str = "{}") -> bytes:
    host = f"127.0.0.1:{page.access.port}"
    text = f"POST /{page.access.token}/{place} HTTP/1.0\r\nHost: {host}\r\nOrigin: http://{host}\r\n{headers}\r\n\r\n"
    return (text + body).encode("latin-1")


# ---- no bytes end in a traceback

TARGETS = [
    "http://[", "http://[::1", "//[", "*", "/", "", "/%", "/%zz", "/\x00", "/é", "http://127.0.0.1/", "/?", "/?=&=&%",
    "/?job=%ff", "/?job=%00", "x" * 70_000, "/" * 3000, "\ufeff",
]  # fmt: skip
LENGTHS = ["", "2", "-1", "+2", "2, 2", "²", "1e3", "0x2", "9" * 5000, "9" * 18, "2 ", "two", "\x00", "2147483649"]
HEADERS = [
    "Host: evil", "host: {host}", "HOST: {host}", "Host {host}", ": x", "Origin: null", "origin: http://{host}", "\x00",
    "Transfer-Encoding: chunked", "Connection: \x85\x0b", "Expect: 100-continue", " folded", "A" * 70_000, "é: é",
    "Sec-Fetch-Site: \x00", "Cookie: " + "c" * 5000,
]  # fmt: skip
PLACES = ["", "api/form", "api/job", "api/run", "api/open", "api/stop", "api/upload", "report", "../x", "api/upload/.."]
QUERIES = ["", "?job=x", "?name=..", "?name=a.csv&batch=x", "?name=a&folder=" + "d/" * 9, "?name=%00", "?%", "?job=%ff"]
BODIES = [
    "", "{", "[]", "{}", '{"job": 1}', '{"path": "\\ud800"}', '{"path": {"a": 1}}', '{"batch": []}', "[" * 5000, "\xff",
    '{"source": "x", "sheet": ""}', '{"source": {}, "sheet": "a"}', '{"question": "good", "source": "x", "values": 1}',
    '{"question": []}', "1" * 5000, '{"path": "' + "x" * 9000 + '"}', '{"example": 1}', "null", "NaN",
]  # fmt: skip


def some_request(page: Page, draw: random.Random) -> bytes:
    """A request with some of it wrong."""
    host = f"127.0.0.1:{page.access.port}"
    place = draw.choice(PLACES) + draw.choice(QUERIES)
    target = draw.choice(TARGETS) if draw.random() < 0.3 else f"/{page.access.token}/{place}"
    method = draw.choice(["GET", "POST", "POST", "HEAD", "get", "", "G\x00T", "PATCH", "__class__"])
    version = draw.choice(["HTTP/1.0", "HTTP/1.1", "HTTP/0.9", "HTTP/2.0", "HTTP/x", "HTTP/1.1.1", "", "x y"])
    body = draw.choice(BODIES)
    usual = [f"Host: {host}", f"Origin: http://{host}", f"Content-Length: {len(body)}"]
    headers = [line for line in usual if draw.random() < 0.9]
    headers += [line.format(host=host) for line in draw.sample(HEADERS, draw.randrange(3))]
    headers += [f"Content-Length: {draw.choice(LENGTHS)}"] * (draw.random() < 0.3)
    draw.shuffle(headers)
    end = draw.choice(["\r\n", "\r\n", "\n"])
    text = end.join([f"{method} {target} {version}", *headers, "", body])
    request = text.encode("utf-8", "surrogatepass") if draw.random() < 0.5 else text.encode("latin-1", "replace")
    return request[: draw.randrange(len(request) + 1)] if draw.random() < 0.2 else request


def all_are_answered(page: Page, seeds: range) -> None:
    for seed in seeds:
        request = some_request(page, random.Random(seed))
        got = answer(page, request)
        assert b"Traceback" not in got, request[:200]
        if got.startswith(b"HTTP/"):
            status = int(got.split()[1])
            assert status in range(200, 600), request[:200]
            assert status != 500, request[:200]


def test_no_request_ends_in_a_traceback(page: Page, raised: list[BaseException | None]) -> None:
    all_are_answered(page, range(300))
    for target in TARGETS:  # before the secret is asked for
        answer(page, f"GET {target} HTTP/1.0\r\nHost: 127.0.0.1:{page.access.port}\r\n\r\n".encode())
    assert raised == []
    assert page.jobs.jobs == {}


@pytest.mark.slow
def test_no_request_of_very_many_ends_in_a_traceback(page: Page, raised: list[BaseException | None]) -> None:
    all_are_answered(page, range(300, 20_000))
    draw = random.Random(0)
    for _ in range(2000):
        answer(page, draw.randbytes(draw.randrange(300)) + draw.choice([b"", b"\r\n\r\n"]))
    assert raised == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ("Content-Length: 2", 400),
        ("CONTENT-LENGTH: 2", 400),
        ("Content-Length: 2\r\nContent-Length: 2", 411),
        ("Content-Length: x\r\nContent-Length: 2", 411),
        ("Content-Length: -1\r\nContent-Length: 2", 411),
        ("Content-Length: ²", 411),
        ("Content-Length: " + "9" * 5000, 413),
        ("Content-Length: 2\r\ntransfer-encoding: chunked", 411),
        ("Content-Length: 2\r\nHost: evil.example", 421),
        ("Content-Length: 2\r\nhOST: evil.example", 421),
        ("Content-Length: 2\r\norigin: http://evil.example", 403),
        ("Content-Length: 2\r\nsec-fetch-site: cross-site", 403),
    ],
)
def test_headers_are_read_once_and_by_any_case(page: Page, headers: str, status: int) -> None:
    assert answer(page, post(page, headers)).split()[1] == str(status).encode()


def test_a_page_in_lower_case_is_let_in(page: Page) -> None:
    host = f"127.0.0.1:{page.access.port}"
    assert answer(page, f"GET /{page.access.token}/ HTTP/1.0\r\nhost: {host}\r\n\r\n".encode()).split()[1] == b"200"


def test_a_file_of_a_batch_is_no_folder_of_it(page: Page, raised: list[BaseException | None]) -> None:
    sent = answer(page, post(page, "Content-Length: 1", "api/upload?name=a.csv", "x"))
    batch = json.loads(sent.partition(b"\r\n\r\n")[2])["batch"]
    for folder in ("a.csv", "a.csv/b"):
        got = answer(page, post(page, "Content-Length: 1", f"api/upload?name=b&batch={batch}&folder={folder}", "x"))
        assert b"`folder` must be no file of its batch" in got
    assert raised == []


# ---- nothing outlives the page


def test_the_page_waits_for_what_is_written_before_it_deletes(monkeypatch: pytest.MonkeyPatch) -> None:
    writes, go = threading.Event(), threading.Event()

    def slowly(target: Path, length: int, body: Any) -> None:
        writes.set()
        assert go.wait(20)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"x")

    monkeypatch.setattr(sources, "_fill", slowly)
    with Page() as page:
        host = ("127.0.0.1", page.access.port)
        connection = socket.create_connection(host, timeout=20)
        connection.sendall(post(page, "Content-Length: 1", "api/upload?name=a.csv", "x"))
        assert writes.wait(20)
        threading.Timer(0.3, go.set).start()
    connection.close()
    assert go.is_set()
    assert not page.folder.exists()


def closed_under_load(clients: int) -> Path:
    """The folder of a page that was closed while uploads were under way."""
    with Page() as page:
        host = f"127.0.0.1:{page.access.port}"

        def send() -> None:
            while True:
                try:
                    path = f"/{page.access.token}/api/upload?name=a.csv"
                    with contextlib.closing(http.client.HTTPConnection(host, timeout=20)) as connection:
                        connection.request("POST", path, b"x" * 100_000, {"Origin": f"http://{host}"})
                        connection.getresponse().read()
                except (OSError, http.client.HTTPException):
                    return

        threads = [threading.Thread(target=send) for _ in range(clients)]
        for thread in threads:
            thread.start()
        time.sleep(0.02)
    for thread in threads:
        thread.join()
    return page.folder


def test_no_upload_outlives_the_page() -> None:
    assert [folder for folder in (closed_under_load(clients) for clients in (1, 3)) if folder.exists()] == []


@pytest.mark.slow
def test_no_upload_outlives_any_of_many_pages() -> None:
    assert [folder for folder in (closed_under_load(1 + k % 8) for k in range(100)) if folder.exists()] == []


def test_an_upload_that_waits_for_more_ends_with_the_page() -> None:
    with Page() as page:
        connection = socket.create_connection(("127.0.0.1", page.access.port), timeout=20)
        connection.sendall(post(page, "Content-Length: 1000", "api/upload?name=a.csv", "x"))
        while not list(page.folder.rglob("a.csv")):
            time.sleep(0.01)
        begun = time.monotonic()
    assert time.monotonic() - begun < 5
    connection.close()
    assert not page.folder.exists()


# ---- limits


class Running:
    """A process that never ends and takes a while to start."""

    def __init__(self, **_: Any) -> None:
        self.alive = False

    def start(self) -> None:
        time.sleep(0.02)
        self.alive = True

    def is_alive(self) -> bool:
        return self.alive


def test_no_more_jobs_run_than_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "PROCESSES", type("Context", (), {"Process": Running}))
    all_jobs, refused = Jobs(tmp_path), []

    def start() -> None:
        try:
            all_jobs.start({})
        except StratError as error:
            refused.append(error)

    threads = [threading.Thread(target=start) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(all_jobs.jobs), len(refused)) == (LIMITS.page_jobs, 30 - LIMITS.page_jobs)


def test_a_reload_starts_no_job(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text("a,b\n1,2\n")
    with Page(str(table)) as page:
        host = f"127.0.0.1:{page.access.port}"
        reload = f"GET /{page.access.token}/api/form HTTP/1.0\r\nHost: {host}\r\n\r\n".encode()
        shown = {answer(page, reload).partition(b"\r\n\r\n")[2] for _ in range(8)}
        assert len(shown) == 1
        assert json.loads(shown.pop())["first"]["job"] in page.jobs.jobs
        assert len(page.jobs.jobs) == 1


@changed(page_strangers=5)
def test_strangers_that_wait_are_few_and_keep_nobody_out(page: Page) -> None:
    idle = [socket.create_connection(("127.0.0.1", page.access.port), timeout=20) for _ in range(20)]
    host = f"127.0.0.1:{page.access.port}"
    got = answer(page, f"GET /{page.access.token}/ HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
    assert got.split()[1] == b"200"
    assert all(one.recv(1) == b"" for one in idle[:14])  # they were hung up on, the first first
    assert len(page.server.connections) <= 6
    for one in idle:
        one.close()


def test_a_stranger_that_says_nothing_is_hung_up_on(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.Handler, "timeout", 0.05)
    with socket.create_connection(("127.0.0.1", page.access.port), timeout=20) as connection:
        assert connection.recv(1) == b""
