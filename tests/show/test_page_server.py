"""The page of `strat open` over HTTP: refusals, uploads, answers equal to the command's and the call's, and its end."""

from __future__ import annotations

import http.client
import json
import os
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import strat
from strat.cli import main
from strat.datasets.example import example_path
from strat.show.local_page import Page
from strat.show.local_page.work import answered
from systems import POSIX


class Client:
    """Requests as the page's own script sends them, unless told otherwise."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.host = f"127.0.0.1:{page.access.port}"

    def __call__(self, place: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self.host, timeout=30)
        raw = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        own = {} if body is None else {"Origin": f"http://{self.host}"}
        path = f"/{self.page.access.token}/{place}"
        connection.request("GET" if body is None else "POST", path, raw, own | headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        kind = answer.headers["Content-Type"]
        return answer.status, json.loads(data) if kind.startswith("application/json") else data.decode()

    def wait(self, job: str) -> Any:
        for _ in range(600):
            _, state = self(f"api/job?job={job}")
            if state["state"] != "running":
                return state
            time.sleep(0.1)
        raise AssertionError("the job did not end")


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with Page() as opened:
        yield opened


@pytest.fixture(scope="module")
def client(page: Page) -> Client:
    return Client(page)


def test_it_listens_on_the_loopback_address_only(page: Page) -> None:
    assert page.server.server_address[0] == "127.0.0.1"


@POSIX
def test_its_folder_and_its_doorway_are_private(page: Page) -> None:
    assert stat.S_IMODE(page.folder.stat().st_mode) == 0o700
    doorway = page.doorway()
    assert stat.S_IMODE(doorway.stat().st_mode) & 0o077 == 0
    assert page.access.token in doorway.read_text()
    assert page.access.token not in str(doorway)


def test_the_rules_are_asked_before_anything(client: Client) -> None:
    assert client("", Host="evil.example")[0] == 421
    assert client("api/open", {"example": True}, Origin="http://evil.example")[0] == 403
    assert client("api/open", {"example": True}, **{"Sec-Fetch-Site": "cross-site"})[0] == 403
    assert client("")[0] == 200
    stranger = Client(client.page)
    connection = http.client.HTTPConnection(stranger.host)
    connection.request("GET", "/api/form")
    answer = connection.getresponse()
    assert answer.status == 403
    assert client.page.access.token not in answer.read().decode()
    assert client.page.jobs.jobs == {}  # nothing was begun by any of them


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "HEAD"])
def test_other_methods(client: Client, method: str) -> None:
    connection = http.client.HTTPConnection(client.host)
    connection.request(method, f"/{client.page.access.token}/")
    answer = connection.getresponse()
    assert answer.status in (405, 501)
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize(
    ("place", "body", "status", "message"),
    [
        ("api/run", b"[", 400, "must be a JSON object"),
        ("api/run", b"[1]", 400, "must be a JSON object"),
        ("api/run", {"question": "worst"}, 400, "`question` must be one of the page's"),
        ("api/run", {"question": "good", "source": "x"}, 400, "`source` must be a table that this page opened"),
        ("api/stop", {"job": "../x"}, 400, "`job` must be one that this page started"),
        ("api/stop", {"job": 3}, 400, "`job` must be text, got int"),
        ("api/open", {"path": "nothing.csv"}, 400, "`path` must name a file or a folder"),
        ("api/nothing", {}, 404, "nothing at this address"),
        ("api/upload?name=..", b"x", 400, "`name` must be the name of a file"),
        ("api/upload?name=a.csv&batch=../..", b"x", 400, "`batch` must be one"),
        ("../page.css", None, 404, "nothing at this address"),
        ("server.py", None, 404, "nothing at this address"),
        ("report?job=x", None, 400, "`job` must be one"),
    ],
)
def test_refusals(client: Client, place: str, body: Any, status: int, message: str) -> None:
    code, answer = client(place, body)
    assert code == status
    assert message in answer["error"]["message"]


def test_what_is_too_long_is_not_read(client: Client) -> None:
    for place, length, status in (("api/run", 2 << 20, 413), ("api/upload?name=a.csv", 3 << 30, 400)):
        connection = http.client.HTTPConnection(client.host, timeout=30)
        connection.putrequest("POST", f"/{client.page.access.token}/{place}")
        connection.putheader("Origin", f"http://{client.host}")
        connection.putheader("Content-Length", str(length))
        connection.endheaders()
        assert connection.getresponse().status == status


def test_a_table_is_uploaded_looked_at_and_answered(client: Client) -> None:
    _, sent = client("api/upload?name=..%2Fmine.csv", example_path().read_bytes())
    _, opened = client("api/open", {"batch": sent["batch"]})
    assert opened["name"] == "mine.csv"
    seen = client.wait(opened["job"])["result"]
    assert seen["rows"] == 1185
    roles = {column["name"]: column["role"] for column in seen["columns"]}
    assert (roles["label"], roles["guess"], roles["passage"]) == ("truth", "predicted", "units")
    values = {"truth": "label", "predicted": "guess", "units": "passage", "strata": "subject"}
    _, started = client("api/run", {"source": opened["source"], "question": "good", "values": values})
    done = client.wait(started["job"])
    assert done["state"] == "done"
    assert done["result"]["command"].startswith("strat evaluate mine.csv --truth label")
    status, report = client(f"report?job={started['job']}")
    assert status == 200
    assert "default-src 'none'" in report
    assert str(client.page.folder) not in report  # the name of the file, not where our copy is
    _, wrong = client(
        "api/run", {"source": opened["source"], "question": "good", "values": values | {"truth": "lable"}}
    )
    error = client.wait(wrong["job"])["error"]
    assert error["field"] == "truth"
    assert "did you mean 'label'" in error["message"]
    assert str(client.page.folder) not in error["message"]


def test_work_can_be_stopped(client: Client) -> None:
    _, opened = client("api/open", {"example": True})
    client.wait(opened["job"])
    values = {"truth": "label", "predicted": "guess", "units": "passage", "trials": "500000"}
    _, started = client("api/run", {"source": opened["source"], "question": "hold", "values": values})
    job = client.page.jobs[started["job"]]
    assert client(f"api/job?job={started['job']}")[1]["state"] == "running"
    begun = time.monotonic()
    assert client("api/stop", {"job": started["job"]})[1]["state"] == "stopped"
    assert time.monotonic() - begun < 10
    assert not job.process.is_alive()


# ---- the answers are those of the command and of the call

ROLES = {"truth": "label", "predicted": "guess", "units": "passage"}
CASES = {
    "good": ROLES | {"strata": "subject", "metrics": "accuracy, f1", "positive": "supported"},
    "better": ROLES | {"predicted": ["guess", "baseline"], "level": "0.9"},
    "group": ROLES | {"by": ["subject"], "metrics": "accuracy"},
    "hold": ROLES | {"trials": "50", "metrics": "accuracy"},
    "plan": ROLES | {"width": "0.04"},
}


@pytest.mark.parametrize("question", CASES)
def test_the_command_and_the_call_say_the_same(
    question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_bytes(example_path().read_bytes())
    answer = answered("mine.csv", question, CASES[question])
    program, *words = shlex.split(answer.command)
    assert program == "strat"
    with pytest.raises(SystemExit) as end:
        main(words)
    assert not end.value.code
    printed = capsys.readouterr().out
    called = eval(answer.call, {"strat": strat})
    first = called[0] if question == "hold" else called
    assert str(first) in answer.text
    numbers = [word for word in answer.text.split() if word.replace(".", "").isdigit()][:40]
    assert numbers
    assert [number for number in numbers if number not in printed.split()] == []


def test_logs_of_one_system_and_of_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    for model, wrong in (("new", 5), ("old", 3)):
        samples = [
            {"id": k, "epoch": 1, "scores": {"match": {"value": "I" if k % wrong == 0 else "C"}}, "metadata": {}}
            for k in range(60)
        ]
        log = {
            "version": 2, "status": "success",
            "eval": {"task": "claims", "model": model, "created": "2024-01-01T00:00:00+00:00", "run_id": model,
                     "task_id": model, "dataset": {"samples": 60}, "config": {"epochs": 1}},
            "results": {"total_samples": 60, "completed_samples": 60, "scores": []}, "samples": samples,
        }  # fmt: skip
        (tmp_path / "logs" / f"{model}.json").write_text(json.dumps(log), encoding="utf-8")
    one = answered("logs/new.json", "good", {})
    assert one.call == 'strat.evaluate("logs/new.json")'
    assert "0.8000" in one.text
    assert one.command == "strat evaluate logs/new.json"
    both = answered("logs", "better", {})
    assert both.command == "strat compare logs"
    assert "new" in both.text
    with pytest.raises(strat.StratError, match="2"):
        answered("logs", "good", {})


# ---- the command


@POSIX
@pytest.mark.parametrize("sign", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_it_closes_with_the_terminal_and_leaves_nothing(sign: str, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    words = [
        sys.executable,
        "-c",
        "from strat.cli import main; main()",
        "open",
        str(example_path()),
        "--no-browser",
        "--json",
    ]
    program = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert program.stdout is not None
    told = json.loads(program.stdout.readline())
    assert told["schema"] == "strat/open/1"
    connection = http.client.HTTPConnection(told["address"].split("/")[2], timeout=30)
    connection.request("GET", f"/{told['address'].split('/')[3]}/api/form")
    assert json.loads(connection.getresponse().read())["first"]["name"] == str(example_path())
    program.send_signal(getattr(signal, sign))
    _, errors = program.communicate(timeout=30)
    assert program.returncode == 0, errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["open", "nothing.csv", "--no-browser"])
    assert end.value.code == 1
    assert "must name a file or a folder" in capsys.readouterr().err
