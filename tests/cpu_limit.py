"""Fails a test over two seconds of CPU, unless it is marked `costly`, with the reason, or `slow` (`make validate`)."""

from __future__ import annotations

import os
from collections.abc import Generator
from time import process_time
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

import warm

SECONDS = 2.0
FIRST = 10  # the first to load a library, or to have hypothesis read the source, may take so many times the limit, once
REFERENCE = 0.12  # CPU seconds of the loop in `slowness` where the limit was set
WAY_OUT = "make it cheaper, mark it costly(reason), or mark it slow (`make validate` runs it)"


def cpu() -> float:
    """CPU seconds of this process and of those that it started, or had started, and that have ended."""
    children = os.times()
    return process_time() + children.children_user + children.children_system + warm.spent


def slowness() -> float:
    """How much slower than where the limit was set this process runs now; a faster one does not tighten the limit."""
    start, total = process_time(), 0
    for k in range(2_000_000):
        total += k ^ (k >> 3)
    return max(1.0, (process_time() - start) / REFERENCE)


class CpuLimit:
    """A plugin that measures each test: its own fixtures and its body, not the fixtures that it shares with others.

    What is over the limit is measured again: the first test that needs a library also pays for its import.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self.start = self.shared = self.used = 0.0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Refuse a permission without a reason."""
        for item in items:
            for marker in item.iter_markers("costly"):
                if len(marker.args) != 1 or not isinstance(marker.args[0], str):
                    raise pytest.UsageError(f"{item.nodeid}: costly must name its reason: costly(reason)")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        """Keep apart what fixtures of wider scope cost, with those that they call."""
        start, before = cpu(), self.shared
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self.shared = before + cpu() - start

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        """Begin to measure."""
        self.start, self.shared = cpu(), 0.0
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        """End the measurement here: the teardown may end a browser or a server that served many tests."""
        try:
            return (yield)
        finally:
            self.used = cpu() - self.start - self.shared

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run the test, once more if it was over the limit, and report the last run."""
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        times = self._times_the_limit(item, reports)
        if 1 < times < FIRST:
            reports = runtestprotocol(item, log=False, nextitem=nextitem)
            times = self._times_the_limit(item, reports)
        if times > 1:
            reports[1].outcome = "failed"
            reports[1].longrepr = f"{self.used:.1f} s of CPU, {times:.1f} times the limit of this machine: {WAY_OUT}"
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _times_the_limit(self, item: pytest.Item, reports: list[pytest.TestReport]) -> float:
        """What a test took in limits of this machine, as it runs now; 0 if it failed or is permitted to take more."""
        permitted = any(item.get_closest_marker(name) for name in ("costly", "slow"))
        if permitted or self.used <= self.seconds or not all(report.passed for report in reports):
            return 0.0
        return self.used / (self.seconds * slowness())
