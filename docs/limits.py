"""Write the tables of docs/limits.md: the limits that stand in the code, and how time and memory grow.

python docs/limits.py              rewrite the limits
python docs/limits.py --measure    measure the growth, too, and rewrite both (some minutes)
python docs/limits.py --check      change nothing; exit with 1 where a limit is not that of the code
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
import tempfile
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "limits.md"


def _bytes(number: int) -> str:
    return f"{number >> 30} GiB" if number >= 1 << 30 else f"{number >> 20} MiB"


def limits() -> list[str]:
    """A line for each limit, with the value that the code has."""
    from strat.base.limits import LIMITS
    from strat.base.validate import columns
    from strat.data.files import engine
    from strat.data.untrusted import DEFAULT as logs

    rows = [
        ("memory of the engine for files, unless `--memory` says otherwise", engine.MEMORY, "it spills to a folder"),
        ("one member of an archive, or one JSON log, unpacked", _bytes(logs.member), "refused"),
        ("all members read from one archive, unpacked", _bytes(logs.archive), "refused"),
        ("members of an archive", f"{logs.members:,}", "refused"),
        ("unpacked over packed size of a member", f"{logs.ratio:,}", "refused"),
        ("one line of a JSON-lines log", _bytes(logs.line), "refused"),
        ("objects and lists in a log", f"{logs.objects:,}", "refused"),
        ("values in a log", f"{logs.values:,}", "refused"),
        ("samples × measures of a log", f"{logs.cells:,}", "refused"),
        ("rows of an Excel sheet", f"{LIMITS.excel_rows:,}", "refused"),
        ("cells of an Excel sheet", f"{LIMITS.excel_cells:,}", "refused"),
        ("a workbook, unpacked", _bytes(LIMITS.excel_unpacked_bytes), "refused"),
        ("a file sent to the local page", _bytes(LIMITS.upload_bytes), "refused: name it by its path"),
        ("a number in a column", f"{columns.LARGEST:g}", "refused"),
        ("rows of a Parquet file with units", f"{LIMITS.rows_in_memory:,}", "two passes over the file instead of one"),
        ("rows of a file or an engine with all their scores", f"{LIMITS.exact_rows:,}", "bins, with a bound"),
        ("groups of `by`, or strata", f"{LIMITS.compared_groups:,}", "not compared with each other; all in one pass"),
        ("pairs of groups", f"{LIMITS.pairs_of_groups:,}", "Bonferroni's limits of their gaps"),
        ("units × values", f"{LIMITS.kept_spread:,}", "standard errors without covariances"),
        ("rows of a picture of values", f"{LIMITS.forest_rows:,}", "left out, and counted below it"),
        ("patterns of a confusion matrix against chance", f"{LIMITS.patterns:,}", "refused"),
        ("order of a finite field", f"{LIMITS.field_order:,}", "refused"),
    ]
    return ["| what | up to | beyond |", "| --- | ---: | --- |", *(f"| {a} | {b} | {c} |" for a, b, c in rows)]


def growth() -> list[str]:
    """A line for each thing that can be many: two sizes, CPU seconds, and exponents of time and memory."""
    tests = _growth_tests()
    lines = ["| what grows | sizes | CPU seconds | time | memory |", "| --- | --- | --- | ---: | ---: |"]
    for name, case in tests.CASES.items():
        largest = case.slow or case.small * case.times  # groups beyond MOST_GROUPS, which only the quick tests lower
        sizes = (largest // case.times, largest)
        with tempfile.TemporaryDirectory() as folder:
            works = [case.prepare(size, Path(folder)) for size in sizes]
            works[0]()  # what is loaded once
            seconds, peaks = [tests.seconds(work) for work in works], [tests.peak(work) for work in works]
        powers = (math.log(many[1] / many[0], case.times) for many in (seconds, peaks))
        cells = [name, *(", ".join(each) for each in ([f"{n:,}" for n in sizes], [f"{s:.3g}" for s in seconds]))]
        lines.append(f"| {' | '.join([*cells, *(f'{power:.1f}' for power in powers)])} |")
        print(lines[-1], flush=True)
    return lines


def _growth_tests() -> ModuleType:
    spec = importlib.util.spec_from_file_location("growth", ROOT / "tests" / "project" / "test_growth_with_size.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["growth"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def replaced(page: str, name: str, lines: list[str]) -> str:
    """The page with other lines between the marks of this name."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = page.split(start)
    return before + start + "\n".join(["", *lines, "", ""]) + end + rest.split(end)[1]


def main() -> int:
    """Write the tables, or check the limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="measure the growth, too")
    parser.add_argument("--check", action="store_true", help="only check the limits")
    options = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    current = replaced(page, "limits", limits())
    if options.check:
        return int(current != page)
    PAGE.write_text(replaced(current, "growth", growth()) if options.measure else current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
