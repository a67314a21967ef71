"""Every reader on honest files that were bent, cut, doubled and mixed: a sentence or an answer, never a crash."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fuzz_seeds import HARNESS, HELM, LOG, SAMPLES, SEEDS
from fuzz_targets import TARGETS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}
WORDS = [b"", b"\0", b"\n", b"\r\n", b",", b'"', b"nan", b"inf", b"-1", b"1e309", b"9" * 30, b"\xff", b"[", b"{",
         b"null", b"\xef\xbb\xbf", b"a.b", b"=1", b"<", b"\x1b[2J", b"'", b";", b"PK\3\4", b"\xed\xa0\x80"]  # fmt: skip


@st.composite
def bent(draw: st.DrawFn, seed: bytes) -> bytes:
    """The seed after a few cuts, insertions, flips and copies."""
    made = bytearray(seed)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(made)))
        kind = draw(st.sampled_from(["cut", "insert", "flip", "copy", "drop"]))
        if kind == "cut":
            del made[at:]
        elif kind == "insert":
            made[at:at] = draw(st.sampled_from(WORDS))
        elif kind == "flip" and at < len(made):
            made[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "copy":
            made[at:at] = made[max(0, at - draw(st.integers(1, 40))) : at]
        else:
            del made[at : at + draw(st.integers(1, 20))]
    return bytes(made)


JSON: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([10**400, -1, "C", "nan", "../x", "\ud800", 2**63]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def replaced(draw: st.DrawFn, value: Any) -> Any:
    """The honest document with one part replaced by anything that JSON can say."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: draw(replaced(value[key]))}
    if isinstance(value, list) and value and draw(st.integers(0, 5)):
        i = draw(st.integers(0, len(value) - 1))
        return [*value[:i], draw(replaced(value[i])), *value[i + 1 :]]
    return draw(JSON)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=6, **QUIET)  # type: ignore[arg-type]
@given(data=st.data())
def test_bent_files(name: str, data: st.DataObject) -> None:
    TARGETS[name](data.draw(bent(SEEDS[name])))


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=3, **QUIET)  # type: ignore[arg-type]
@given(content=st.binary(max_size=200))
def test_random_bytes(name: str, content: bytes) -> None:
    TARGETS[name](content)


@settings(max_examples=40, **QUIET)  # type: ignore[arg-type]
@given(log=replaced({**LOG, "samples": SAMPLES}))
def test_inspect_logs_of_the_wrong_shape(log: Any) -> None:
    TARGETS["inspect json"](b'{"version": 2, "status": "x", "eval": {}}' if log is None else json.dumps(log).encode())


@settings(max_examples=40, **QUIET)  # type: ignore[arg-type]
@given(rows=replaced(HARNESS))
def test_harness_samples_of_the_wrong_shape(rows: Any) -> None:
    lines = rows if isinstance(rows, list) else [rows]
    TARGETS["harness"]("\n".join(json.dumps(row) for row in lines).encode())


@settings(max_examples=40, **QUIET)  # type: ignore[arg-type]
@given(rows=replaced(HELM))
def test_helm_instances_of_the_wrong_shape(rows: Any) -> None:
    TARGETS["helm"](json.dumps(rows).encode())


@settings(max_examples=30, **QUIET)  # type: ignore[arg-type]
@given(content=replaced({"labels": ["a", "b"], "counts": [[3, 1], [0, 4]]}))
def test_confusion_matrices_of_the_wrong_shape(content: Any) -> None:
    TARGETS["confusion json"](json.dumps(content).encode())


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=400, **{**QUIET, "derandomize": False})  # type: ignore[arg-type]
@given(data=st.data())
def test_bent_files_for_long(name: str, data: st.DataObject) -> None:
    TARGETS[name](data.draw(bent(SEEDS[name])))
