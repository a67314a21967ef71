"""Files that are not as they were written: refused in one sentence, before the engine reads outside its memory."""

from __future__ import annotations

import gzip
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_cases import in_a_copy
from strat.base.errors import StratError
from strat.verbs import evaluate

pa = pytest.importorskip("pyarrow")

ROWS = 400
TRUTH = ["cat", "dog"] * (ROWS // 2)
GUESS = ["cat", "cat", "dog", "dog"] * (ROWS // 4)


def _arrow(path: Path, *, coded: bool = False) -> bytes:
    columns: dict[str, Any] = {"t": pa.array(TRUTH), "p": pa.array(GUESS)}
    if coded:
        columns = {name: column.dictionary_encode() for name, column in columns.items()}
    table = pa.table(columns)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return path.read_bytes()


def _evaluated(path: Path) -> Any:
    return evaluate(str(path), truth="t", predicted="p", metrics=["accuracy"])


@pytest.mark.parametrize("offset", [0x7FFFFF00, -1_000_000, 5_000])
def test_a_wrong_offset_of_text_in_an_arrow_file_is_refused(tmp_path: Path, offset: int) -> None:
    """One wrong offset ended the process by a segmentation fault."""
    data = bytearray(_arrow(tmp_path / "x.arrow"))
    offsets = struct.pack("<8i", *range(0, 24, 3))
    data[data.index(offsets) + 16 : data.index(offsets) + 20] = struct.pack("<i", offset)
    (tmp_path / "x.arrow").write_bytes(data)
    done = in_a_copy("evaluate", tmp_path / "x.arrow", "--truth", "t", "--predicted", "p")
    assert done.code == 1
    assert "can't be read as an Arrow file" in done.err


@pytest.mark.parametrize("index", [7, 0x7FFFFFF0, -5])
def test_an_index_outside_its_dictionary_is_refused(tmp_path: Path, index: int) -> None:
    """An index of 7 among two entries was read as the class ''."""
    data = bytearray(_arrow(tmp_path / "x.arrow", coded=True))
    indices = struct.pack("<8i", *[0, 1] * 4)
    data[data.index(indices) + 8 : data.index(indices) + 12] = struct.pack("<i", index)
    (tmp_path / "x.arrow").write_bytes(data)
    with pytest.raises(StratError, match="can't be read as an Arrow file"):
        _evaluated(tmp_path / "x.arrow")


def test_whole_arrow_files_are_read(tmp_path: Path) -> None:
    _arrow(tmp_path / "x.arrow", coded=True)
    assert _evaluated(tmp_path / "x.arrow").estimates["accuracy"].value == 0.5


@pytest.mark.parametrize("suffix", ["csv.gz", "jsonl.gz"])
@pytest.mark.parametrize("field", ["checksum", "length"])
def test_a_gzip_file_that_does_not_fit_its_checksum_is_refused(tmp_path: Path, suffix: str, field: str) -> None:
    """A `.csv.gz` with a wrong CRC, which `gzip -t` refuses, was read."""
    rows = zip(TRUTH, GUESS, strict=True)
    if suffix == "csv.gz":
        text = "t,p\n" + "".join(f"{t},{p}\n" for t, p in rows)
    else:
        text = "".join(f'{{"t": "{t}", "p": "{p}"}}\n' for t, p in rows)
    path = tmp_path / f"x.{suffix}"
    packed = bytearray(gzip.compress(text.encode()))
    path.write_bytes(packed)
    assert _evaluated(path).rows == ROWS
    packed[-8 if field == "checksum" else -4] ^= 1
    path.write_bytes(packed)
    with pytest.raises(StratError, match="the file is damaged"):
        _evaluated(path)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_a_parquet_page_that_does_not_fit_its_checksum_is_refused(
    tmp_path: Path, version: str, compression: str
) -> None:
    """19 of 300 damaged Parquet files with page checksums gave other values without a word."""
    import pyarrow.parquet

    path = tmp_path / "x.parquet"
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 9, ROWS * 50)
    table = pa.table({"t": numbers, "p": numbers[::-1], "u": rng.random(ROWS * 50)})
    pyarrow.parquet.write_table(
        table,
        path,
        write_page_checksum=True,
        compression=compression,
        data_page_version=version,
        data_page_size=2_000,
        row_group_size=3_000,
    )
    _evaluated(path)
    whole = path.read_bytes()
    metadata = pyarrow.parquet.read_metadata(path)
    for group in range(metadata.num_row_groups):
        chunk = metadata.row_group(group).column(2)
        damaged = bytearray(whole)
        damaged[chunk.data_page_offset + 400] ^= 1  # beyond the header of the page
        path.write_bytes(damaged)
        with pytest.raises(StratError, match="a page does not fit its checksum"):
            _evaluated(path)


def test_a_file_that_is_replaced_between_two_passes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bins of the old rows and rows of the new gave a mean of 5.4987."""
    from strat.data.files import FileSource

    path, other = tmp_path / "x.csv", tmp_path / "y.csv"
    for name, shift in ((path, 0), (other, 9)):
        lines = [f"{i % 97 + shift / 10:07.2f},{i // 4:04d}" for i in range(2_000)]
        name.write_text("s,u\n" + "\n".join(lines) + "\n")
    status = path.stat()
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert other.stat().st_size == status.st_size
    fetch, passes = FileSource.fetch, []

    def once(self: FileSource, relation: Any) -> Any:
        found = fetch(self, relation)
        if not passes:
            other.replace(path)
        passes.append(relation)
        return found

    monkeypatch.setattr(FileSource, "fetch", once)
    with pytest.raises(StratError, match="changed while it was read"):
        evaluate(str(path), score="s", units="u", bins=10)
