"""Writes tests/README.md from the first line of every test file: `python tests/project/listing.py`."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parents[1]
README = TESTS / "README.md"
HEAD = """# What each test file proves

The folders are those of `src/strat`. Beside them: `front` (the names that everybody uses, and the programs that people
write first), `laws` (what holds for every verb, source and design), `docs`, `reproduce` and `validation` (the folders
of these names), `project` (the package itself), `record` (what the library says, call by call), and `oracles`
(reference values of other programs, with the scripts that made them). SECURITY.md names the tests of each of its
promises. Files without `test_` in their name hold what the others share.

`make test` runs all but the slow ones, with nothing beside the clone; `make validate` runs those, too. Tests marked
`shared` need real data that can't be given away: they run where the environment variable `STRAT_SHARED` names a folder.
The examples of R's survey package need its data, which `make survey-data` fetches on Debian (2.8 MB).

Laws come first, then values of other programs, then examples. This list is written by `python tests/project/listing.py`
from the first line of each file.
"""


def files() -> list[Path]:
    """Every Python file under tests, folder by folder."""
    return sorted(TESTS.rglob("*.py"), key=lambda p: (p.parent.relative_to(TESTS).as_posix(), p.name))


def first_line(file: Path) -> str:
    """What the file says of itself, in one line."""
    with file.open(encoding="utf-8") as text:
        head = next(text, "")
    return head.strip().removeprefix('"""').removesuffix('"""').strip() if head.startswith('"""') else ""


def listing() -> str:
    """The whole text of tests/README.md."""
    lines, folder = [HEAD], None
    for file in files():
        if file.parent != folder:
            folder = file.parent
            lines.append(f"\n## {folder.relative_to(TESTS).as_posix() if folder != TESTS else 'tests'}\n\n")
        lines.append(f"* `{file.name}`: {first_line(file)}\n")
    return "".join(lines)


if __name__ == "__main__":
    README.write_text(listing(), encoding="utf-8")
