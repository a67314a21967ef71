"""Absurd designs, extreme numbers, and the files and options of every other command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_cases import Case, Catalogue, Program, check, of_rows, put, table
from systems import POSIX

case = Catalogue()
GOOD = table()
ASK = ("--truth", "truth", "--predicted", "guess", "--metric", "accuracy")


def evaluate(text: str, *more: object) -> Any:
    return lambda f: ["evaluate", put(f, "a.csv", text), *more]


def good(*more: object) -> Any:
    return evaluate(GOOD, *ASK, *more)


# ---- absurd designs
case("one row", evaluate("truth,guess\n1,1\n", *ASK), says="two")
case("one unit", evaluate(of_rows("truth,guess,u", "1,1,x", times=9), *ASK, "--units", "u"), says="`units`|unit")
case("one row in a stratum", evaluate(GOOD + "1,1,1,alone,p,1\n", *ASK, "--strata", "subject"), says="alone")
case(
    "one unit in each stratum",
    evaluate(GOOD, *ASK, "--strata", "passage", "--units", "passage"),
    says="p0",
)
case("every row a stratum", lambda f: ["evaluate", put(f, "a.csv", numbered()), *ASK, "--strata", "i"], says="strata")
case(
    "lone strata collapsed into one",
    lambda f: ["evaluate", put(f, "a.csv", numbered(3)), *ASK, "--strata", "i", "--lone", "collapse"],
    code=0,
    out="accuracy",
)
case("an unknown way with lone units", good("--strata", "subject", "--lone", "ignore"), says="`--lone` must be one of")
case("an unknown method", good("--method", "guesswork"), says="`--method` must be one of")
case("an unknown measure", good("--metric", "f2"), says="did you mean")
case("an unknown target", good("--target", "mars"), says="`--target` must be one of")
case("an unknown way with missing values", good("--missing", "guess"), says="`--missing` must be one of")
case("a level of 95", good("--level", "95"), says="`--level` must lie strictly between 0 and 1")
case("a level of nan", good("--level", "nan"), says="`--level` must be")
case("a level of words", good("--level", "high"), code=2)
case("a population smaller than the sample", good("--population", "3"), says="`--population`")
case("a population of nan", good("--population", "nan"), says="`--population`")
case("a population below zero", good("--population", "-5"), says="`--population`")
case("a population that is no column", good("--population", "people"), says="`--population` must name a column")
case("a population of 1e308", good("--population", "1e308"), says="`--population` must be at most")
case("bins of one", evaluate(GOOD, "--score", "score", "--bins", "1"), says="`--bins`")
case("bins below zero", evaluate(GOOD, "--score", "score", "--bins", "-4"), says="`--bins`")
case("BRR with units by the dozen", good("--method", "brr", "--strata", "subject"), says="prime power of units")
case(
    "AUC with one class",
    evaluate(of_rows("truth,score", "1,0.5", "1,0.4", times=9), "--truth", "truth", "--score", "score"),
    says="AUC",
)
case(
    "AUC with three classes",
    evaluate(of_rows("truth,score", "1,0.5", "2,0.4", "3,0.1", times=9), "--truth", "truth", "--score", "score"),
    says="class|two|positive",
)
case(
    "a positive class that is not there",
    evaluate(GOOD, "--truth", "truth", "--score", "score", "--positive", "maybe"),
    says="maybe|pos",
)
case("labels that never meet", evaluate(of_rows("truth,guess", "a,x", "b,y", times=9), *ASK), code=0, out="0.0000")
case("text against numbers", evaluate(of_rows("truth,guess", "1,a", "0,b", times=9), *ASK), says=".")
case("a measure without its column", evaluate(GOOD, "--metric", "auc", *ASK), says="`--score`")
case(
    "weights that are all zero",
    evaluate(of_rows("truth,guess,w", "1,1,0", "0,0,0", times=9), *ASK, "--weights", "w"),
    says="weights",
)
case(
    "weights below zero",
    evaluate(of_rows("truth,guess,w", "1,1,-1", "0,0,3", times=9), *ASK, "--weights", "w"),
    says="`--weights` must be finite and not negative",
)
case(
    "weights of infinity",
    evaluate(of_rows("truth,guess,w", "1,1,inf", "0,0,3", times=9), *ASK, "--weights", "w"),
    says="`--weights`",
)
case(
    "weights of nan",
    evaluate(of_rows("truth,guess,w", "1,1,nan", "0,0,3", times=9), *ASK, "--weights", "w"),
    says="`weights`|missing",
)


def numbered(n: int = 60) -> str:
    return of_rows("truth,guess,i", *(f"{i % 2},{i % 3 % 2},{i}" for i in range(n)))


# ---- extreme numbers
def scores(*values: object, times: int = 9) -> Any:
    return evaluate(of_rows("score", *map(str, values), times=times), "--score", "score", "--json")


case("scores of 1e308", scores("1e308", "1e308", "9e307"), says="score|large")
case("scores of both signs of 1e308", scores("1e308", "-1e308"), says="score|large")
case("denormal scores", scores("5e-324", "0", "1e-310"), code=0, out='"estimate"')
case("scores of 1e130", scores("1e130", "2e130", "3e130"), code=0, out=r'"estimate": (2\.0{14}\d*|1\.9{14}\d*|2)e\+130')
case("scores beyond doubles", scores("1e999", "1"), says="finite|score")
case("scores with a million digits", scores("0." + "3" * 100_000, "1"), code=0, out='"estimate"')
case("scores that never vary", scores("0.5"), code=0, out='"se": 0')
case("scores of nan", scores("nan", "1"), says="missing|finite")
case("scores around 1e15", scores("1000000000000000.25", "1000000000000000.75"), code=0, out="1000000000000000.5")
case("scores of minus zero", scores("-0.0", "0.0", "1"), code=0, out="0.333333")
case("whole scores beyond 64 bits", scores(10**20, 10**20 + 1, 3), code=0, out="e\\+19")
case(
    "weights over twenty orders",
    evaluate(
        of_rows("truth,guess,w", *(f"{i % 2},{i % 3 % 2},1e{i % 21 - 10}" for i in range(84))), *ASK, "--weights", "w"
    ),
    code=0,
    out="accuracy",
)
case(
    "weights of 1e300",
    evaluate(of_rows("truth,guess,w", "1,1,1e300", "0,1,1e300", times=9), *ASK, "--weights", "w"),
    says="`--weights` must have their largest",
)
case(
    "weights of 1e-300",
    evaluate(of_rows("truth,guess,w", "1,1,1e-300", "0,1,1e-300", times=9), *ASK, "--weights", "w"),
    says="`--weights` must have their largest",
)
case(
    "weights of 1e308",
    evaluate(of_rows("truth,guess,w", "1,1,1e308", "0,1,1e308", times=9), *ASK, "--weights", "w"),
    says="weights",
)
case(
    "denormal weights",
    evaluate(of_rows("truth,guess,w", "1,1,5e-324", "0,1,5e-324", times=9), *ASK, "--weights", "w"),
    says="`--weights` must have their largest",
)
case(
    "labels around 2^53",
    evaluate(of_rows("truth,guess", f"{2**53},{2**53 + 1}", f"{2**53 + 1},{2**53 + 1}", times=9), *ASK),
    code=0,
    out="0.5000",
)
case(
    "labels around 2^64",
    evaluate(of_rows("truth,guess", f"{2**64},{2**64 + 1}", f"{2**64 + 1},{2**64 + 1}", times=9), *ASK),
    code=0,
    out="0.5000",
)
case(
    "units around 2^64",
    evaluate(of_rows("truth,guess,u", *(f"1,{i % 2},{2**64 + i // 2}" for i in range(40))), *ASK, "--units", "u"),
    code=0,
    out="20 units",
)
case("labels of 1e308", evaluate(of_rows("truth,guess", "1e308,1e308", "1,1", times=9), *ASK), code=0, out="1.0000")


# ---- compare
def compare(text: str, *more: object) -> Any:
    return lambda f: ["compare", put(f, "a.csv", text), *more]


TWO = of_rows("label,a,b,id", *(f"{i % 2},{i % 2},{i % 3 % 2},{i}" for i in range(30)))
case("one system to compare", compare(TWO, "--truth", "label", "--predicted", "a"), says="two systems")
case("a system twice", compare(TWO, "--truth", "label", "--predicted", "a", "--predicted", "a"), says="twice|once|two")
case("predictions without truth", compare(TWO, "--predicted", "a", "--predicted", "b"), says="`--truth`")
case("predictions and scores", compare(TWO, "--truth", "label", "--predicted", "a", "--score", "b"), says="together")
case(
    "a margin below zero",
    compare(TWO, "--truth", "label", "--predicted", "a", "--predicted", "b", "--margin", "-1"),
    says="margin",
)
case(
    "systems that are equal", compare(TWO.replace(",b,", ",c,"), "--score", "a", "--score", "a"), says="twice|once|two"
)
case("equal scores", compare(of_rows("a,b", "1,1", "0,0", times=9), "--score", "a", "--score", "b"), code=0, out="a")
case(
    "scores that never differ", compare(of_rows("a,b", "1,1", times=9), "--score", "a", "--score", "b"), code=0, out="a"
)
case(
    "a board of 1e308",
    compare(of_rows("a,b", "1e308,1", "-1e308,2", times=9), "--score", "a", "--score", "b"),
    says="score|large",
)
case(
    "weights of zero in a board",
    compare(of_rows("a,b,w", "1,0,0", "0,1,0", times=9), "--score", "a", "--score", "b", "--weights", "w"),
    says="weights",
)
case(
    "weights below zero in a board",
    compare(of_rows("a,b,w", "1,0,-1", "0,1,1", times=9), "--score", "a", "--score", "b", "--weights", "w"),
    says="weights",
)
case(
    "two files, no item in common",
    lambda f: [
        "compare",
        put(f, "a.csv", of_rows("id,label,p", "1,1,1")),
        put(f, "b.csv", of_rows("id,label,p", "2,1,1")),
        "--items",
        "id",
        "--truth",
        "label",
        "--predicted",
        "p",
    ],
    says="same items",
)
case(
    "two files, two truths",
    lambda f: [
        "compare",
        put(f, "a.csv", of_rows("id,label,p", "1,1,1", "2,1,1")),
        put(f, "b.csv", of_rows("id,label,p", "1,0,1", "2,1,1")),
        "--items",
        "id",
        "--truth",
        "label",
        "--predicted",
        "p",
    ],
    says="must be the same for an item",
)
case(
    "two files, an item twice",
    lambda f: [
        "compare",
        put(f, "a.csv", of_rows("id,label,p", "1,1,1", "1,1,1")),
        put(f, "b.csv", of_rows("id,label,p", "1,1,1")),
        "--items",
        "id",
        "--truth",
        "label",
        "--predicted",
        "p",
    ],
    says="once",
)
case(
    "two files, numbers against text as items",
    lambda f: [
        "compare",
        put(f, "a.csv", of_rows("id,label,p", "1,1,1", "2,0,1")),
        put(f, "b.csv", of_rows("id,label,p", "x,1,1", "y,0,1")),
        "--items",
        "id",
        "--truth",
        "label",
        "--predicted",
        "p",
    ],
    says="same items|type",
)
case(
    "two files of one name",
    lambda f: [
        "compare",
        put(f, "x/a.csv", of_rows("id,label,p", "1,1,1", "2,1,1", "3,0,1")),
        put(f, "y/a.csv", of_rows("id,label,p", "1,1,1", "2,1,0", "3,0,1")),
        "--items",
        "id",
        "--truth",
        "label",
        "--predicted",
        "p",
    ],
    code=0,
    out="x/a",
)


# ---- sample
def sample(*more: object, text: str = GOOD) -> Any:
    return lambda f: ["sample", put(f, "a.csv", text), *more]


case("a sample of nothing", sample("--size", "0"), says="`size` must be a whole number")
case("a sample larger than the whole", sample("--size", "9999"), says="at most")
case("a sample below zero", sample("--size", "-3"), says="`size`")
case("a sample too small for its strata", sample("--size", "2", "--strata", "subject"), says="at least")
case("a sample of words", sample("--size", "many"), code=2)
case("a least below zero", sample("--size", "9", "--least", "-2", "--strata", "subject"), says="least")
case("a seed below zero", sample("--size", "9", "--seed", "-1"), says="seed")
case("an unknown format", sample("--size", "9", "--format", "yaml"), says="`--format` must be one of")
case("a format and JSON", sample("--size", "9", "--format", "csv", "--json"), says="must not come with")
case("items that repeat", sample("--size", "9", "--items", "subject"), says="once")
case("document numbers that are none", sample("--size", "9", "--items", "passage", "--format", "lm-eval"), says="items")
case("Neyman without a spread", sample("--size", "9", "--method", "neyman", "--strata", "subject"), says="`spread`")
case(
    "Neyman with a spread of words",
    sample("--size", "9", "--method", "neyman", "--strata", "subject", "--spread", "passage"),
    says="must be numbers",
)
case(
    "Neyman with no spread at all",
    sample(
        "--size",
        "8",
        "--method",
        "neyman",
        "--strata",
        "s",
        "--spread",
        "y",
        text=of_rows("s,y", "a,1", "b,1", times=9),
    ),
    code=0,
    out="8 of 18",
)
case(
    "Neyman over twenty orders",
    sample(
        "--size",
        "8",
        "--method",
        "neyman",
        "--strata",
        "s",
        "--spread",
        "y",
        text=of_rows("s,y", "a,1e10", "a,-1e10", "b,1e-10", "b,-1e-10", times=9),
    ),
    code=0,
    out="8 of 36",
)
case(
    "Neyman with a spread of 1e308",
    sample(
        "--size",
        "8",
        "--method",
        "neyman",
        "--strata",
        "s",
        "--spread",
        "y",
        text=of_rows("s,y", "a,1e308", "a,-1e308", "b,1", "b,2", times=9),
    ),
    says="spread",
)
case(
    "a sample of a sample's own columns",
    sample(
        "--size",
        "9",
        "--items",
        "item",
        "--strata",
        "stratum",
        text=of_rows("item,stratum,weight", *(f"{i},s{i % 2},1" for i in range(20))),
    ),
    code=0,
    out="9 of 20",
)
case(
    "commas in names for inspect",
    sample("--size", "3", "--items", "n", "--format", "inspect", text=of_rows("n", *(f'"a,{i}"' for i in range(3)))),
    says="comma",
)


# ---- array
def array(name: str, content: str | bytes, *more: object) -> Any:
    return lambda f: ["array", put(f, name, content), *more]


def npy(value: Any, **options: Any) -> Callable[[Path], bytes]:
    import io

    file = io.BytesIO()
    np.save(file, value, **options)
    return file.getvalue()  # type: ignore[return-value]


case("an array of words", array("a.csv", "a,b\nc,d\n"), says="whole numbers")
case("an array of halves", array("a.csv", "0.5,1\n1,0.5\n"), says="whole numbers|levels|symbols")
case("an array of ragged lines", array("a.csv", "1,0\n1\n"), says="whole numbers")
case("an array of nan", array("a.csv", "nan,1\n1,0\n"), says="whole|symbols|finite")
case("an array of 1e308", array("a.csv", "1e308,1\n1,0\n"), says="whole|symbols|levels")
case("an empty array", array("a.csv", ""), says="whole numbers")
case("an array of binary rubbish", array("a.csv", bytes(range(256))), says="whole numbers|read")
case("an .npy of objects", array("a.npy", npy(np.array([{"a": 1}], object), allow_pickle=True)), says="`file`")
case("an .npy cut off", array("a.npy", npy(np.zeros((99, 9)))[:200]), says="`file`")  # type: ignore[index]
case(
    "an .npy that lies about its shape",
    array(
        "a.npy",
        b"\x93NUMPY\x01\x00\x76\x00"
        + (b"{'descr': '<f8', 'fortran_order': False, 'shape': (999999999, 999999), }".ljust(117) + b"\n"),
    ),
    says=".",
)
case(
    "an .npy with code in its header",
    array(
        "a.npy",
        b"\x93NUMPY\x01\x00\x76\x00"
        + (b"{'descr': __import__('os').system('touch owned'), 'shape': (1,)}".ljust(117) + b"\n"),
    ),
    says="`file`",
)
case("an .npy of one dimension", array("a.npy", npy(np.arange(8))), says="table")
case("an .npy of text", array("a.npy", npy(np.array([["a", "b"]]))), says="array|whole|symbols|levels")
case("no such array", lambda f: ["array", f / "no.csv"], says="`file`")
case("an array that is a folder", lambda f: ["array", f], says="`file`")
case("levels that are no prime power", lambda f: ["array", "--levels", "6", "--columns", "3"], says="prime power")
case("levels of nothing", lambda f: ["array", "--levels", "0", "--columns", "3"], says="level")
case("columns of nothing", lambda f: ["array", "--columns", "0"], says="columns")
case("columns below zero", lambda f: ["array", "--columns", "-7"], says="columns")
case("a billion columns", lambda f: ["array", "--columns", "1000000000"], says="columns|memory|large")
case("a huge number of levels", lambda f: ["array", "--levels", str(2**61 - 1), "--columns", "3"], says=".")
case("a huge field", lambda f: ["array", "--field", str(2**61 - 1)], says=".")
case(
    "a field below zero",
    lambda f: ["array", "--field", "-3"],
    says="`order` must be a whole number of at least 0, got -3",
)
case("an array without a wish", lambda f: ["array"], says="one of")
case("an array written to nowhere", lambda f: ["array", "--columns", "3", "--out", f / "no" / "a.csv"], says="no")
case("an array written to an unknown form", lambda f: ["array", "--columns", "3", "--out", f / "a.exe"], says="--out")


# ---- chance
def chance(name: str, content: str | bytes, *more: object) -> Any:
    return lambda f: ["chance", put(f, name, content), *more]


case("an empty matrix", chance("m.csv", ""), says="empty")
case("a matrix of words", chance("m.csv", "a,b\nc,d\n"), says="square matrix|counts")
case("a matrix that is not square", chance("m.csv", "1,2,3\n4,5,6\n"), says="square|count")
case("a matrix of halves", chance("m.csv", "1.5,2\n1,4\n"), says="whole|count")
case("a matrix below zero", chance("m.csv", "1,-2\n1,4\n"), says="negative|count|whole")
case("a matrix of nan", chance("m.csv", "1,nan\n1,4\n"), says="whole|count|finite")
case("a matrix of zeros", chance("m.csv", "0,0\n0,0\n"), says=".")
case("a matrix of 1e308", chance("m.csv", "1e308,1\n1,1e308\n"), says="count|large|patterns")
case("a matrix of wrong bytes", chance("m.csv", b"\xff\xfe\xfd"), says="m.csv|UTF-8")
case("a matrix .npy of objects", chance("m.npy", npy(np.array([{}], object), allow_pickle=True)), says="m.npy|FILE")
case("a matrix .npy cut off", chance("m.npy", npy(np.ones((9, 9)))[:150]), says="m.npy|FILE")  # type: ignore[index]
case("a matrix .npy of rubbish", chance("m.npy", b"rubbish"), says="m.npy|FILE")
case("a matrix .json cut off", chance("m.json", '{"labels": ['), says="m.json")
case("a matrix .json of a list", chance("m.json", "[1, 2]"), says="labels")
case("a matrix .json of words", chance("m.json", '{"labels": ["a"], "counts": "x"}'), says="count")
case("a matrix .json nested deep", chance("m.json", "[" * 90_000), says="m.json")
case("no such matrix", lambda f: ["chance", f / "no.csv"], says="exists")
case("a matrix and units", chance("m.csv", "1,2\n3,4\n", "--units", "u"), says="--truth")
case("half a table", chance("m.csv", GOOD, "--truth", "truth"), says="together")
BETWEEN = ("--truth", "truth", "--predicted", "guess", "--units", "passage", "--exchange", "between", "--permutations")
case("permutations below zero", chance("t.csv", GOOD, *BETWEEN, "-1"), says="permutations")
case(
    "permutations without end",
    chance("t.csv", GOOD, *BETWEEN, str(10**12)),
    says="`permutations` must be at most 1,000,000,000",
)
case(
    "a matrix of 300 classes",
    lambda f: [
        "chance",
        put(f, "m.csv", "\n".join(",".join("1" if i == j else "0" for j in range(300)) for i in range(300))),
    ],
    code=0,
    out="agreements",
)


# ---- rank
def rank(text: str, *more: object) -> Any:
    return lambda f: ["rank", put(f, "r.csv", text), *(more or ("--higher-is-better",))]


case("ranks without a direction", rank("d,a,b\nx,1,2\ny,2,1\n", "--ties"), says="--higher-is-better")
case("ranks of one data set", rank("d,a,b\nx,1,2\n"), says="data set")
case("ranks of one system", rank("d,a\nx,1\ny,2\n"), says="two|systems")
case("ranks of words", rank("d,a,b\nx,1,2\ny,z,1\n"), says="must be numbers")
case("ranks with a gap", rank("d,a,b\nx,1,2\ny,,1\nz,1,2\n"), says="missing|drop")
case("ranks with every row a gap", rank("d,a,b\nx,,2\ny,,1\n", "--higher-is-better", "--missing", "drop"), says=".")
case("ranks of infinity", rank("d,a,b\nx,inf,2\ny,1,1\nz,1,2\n"), says="no number")
case("ranks of 1e308", rank("d,a,b\nx,1e308,-1e308\ny,1,2\nz,1,2\n"), code=0, out="rank")
case("ranks that all tie", rank("d,a,b\nx,1,1\ny,2,2\nz,3,3\n"), code=0, out="p = 1")
case("ranks at alpha 2", rank("d,a,b\nx,1,2\ny,2,1\n", "--higher-is-better", "--alpha", "2"), says="alpha")
case("an unknown control", rank("d,a,b\nx,1,2\ny,2,1\n", "--higher-is-better", "--control", "c"), says="control")
case(
    "ranks drawn to nowhere",
    rank("d,a,b\nx,1,2\ny,2,1\nz,1,2\n", "--higher-is-better", "--plot", "/no/such/p.png"),
    says="--plot",
)
case("a data set twice", rank("d,a,b\nx,1,2\nx,2,1\ny,1,2\n"), code=0, out="3 data sets")


# ---- recognize
def npz(**arrays: Any) -> bytes:
    import io

    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def recognize(name: str, content: str | bytes, *more: object) -> Any:
    return lambda f: ["recognize", "--similarity", put(f, name, content), *more]


def embeddings(probes: Any, gallery: Any, *more: object) -> Any:
    def packed(array: Any) -> bytes:
        return npz(embeddings=array, subject=np.arange(len(array)))

    return lambda f: [
        *("recognize", "--probes", put(f, "p.npz", packed(probes)), "--gallery", put(f, "g.npz", packed(gallery))),
        *more,
    ]


SQUARE = np.random.default_rng(0).random((12, 12))
WHO = np.arange(12) // 3
case("nothing to recognize", lambda f: ["recognize"], says="must be given")
case("no such table of scores", lambda f: ["recognize", "--similarity", f / "no.npz"], says="not there")
case("an .npz of rubbish", recognize("s.npz", b"rubbish"), says="s.npz")
case("an .npz cut off", recognize("s.npz", npz(scores=SQUARE, subject=WHO)[:400]), says="s.npz")
case("an .npz of objects", recognize("s.npz", npz(scores=SQUARE, subject=np.array([{}] * 12, object))), says="s.npz")
case("an .npy of rubbish scores", recognize("s.npy", b"rubbish"), says="s.npy")
case("an .npy of one number", recognize("s.npy", npy(np.float64(3))), says="s.npy|table|scores")
case(
    "labels too few",
    recognize("s.npz", npz(scores=SQUARE, subject=WHO[:5]), "--enrolment", "images"),
    says="12|label|rows",
)
case("scores of nan alone", recognize("s.npz", npz(scores=np.full((12, 12), np.nan), subject=WHO)), says=".")
case("scores of text", recognize("s.npz", npz(scores=SQUARE.astype(str), subject=WHO)), says="numbers|text|scores")
case("scores of infinity everywhere", recognize("s.npz", npz(scores=np.full((12, 12), np.inf), subject=WHO)), says=".")
case(
    "three dimensions of scores",
    recognize("s.npz", npz(scores=SQUARE[None], subject=WHO), "--key", "scores"),
    says="table|dimension|shape",
)
case("a triangle of a wrong length", recognize("s.npz", npz(scores=np.ones(7), subject=WHO)), says="triangle|7|square")
case("scores without a key", recognize("s.npz", npz(a=SQUARE, b=SQUARE, subject=WHO)), says="`--key`")
case("a CSV table of words", recognize("s.csv", "x,a,b\na,1,x\n"), says="numbers")
case("an empty CSV table", recognize("s.csv", ""), says="scores|path|s.csv")
case("a CSV table of wrong bytes", recognize("s.csv", b"\xff\xfe,a\n"), says="UTF-8|s.csv")
case("triples that are none", recognize("s.csv", "a,b\n1,2\n", "--triples"), says="column 'probe'")
case(
    "triples twice",
    recognize("s.csv", of_rows("probe,gallery,score", "a,a,1", "a,a,2"), "--triples"),
    says="one score for each pair",
)
case(
    "triples of words", recognize("s.csv", of_rows("probe,gallery,score", "a,a,x", "a,b,1"), "--triples"), says="score"
)
case("triples of a broken Parquet file", recognize("s.parquet", b"PAR1rubbish"), says="s.parquet")
case("ranks of words asked for", recognize("s.npz", npz(scores=SQUARE, subject=WHO), "--at", "first"), says="--at")
case(
    "an unknown way with ties",
    recognize("s.npz", npz(scores=SQUARE, subject=WHO), "--enrolment", "images", "--ties", "hopeful"),
    says="ties",
)
case(
    "an unknown way of enrolment", recognize("s.npz", npz(scores=SQUARE, subject=WHO), "--enrolment", "x"), says="enrol"
)
case(
    "a level of 2 for curves",
    recognize("s.npz", npz(scores=SQUARE, subject=WHO), "--enrolment", "images", "--level", "2"),
    says="level",
)
case(
    "an FMR of 7", recognize("s.npz", npz(scores=SQUARE, subject=WHO), "--enrolment", "images", "--fmr", "7"), says="."
)
case(
    "embeddings of nan",
    embeddings(np.full((4, 3), np.nan), np.ones((4, 3))),
    says=".",
)
case(
    "embeddings of two widths",
    embeddings(np.ones((4, 2)), np.ones((4, 3))),
    says="features|dimension|columns|width|same",
)
case(
    "embeddings of nothing",
    embeddings(np.ones((0, 3)), np.ones((4, 3))),
    says=".",
)
case(
    "embeddings of zero length",
    embeddings(np.zeros((4, 3)), np.ones((4, 3))),
    says=".",
)
case(
    "embeddings of 1e308",
    embeddings(np.full((4, 3), 1e308), np.full((4, 3), 1e308), "--score", "euclidean"),
    says=".",
)
case(
    "embeddings that are a list file",
    lambda f: ["recognize", "--probes", put(f, "p.npz", b""), "--gallery", put(f, "g.npz", b"")],
    says=".npz",
)
case(
    "all images without a mate",
    lambda f: ["recognize", "--images", put(f, "i.npz", npz(embeddings=np.ones((4, 3)), subject=np.arange(4)))],
    says="mated comparisons",
)
case(
    "a picture to nowhere",
    recognize("s.npz", npz(scores=SQUARE, subject=WHO), "--enrolment", "images", "--plot", "/no/such/p.png"),
    says="no",
)


# ---- plan
def plan(*arguments: object) -> Any:
    return lambda f: ["plan", *arguments]


case("a plan of nothing", plan("width", "--width", "0", "--proportion", "0.5"), says="`width`")
case("a plan below zero", plan("width", "--width", "-1", "--proportion", "0.5"), says="`width`")
case("a plan of nan", plan("width", "--width", "nan", "--proportion", "0.5"), says="`width`")
case("a plan of a denormal width", plan("width", "--width", "5e-324", "--proportion", "0.5"), says="`width`")
case("a plan of a proportion of 2", plan("width", "--width", "0.1", "--proportion", "2"), says="`proportion`")
case("a plan of infinite deviation", plan("width", "--width", "0.1", "--deviation", "inf"), says="`deviation`")
case("a plan of a deviation of 1e308", plan("width", "--width", "0.1", "--deviation", "1e308"), says=".")
case("a plan of a level of 1", plan("width", "--width", "0.1", "--proportion", "0.5", "--level", "1"), says="`level`")
case("a plan of power 1", plan("power", "--difference", "0.1", "--disagreement", "0.2", "--power", "1"), says="`power`")
case("a plan of a difference of 3", plan("power", "--difference", "3", "--disagreement", "0.2"), says="`difference`")
case("a plan of rows below zero", plan("power", "--rows", "-5", "--disagreement", "0.2"), says="`rows`")
case(
    "a plan of sizes of words",
    plan("allocation", "--sizes", "a,b", "--deviations", "1,2", "--total", "9"),
    says="--sizes",
)
case(
    "a plan of too few deviations", plan("allocation", "--sizes", "9,9", "--deviations", "1", "--total", "9"), says="."
)
case(
    "a plan of sizes of nan",
    plan("allocation", "--sizes", "nan,9", "--deviations", "1,1", "--total", "9"),
    says="sizes",
)
case("a plan to nowhere", plan("width", "--width", "0.1", "--proportion", "0.5", "--plot", "/no/such/p.png"), says="no")
case("a plan for a billion features", plan("design-samples", "--features", "1000000000", "--samples", "200"), says=".")
case(
    "a plan of endless units",
    plan("units", "--width", "0.1", "--proportion", "0.8", "--rows-per-unit", "inf", "--intraclass", "0.3"),
    says="`rows_per_unit` must be at least 1 and at most",
)
case(
    "a plan of strata beyond 2^53",
    plan(
        "units",
        "--width",
        "0.1",
        "--proportion",
        "0.8",
        "--rows-per-unit",
        "9",
        "--intraclass",
        "0.3",
        "--strata",
        str(2**60),
    ),
    says="`strata` must be a whole number from 1 to 1000000, got 1152921504606846976",
)
case("an unknown plan", plan("world"), code=2)

# ---- results over data
KEPT = "must name another file than those that are read"
case("results over the data", lambda f: ["evaluate", put(f, "a.csv", GOOD), *ASK, "-o", f / "a.csv"], says=KEPT)
case(
    "results over the data by another name",
    lambda f: ["evaluate", put(f, "a.csv", GOOD), *ASK, f"--output={f}/../{f.name}/a.csv"],
    says=KEPT,
)
case(
    "results over data that a pattern names",
    lambda f: ["evaluate", put(f, "a.csv", GOOD).with_name("*.csv"), *ASK, "--output", f / "a.csv"],
    says=KEPT,
)
case("a sample over its frame", lambda f: ["sample", put(f, "a.csv", GOOD), "-n", "8", "-o", f / "a.csv"], says=KEPT)
case(
    "an array over an array",
    lambda f: ["array", put(f, "a.csv", "0,0\n0,1\n1,0\n1,1\n"), "--out", f / "a.csv"],
    says=KEPT,
)

# ---- usage
case("an unknown command", lambda f: ["evalute", "x.csv"], code=2, says="evaluate")
case("an unknown option", lambda f: ["evaluate", "x.csv", "--truht", "y"], code=2, says="--truth")
case("no file", lambda f: ["evaluate"], code=2)
case("an option without its value", lambda f: ["evaluate", "x.csv", "--truth"], code=2)
case("two forms at once", good("--json", "--markdown"), says="choose one")
case("help", lambda f: ["--help"], code=0, out="evaluate")
case("an empty file name", lambda f: ["evaluate", "", *ASK], says="empty name")
case("a reproduction of nothing", lambda f: ["reproduce", "nowhere/1"], says="nowhere")
case("a demo into nowhere", lambda f: ["demo", "--out", f / "no" / "r.html"], says="no folder")
case("a demo that copies over a file", lambda f: ["demo", "--copy", put(f, "there.csv", "mine")], says="new file")


@POSIX
@pytest.mark.parametrize("entry", case.cases, ids=str)
def test_a_hostile_call(entry: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(entry, tmp_path, Program(capsys))


def test_json_of_extreme_numbers_is_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(tmp_path, "a.csv", of_rows("score", "5e-324", "0", "1e-310", times=9))
    told = json.loads(Program(capsys)("evaluate", path, "--score", "score", "--json").out, parse_constant=pytest.fail)
    assert told["schema"] == "strat/evaluate/4"
