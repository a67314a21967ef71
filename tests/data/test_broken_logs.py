"""Hostile logs and zips, through `strat compare`, and the plain long tables beside them."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard

from command_cases import Case, Catalogue, Program, check, of_rows, put
from systems import POSIX

case = Catalogue()
HEADER = {"version": 2, "status": "success", "eval": {"model": "m", "task": "t", "created": "2026"}}


def zipped(
    path: Path, members: Mapping[str, bytes], *, size: int | None = None, method: int = 93, flag: int = 0, crc: int = 0
) -> Path:
    """A zip by hand, which may lie about its members' size, method, flags and checksums."""
    body, directory = b"", b""
    for name, content in members.items():
        packed = zstandard.ZstdCompressor().compress(content) if method == 93 else content
        told = len(content) if size is None else size
        fields = struct.pack("<HHHHHIII", 20, flag, method, 0, 33, zlib.crc32(content) ^ crc, len(packed), told)
        encoded = name.encode()
        local = b"PK\x03\x04" + fields + struct.pack("<HH", len(encoded), 0) + encoded
        where = struct.pack("<HHHHHII", len(encoded), 0, 0, 0, 0, 0, len(body))
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + fields + where + encoded
        body += local + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + end)
    return path


def samples(n: int = 20, shift: int = 0, **more: Any) -> list[dict[str, Any]]:
    """Samples as inspect-ai writes them."""
    return [{"id": i, "epoch": 1, "scores": {"match": {"value": "CI"[(i + shift) % 3 == 0]}}, **more} for i in range(n)]


def log(path: Path, *, header: Any = HEADER, summaries: Any = None, more: Mapping[str, bytes] | None = None) -> Path:
    """An `.eval` log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    members = {"header.json": dump(header), "summaries.json": dump(samples() if summaries is None else summaries)}
    return zipped(path, {**members, **(more or {})})


def dump(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def beside(make: Any) -> Any:
    """A folder with an honest log of another system, and the hostile one."""

    def made(folder: Path) -> list[object]:
        logs = folder / "logs"
        other = {**HEADER, "eval": {**HEADER["eval"], "model": "honest"}}  # type: ignore[dict-item]
        log(logs / "a.eval", header=other, summaries=samples(shift=1))
        make(logs / "b.eval")
        return ["compare", logs]

    return made


def eval_log(**options: Any) -> Any:
    return beside(lambda path: log(path, **options))


def about(**parts: Any) -> dict[str, Any]:
    return {**HEADER, "eval": {**HEADER["eval"], **parts}}  # type: ignore[dict-item]


case("an honest pair of logs", eval_log(), code=0, out="honest")
case("an empty log", beside(lambda p: p.write_bytes(b"")), says=r"b\.eval")
case("a log of random bytes", beside(lambda p: p.write_bytes(bytes(range(256)) * 9)), says="must be a whole zip")
case("a log cut in half", beside(lambda p: log(p).write_bytes(log(p).read_bytes()[:200])), says="must be a whole zip")
case("a zip without members", beside(lambda p: zipped(p, {})), says="header.json")
case("a zip of something else", beside(lambda p: zipped(p, {"word/document.xml": b"x"})), says="no inspect-ai log")
case("a checksum that is wrong", beside(lambda p: zipped(p, {"header.json": dump(HEADER)}, crc=1)), says="checksum")
case("a member that lies: too large", beside(lambda p: zipped(p, {"header.json": b"{}"}, size=9)), says="checksum")
case("a member of terabytes", beside(lambda p: zipped(p, {"header.json": b"{}"}, size=0xFFFFFFF0)), says="unpack")
case("a bomb: a gigabyte of zeros", beside(lambda p: zipped(p, {"header.json": b"0" * (64 << 20)})), says="times its")
case(
    "a bomb that says it is small",
    beside(lambda p: zipped(p, {"header.json": b"0" * (64 << 20)}, size=99)),
    says="checksum",
)
case("an encrypted member", beside(lambda p: zipped(p, {"header.json": dump(HEADER)}, flag=1)), says="encrypted")
case("an unknown packing", beside(lambda p: zipped(p, {"header.json": b"{}"}, method=97)), says="method 97")
case("deflate that is none", beside(lambda p: zipped(p, {"header.json": b"{}"}, method=8)), says="damaged")
case(
    "a zstandard member that is none",
    beside(
        lambda p: p.write_bytes(zipped(p, {"header.json": b"{}"}).read_bytes().replace(b"\x28\xb5\x2f\xfd", b"abcd"))
    ),
    says="unpacked",
)
case(
    "a path that climbs",
    beside(lambda p: log(p, summaries=b"", more={"samples/../../../etc/x.json": b"{}"})),
    says=r"JSON|lead out",
)
case(
    "members that climb",
    beside(lambda p: zipped(p, {"header.json": dump(HEADER), "samples/../../x.json": dump(samples(1)[0])})),
    says="lead out",
)
case(
    "an absolute member",
    beside(lambda p: zipped(p, {"header.json": dump(HEADER), "samples//etc/passwd": dump(samples(1)[0])})),
    says=".",
)
case("climbing members that nobody reads", eval_log(more={"../../evil.sh": b"rm -rf /"}), code=0, out="honest")
case("a header that is a list", eval_log(header=[1]), says="'eval'")
case("a header that is cut off", eval_log(header=b'{"eval": {"mod'), says="cut off")
case("a header of wrong bytes", eval_log(header=b'{"eval": "\xff\xfe"}'), says="UTF-8")
case("an eval that is text", eval_log(header={"eval": "x"}), says="'eval'")
case("a data set that is text", eval_log(header=about(dataset="x")), code=0, out="honest")
case(
    "epochs that are words",
    eval_log(header=about(dataset={"sample_ids": [1]}, config={"epochs": "many"})),
    code=0,
    out="honest",
)
case("a config that is a list", eval_log(header=about(config=[1], dataset={"sample_ids": [1]})), code=0, out="honest")
case("samples that are an object", eval_log(summaries={"a": 1}), says="list of samples")
case("samples that are numbers", eval_log(summaries=[1, 2, 3]), says="'id'")
case("samples without an id", eval_log(summaries=[{"epoch": 1}]), says="'id'")
case("an epoch of words", eval_log(summaries=[{"id": 1, "epoch": "first", "scores": {}}]), says="'epoch'")
case("an epoch of infinity", eval_log(summaries=b'[{"id": 1, "epoch": Infinity, "scores": {}}]'), says="epoch")
case("an epoch beyond 64 bits", eval_log(summaries=[{"id": 1, "epoch": 2**70, "scores": {"m": 1}}]), says="epoch")
case("scores that are a list", eval_log(summaries=[{"id": 1, "scores": [1]}]), says="by name")
case("metadata that is text", eval_log(summaries=samples(metadata="x")), says="by name")
case(
    "a value of words",
    eval_log(summaries=[{"id": i, "scores": {"match": {"value": "maybe"}}} for i in range(20)]),
    says="must be numbers",
)
case("a value of NaN", eval_log(summaries=b'[{"id": 1, "scores": {"match": {"value": NaN}}}]'), says="have none")
case("a value of infinity", eval_log(summaries=b'[{"id": 1, "scores": {"match": {"value": Infinity}}}]'), says="finite")
case(
    "a value of a thousand digits",
    eval_log(summaries=b'[{"id": 1, "scores": {"m": {"value": ' + b"9" * 5000 + b"}}}]"),
    says="numbers",
)
case(
    "a value of four hundred digits",
    eval_log(summaries=b'[{"id": 1, "scores": {"m": {"value": ' + b"9" * 400 + b"}}}]"),
    says="must be numbers",
)
case(
    "values nested deep",
    eval_log(summaries=b'[{"id": 1, "scores": {"m": {"value": ' + b"[" * 900 + b"1" + b"]" * 900 + b"}}}]"),
    says=".",
)
case(
    "scorers whose names collide",
    eval_log(summaries=[{"id": i, "scores": {"m": {"value": {"x": 1}}, "m/x": {"value": 0}}} for i in range(20)]),
    says="share the name",
)
case(
    "scorers whose names collide, in letters",
    eval_log(summaries=[{"id": i, "scores": {"m": {"value": {"x": 1}}, "m/x": {"value": "C"}}} for i in range(20)]),
    says="share the name",
)
case("JSON nested beyond Python", eval_log(summaries=b"[" * 100_000 + b"]" * 100_000), says="nest")
case("the same sample twice", eval_log(summaries=samples() + samples()), says="once per system and epoch")
case("a failed run", eval_log(header={**HEADER, "status": "error"}), says="ended with success")
case("a run without samples", eval_log(summaries=[]), says="ended with success")
case("samples that failed", eval_log(summaries=[*samples(19), {"id": 19, "error": {"message": "x"}}]), says="--failed")
case(
    "other items than the others",
    eval_log(summaries=[{**s, "id": f"x{s['id']}"} for s in samples()]),
    says="same items",
)
case(
    "a model's name with markup",
    eval_log(header=about(model="<script>alert(1)</script>\x1b[31m")),
    code=0,
    out=r"<script>alert\(1\)</script>\\x1b\[31m",
)
case("a model's name of a thousand signs", eval_log(header=about(model="x" * 1000)), code=0, out="xxx")
case("a model without a name", eval_log(header=about(model=None)), code=0, out="b ")
case("a half surrogate pair as name", eval_log(header=about(model="\ud800x")), code=0, out=r"\\ud800x")
case("ids that are objects", eval_log(summaries=[{**s, "id": {"a": s["id"]}} for s in samples()]), says="same items")
case("ids beyond 2^53", eval_log(summaries=[{**s, "id": 2**53 + s["id"]} for s in samples()]), says="same items")


def text_log(content: Any) -> Any:
    return lambda f: ["compare", put(f, "logs/a.json", dump(content)), put(f, "logs/b.json", dump(content))]


FULL = {**HEADER, "samples": samples()}
case("a .json log cut off", text_log(dump(FULL)[:-40]), says="cut off")
case("a .json log with samples of text", text_log({**FULL, "samples": "none"}), says="list of samples")
case("two logs of one system", text_log(FULL), says="--runs")
case("a .json that is no log", text_log({"a": 1}), says="must hold logs")


def harness(name: str, content: Any, results: Any = None) -> Any:
    """A folder of lm-evaluation-harness with one honest system."""

    def made(folder: Path) -> list[object]:
        lines = "".join(json.dumps({"doc_id": i, "acc": i % 2, "metrics": ["acc"]}) + "\n" for i in range(20))
        put(folder, "out/honest/samples_t_2026-01-01T00-00-00.1.jsonl", lines)
        put(folder, f"out/bad/{name}", content)
        if results is not None:
            put(folder, "out/bad/results_2026-01-01T00-00-00.1.json", dump(results))
        return ["compare", folder / "out"]

    return made


LM = "samples_t_2026-01-01T00-00-00.1.jsonl"
LINES = "".join(json.dumps({"doc_id": i, "acc": i % 3 == 0, "metrics": ["acc"]}) + "\n" for i in range(20))
case("an honest harness folder", harness(LM, LINES), code=0, out="honest")
case("an empty samples file", harness(LM, ""), says="ended with success")
case("a samples line cut off", harness(LM, LINES[:-10]), says="line 20")
case("a samples line of a list", harness(LM, "[1]\n"), says="doc_id")
case("a document number that is a list", harness(LM, '{"doc_id": [1], "acc": 1}\n'), says="doc_id|line 1")
case("metrics of numbers", harness(LM, '{"doc_id": 1, "metrics": [1, null], "acc": 1}\n'), says=".")
case("a document twice", harness(LM, LINES + LINES), says="comes twice")
case("a samples line of wrong bytes", harness(LM, b'{"doc_id": "\xff"}\n'), says="line 1")
case("a samples line nested deep", harness(LM, b"[" * 90_000 + b"\n"), says="line 1")
case("results that are a list", harness(LM, LINES, [1, 2]), code=0, out="honest")
case("results whose groups are text", harness(LM, LINES, {"group_subtasks": "x"}), says="results_")
case("results whose counts are text", harness(LM, LINES, {"n-samples": {"t": "x"}}), says="results_")
case("results that are cut off", harness(LM, LINES, b'{"a": '), says="cut off")
case("results that count more documents", harness(LM, LINES, {"n-samples": {"t": {"effective": 99}}}), says="success")
case(
    "documents that changed",
    lambda f: [
        put(f, f"o/a/{LM}", '{"doc_id": 1, "acc": 1, "doc_hash": "x", "metrics": ["acc"]}\n'),
        put(f, f"o/b/{LM}", '{"doc_id": 1, "acc": 1, "doc_hash": "y", "metrics": ["acc"]}\n'),
        "compare",
        f / "o",
    ][2:],
    says="hash",
)


def helm(content: Any, spec: Any = None) -> Any:
    def made(folder: Path) -> list[object]:
        put(folder, "runs/mmlu:model=a/per_instance_stats.json", dump(content))
        put(folder, "runs/mmlu:model=b/per_instance_stats.json", dump(content))
        if spec is not None:
            put(folder, "runs/mmlu:model=a/run_spec.json", dump(spec))
        return ["compare", folder / "runs"]

    return made


def stat(value: Any, count: Any = 1) -> list[dict[str, Any]]:
    return [{"name": {"name": "exact_match"}, "count": count, "sum": value}]


def instances(n: int = 20, **more: Any) -> list[dict[str, Any]]:
    return [{"instance_id": f"i{i}", "train_trial_index": 0, "stats": stat(i % 2), **more} for i in range(n)]


case("an honest HELM folder", helm(instances()), code=0, out="mean|rank")
case("HELM that is an object", helm({"a": 1}), says="list of instances")
case("HELM of numbers", helm([1, 2]), says="instance_id")
case("HELM with a trial of words", helm(instances(train_trial_index="one")), says="train_trial_index|trial")
case("HELM with stats of text", helm(instances(stats="x")), says=".")
case("HELM with a count of words", helm(instances(stats=stat(1, "many"))), says=".")
case("HELM with a sum of words", helm(instances(stats=stat("x"))), says="have none")
case("HELM with stats of a number", helm(instances(stats=7)), says="stats")
case("a HELM spec of text", helm(instances(), "x"), code=0, out="rank")
case("a HELM spec cut off", helm(instances(), b"{"), says="cut off")


def long(text: str, *more: object) -> Any:
    return lambda f: ["compare", put(f, "long.csv", text), *more]


def pair(*rows: str) -> str:
    return of_rows("system,item,score", *rows)


case("one system alone", long(pair("a,1,1", "a,2,0")), says="at least two systems")
case("systems that share nothing", long(pair("a,1,1", "b,2,0")), says="same items")
case("an item twice", long(pair("a,1,1", "a,1,1", "b,1,0")), says="again in row")
case("scores of words", long(pair("a,1,x", "b,1,1", "a,2,1", "b,2,1")), says="must be numbers")
case("scores that are missing", long(pair("a,1,", "b,1,1", "a,2,1", "b,2,1")), says="missing")
case("scores of infinity", long(pair("a,1,inf", "b,1,1", "a,2,1", "b,2,1")), says="finite|score")
case("epochs of words", long(of_rows("system,item,score,epoch", "a,1,1,x", "b,1,1,y")), says="epoch")
case("epochs of halves", long(of_rows("system,item,score,epoch", "a,1,1,0.2", "a,2,1,1", "b,1,1,1")), says="whole")
case("one item only", long(pair("a,1,1", "b,1,0")), says=".")
case(
    "item names that differ by 2^53",
    long(pair(*(f"{s},{2**53 + i},{i % 2}" for s in "ab" for i in range(9)))),
    code=0,
    out="9 rows|9 items|rank",
)
case(
    "item names beyond 64 bits",
    long(pair(*(f"{s},{2**64 + i},{(i + (s == 'a')) % 3 == 0:d}" for s in "ab" for i in range(9)))),
    code=0,
    out="9 rows",
)
case(
    "item names beyond 128 bits",
    long(pair(*(f"{s},{2**130 + i},{(i + (s == 'a')) % 3 == 0:d}" for s in "ab" for i in range(9)))),
    code=0,
    out="9 rows",
)


@POSIX
@pytest.mark.parametrize("entry", case.cases, ids=str)
def test_a_hostile_log(entry: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(entry, tmp_path, Program(capsys))


def test_nothing_of_an_archive_reaches_the_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(tmp_path / "b.eval", "w") as archive:
        archive.writestr("header.json", json.dumps(HEADER))
        archive.writestr("summaries.json", json.dumps(samples()))
        archive.writestr("../escaped.txt", "x")
    assert Program(capsys)("evaluate", tmp_path / "b.eval").code == 0
    assert not (tmp_path.parent / "escaped.txt").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["b.eval"]
