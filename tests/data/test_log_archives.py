"""The fast directory of an archive says what the standard library says, and steps aside where it can't."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from strat.data.logs import archive, read_logs

NAMES = ("header.json", "summaries.json", *(f"samples/item-{i}_epoch_1.json" for i in range(40)))


def _zip(path: Path, *, comment: bytes = b"", names: tuple[str, ...] = NAMES) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for i, name in enumerate(names):
            file.writestr(name, json.dumps({"i": i, "text": "x" * i}))
        file.comment = comment
    return path


def test_both_directories_agree(tmp_path: Path) -> None:
    with _zip(tmp_path / "a.eval").open("rb") as file:
        fast = archive._PlainDirectory.of(file)
        assert fast is not None
        assert dict(fast) == archive._directory(file)
        assert len(fast) == len(NAMES)


@pytest.mark.parametrize(
    "options", [{"comment": b"hello"}, {"names": ("header.json", "größe.json")}, {"names": ()}], ids=str
)
def test_archives_that_are_not_plain_are_read_by_the_standard_library(
    tmp_path: Path, options: dict[str, object]
) -> None:
    path = _zip(tmp_path / "a.eval", **options)  # type: ignore[arg-type]
    with path.open("rb") as file:
        assert not archive._PlainDirectory.of(file)
    with archive.Archive(path) as read:
        assert read.names == list(options.get("names", NAMES))  # type: ignore[call-overload]


@pytest.mark.parametrize("at", [-1, -10, -22, -60, -400])
def test_a_damaged_directory_is_not_read_fast(tmp_path: Path, at: int) -> None:
    path = _zip(tmp_path / "a.eval")
    content = bytearray(path.read_bytes())
    del content[at]
    path.write_bytes(content)
    with path.open("rb") as file:
        assert archive._PlainDirectory.of(file) is None


def test_ids_of_thirty_digits_stay_whole(tmp_path: Path) -> None:
    ids = [10**30 + i for i in range(4)]
    header = {"version": 2, "status": "success", "eval": {"model": "m", "task": "t"}}
    samples = [{"id": i, "epoch": 1, "scores": {"match": {"value": "C"}}} for i in ids]
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as file:
        file.writestr("header.json", json.dumps(header))
        file.writestr("summaries.json", json.dumps(samples))
    assert read_logs(tmp_path).items.tolist() == [str(i) for i in ids]
