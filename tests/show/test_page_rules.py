"""Who may talk to the page of `strat open`: every rule, one by one, without a server."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from strat.base.errors import StratError
from strat.show.local_page.form import FIELDS, QUESTIONS, described, in_labels, roles_of
from strat.show.local_page.rules import Access, headers_of
from strat.show.local_page.sources import Uploads, of_path, pieces, safe_name

ACCESS = Access(4321, "s3cret")
HOST = {"Host": "127.0.0.1:4321"}
POST = {**HOST, "Origin": "http://127.0.0.1:4321", "Content-Length": "2"}


def status(method: str, path: str, headers: dict[str, str]) -> int | None:
    refusal = ACCESS.refusal(method, path, headers)
    return None if refusal is None else refusal.status


def test_secrets_are_long_and_new() -> None:
    tokens = {Access(1).token for _ in range(50)}
    assert len(tokens) == 50
    assert all(re.fullmatch(r"[\w-]{43}", token) for token in tokens)  # 256 bits
    assert "s3cret" not in repr(ACCESS)


def test_the_page_itself_is_let_in() -> None:
    assert status("GET", "/s3cret/", HOST) is None
    assert status("GET", "/s3cret/api/form", {**HOST, "Sec-Fetch-Site": "same-origin"}) is None
    assert status("GET", "/s3cret/", {"Host": "localhost:4321"}) is None
    assert status("POST", "/s3cret/api/run", POST) is None


@pytest.mark.parametrize(
    "path",
    ["/", "", "/s3cret", "s3cret/", "//s3cret/", "/s3cre/", "/s3crets/", "/S3CRET/", "/é/", "/x/s3cret/", "/%73/"],
)
def test_without_the_secret_nothing(path: str) -> None:
    assert status("GET", path, HOST) == 403
    assert status("POST", path, POST) == 403


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "evil.example:4321", "127.0.0.1", "127.0.0.1:80", "localhost.evil.example:4321",
     "0.0.0.0:4321", "[::1]:4321", "127.0.0.1:4321.evil.example", "127.0.0.1:4321, evil.example"],
)  # fmt: skip
def test_names_that_rebind_to_this_machine(host: str) -> None:
    assert status("GET", "/s3cret/", {"Host": host}) == 421
    assert status("POST", "/s3cret/api/run", {**POST, "Host": host, "Origin": f"http://{host}"}) == 421


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:80", "https://127.0.0.1:4321", "http://localhost:4321", ""],
)
def test_posts_of_other_sites(origin: str) -> None:
    assert status("POST", "/s3cret/api/run", {**POST, "Origin": origin}) == 403
    assert status("GET", "/s3cret/api/form", {**HOST, "Origin": origin}) == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_that_another_site_caused(site: str) -> None:
    assert status("GET", "/s3cret/", {**HOST, "Sec-Fetch-Site": site}) == 403


def test_a_post_says_where_it_comes_from_and_how_long_it_is() -> None:
    assert status("POST", "/s3cret/api/run", {k: v for k, v in POST.items() if k != "Origin"}) == 403
    assert status("POST", "/s3cret/api/run", {k: v for k, v in POST.items() if k != "Content-Length"}) == 411
    for length in ("", "-1", "1e3", "0x10"):
        assert status("POST", "/s3cret/api/run", {**POST, "Content-Length": length}) == 411
    assert status("POST", "/s3cret/api/run", {**POST, "Transfer-Encoding": "chunked"}) == 411
    assert status("DELETE", "/s3cret/", HOST) == 405


def test_answers_forbid_everything_from_elsewhere() -> None:
    own, report = headers_of("text/html"), headers_of("text/html", report=True)
    for wanted in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"):
        assert wanted in own["Content-Security-Policy"]
    assert "unsafe" not in own["Content-Security-Policy"]
    assert "sandbox allow-scripts allow-downloads;" in report["Content-Security-Policy"]  # without allow-same-origin
    for one in (own, report):
        assert one["Referrer-Policy"] == "no-referrer"
        assert one["Cache-Control"] == "no-store"
        assert one["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in one
        assert "Set-Cookie" not in one


# ---- uploads and paths


@pytest.mark.parametrize(
    ("name", "kept"),
    [("a.csv", "a.csv"), ("../a.csv", "a.csv"), ("/etc/a.csv", "a.csv"), ("..\\..\\a.csv", "a.csv"),
     ("a\x00\n.csv", "a.csv"),
     ("a b é.csv", "a b é.csv")],
)  # fmt: skip
def test_an_upload_stays_in_its_folder(name: str, kept: str) -> None:
    assert safe_name(name) == kept


@pytest.mark.parametrize("name", ["", "..", "a/..", ".hidden", "/", "x" * 201 + ".csv", " ", "\u202e"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(StratError, match="`name` must be the name of a file"):
        safe_name(name)


def test_an_upload_that_ends_early_leaves_nothing(tmp_path) -> None:
    import io

    uploads = Uploads(tmp_path)
    batch = uploads.begin()
    with pytest.raises(StratError, match="ended before the file was whole"):
        uploads.add(batch, "a.csv", 10, io.BytesIO(b"short"))
    with pytest.raises(StratError, match="at least one file, got none"):
        uploads.source(batch)
    uploads.add(batch, "a.csv", 5, io.BytesIO(b"whole and more"))
    assert uploads.source(batch).name == "a.csv"
    with pytest.raises(StratError, match="must be new in its batch"):
        uploads.add(batch, "../a.csv", 5, io.BytesIO(b"again"))
    uploads.add(batch, "b.csv", 1, io.BytesIO(b"x"))
    with pytest.raises(StratError, match=r"must be logs of benchmarks, got 'a\.csv'"):
        uploads.source(batch)
    with pytest.raises(StratError, match="must be one that this page began"):
        uploads.add("../..", "a.csv", 5, io.BytesIO(b"x"))
    with pytest.raises(StratError, match="not enough room"):
        uploads.add(batch, "c.csv", 1 << 60, io.BytesIO(b"x"))


def test_bodies_are_read_to_their_length_only() -> None:
    import io

    assert b"".join(pieces(io.BytesIO(b"abcdef"), 3)) == b"abc"


@pytest.mark.parametrize(
    "text", ["", "nothing.csv", "https://example.invalid/a.csv", "a\x00b", "/dev/null", "x" * 9000]
)
def test_a_path_is_a_file_or_a_folder(text: str) -> None:
    with pytest.raises(StratError, match="`path` must name a file or a folder of this machine"):
        of_path(text)


# ---- the form


def test_every_field_of_a_question_is_described() -> None:
    for question in QUESTIONS.values():
        assert set(question.fields) <= set(FIELDS)
    assert all(field.help.endswith((".", ")")) for field in FIELDS.values())
    assert {q.title for q in QUESTIONS.values()} == {
        "How good is it?", "Which is better?", "How good is it by group?", "Would the interval hold?",
        "How much data do I need?",
    }  # fmt: skip
    assert described()["questions"]["better"]["several"] == ("predicted", "score")


@pytest.mark.parametrize(
    ("question", "values", "message"),
    [
        ("good", {"level": "0,9"}, "`level` must be a number, got '0,9'; write 0.5, not 0,5."),
        ("good", {"level": "nan"}, "`level` must be a number, got 'nan'"),
        ("good", {"truth": 3}, "`truth` must be text, got int"),
        ("good", {"by": ["a"]}, "`by` must be left out for this question"),
        ("good", {"progress": "x"}, "`progress` must be left out"),
        ("plan", {}, "`width` must be the wanted width"),
        ("plan", {"width": " "}, "`width` must be the wanted width"),
        ("group", {"by": []}, "`by` must name at least one column"),
    ],
)
def test_wrong_fields(question: str, values: dict[str, object], message: str) -> None:
    with pytest.raises(StratError, match=re.escape(message)) as caught:
        roles_of(question, values)
    assert caught.value.argument in (*FIELDS, "progress")


def test_a_folder_of_uploads_keeps_its_folders_and_stays_inside(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path)
    batch = uploads.begin()
    uploads.add(batch, "a.jsonl", 1, io.BytesIO(b"x"), folder="run/large")
    uploads.add(batch, "a.jsonl", 1, io.BytesIO(b"x"), folder="run/small")
    source = uploads.source(batch)
    kept = sorted(str(file.relative_to(source.folder)) for file in Path(source.folder).rglob("*.jsonl"))
    assert kept == ["logs/run/large/a.jsonl", "logs/run/small/a.jsonl"]
    with pytest.raises(StratError, match="`name` must be the name of a file"):
        uploads.add(batch, "a.jsonl", 1, io.BytesIO(b"x"), folder="run/../../..")
    with pytest.raises(StratError, match="`folder` must be at most 8 folders deep, got 9"):
        uploads.add(batch, "a.jsonl", 1, io.BytesIO(b"x"), folder="/".join("abcdefghi"))


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("`units` must be a column, got 'x'.", "\"Cluster\" must be a column, got 'x'."),
        ("use strata='subject' (command line: --strata subject).", "use Stratum = subject."),
        ("`other` is left as it is, and so is other='x'.", "`other` is left as it is, and so is other='x'."),
    ],
)
def test_messages_use_the_labels_of_the_form(message: str, words: str) -> None:
    assert in_labels(message) == words
