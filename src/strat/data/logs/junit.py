"""JUnit XML as pytest writes it: a test passes or fails; no entity is ever expanded."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

from strat.base.errors import StratError, short
from strat.base.limits import LIMITS
from strat.data.logs.item_table import Run
from strat.data.logs.samples import Samples
from strat.data.untrusted import DEFAULT, Limits, number, read_bytes


def is_junit(head: bytes) -> bool:
    """Whether an `.xml` file looks like a report of tests, by its beginning."""
    return b"<testsuite" in head


def read_tests(path: Path, limits: Limits = DEFAULT) -> list[Run]:
    """One run of a suite: a row for each test, 1 where it passed; skipped tests have no score.

    A document type is refused before it is read: no entity of it can grow, and none can name a file.
    """
    report = _Report(path)
    parser = expat.ParserCreate()
    parser.StartElementHandler = report.start
    parser.EndElementHandler = report.end
    parser.StartDoctypeDeclHandler = report.refuse
    parser.EntityDeclHandler = report.refuse
    try:
        parser.Parse(read_bytes(path, limits.member), True)
    except expat.ExpatError as error:
        raise StratError(f"`{path}` must be XML: {error}; the file may have been cut off.") from None
    return [report.samples.done()]


class _Report:
    """The tests of a report, element by element."""

    def __init__(self, path: Path) -> None:
        self.path, self.samples = path, Samples(path, path.stem, "")
        self._test: dict[str, Any] | None = None
        self._outcome, self._depth = "", 0

    def refuse(self, *_: Any) -> None:
        raise StratError(f"`{self.path}` must have no document type or entities; it is no report of tests.")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > LIMITS.xml_depth:
            raise StratError(
                f"`{self.path}` must nest at most {LIMITS.xml_depth} elements deep; it is no report of tests."
            )
        if name == "testcase":
            if "name" not in attributes:
                raise StratError(f"`{self.path}` must give each test a name, got {short(repr(attributes))}.")
            self._test, self._outcome = attributes, "passed"
        elif self._test is not None and name in ("failure", "error", "skipped"):
            self._outcome = name

    def end(self, name: str) -> None:
        self._depth -= 1
        if name != "testcase" or self._test is None:
            return
        group = self._test.get("classname") or self._test.get("file") or ""
        item = f"{group}::{self._test['name']}" if group else self._test["name"]
        scores: dict[str, Any] = {} if self._outcome == "skipped" else {"passed": self._outcome == "passed"}
        if scores and "time" in self._test:
            scores["time"] = number(self._test["time"].replace(",", ""))
        self.samples.add(item, scores, fields={"classname": group}, failed="skipped" if not scores else "")
        self._test = None
