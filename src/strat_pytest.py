"""A pytest plugin: the fixture `strat_gate`, and the marker `strat_repeat` for tests that don't always pass.

It stands outside the package, and both load the library when they are used: pytest imports this module in every
session of every project of the environment, and a session without them must start as fast as before.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from strat.verbs import GateResult

MARKER = "strat_repeat"
RUNS = 20


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(runs={RUNS}, at_least=0.8, level=0.95, unsure='fail'): run the test so often and judge its pass "
        "rate by its one-sided confidence limit",
    )


@pytest.fixture
def strat_gate() -> Callable[..., GateResult]:
    """A function with the arguments of `strat.gate` that fails the test where the gate does."""
    return _gated


def _gated(source: Any, **how: Any) -> GateResult:
    __tracebackhide__ = True
    from strat.verbs import gate

    return _judged(gate(source, **how))


def _judged(result: GateResult) -> GateResult:
    """The result, unless it fails the test; an open answer that only warns does so."""
    __tracebackhide__ = True
    if not result.passed:
        pytest.fail(str(result), pytrace=False)
    if result.answer == "can't tell" and result.unsure == "warn":
        from strat.base.errors import StratWarning

        warnings.warn(result.line, StratWarning, stacklevel=2)
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a marked test several times and judge its pass rate; leave the others to pytest."""
    marker = pyfuncitem.get_closest_marker(MARKER)
    if marker is None:
        return None
    __tracebackhide__ = True
    if inspect.iscoroutinefunction(pyfuncitem.obj):
        pytest.fail(f"{MARKER} is for plain test functions, and {pyfuncitem.name} is asynchronous.", pytrace=False)
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    _repeated(lambda: pyfuncitem.obj(**arguments), pyfuncitem.name, **_options(marker))
    return True


def _options(marker: pytest.Mark) -> dict[str, Any]:
    known = {"runs": RUNS, "at_least": 0.8, "level": 0.95, "unsure": "fail"}
    given = {**dict(zip(known, marker.args, strict=False)), **marker.kwargs}
    if len(marker.args) > len(known) or set(given) - set(known):
        pytest.fail(f"{MARKER} takes {', '.join(known)}, got {sorted(set(given) - set(known))}.", pytrace=False)
    return known | given


def _repeated(test: Callable[[], object], name: str, *, runs: int, at_least: float, level: float, unsure: str) -> None:
    """Run the test until its answer is certain; runs that could not change it any more are left out."""
    __tracebackhide__ = True
    from strat.base import validate
    from strat.verbs.pass_rate import decided, pass_rate

    planned, passes, done = validate.count("runs", runs, least=2), 0, 0
    last = ""
    while done < planned and not (done and decided(passes, done, planned, at_least=at_least, level=level)):
        try:
            test()
        except (Exception, pytest.fail.Exception) as error:  # a failed run counts; skips and exits go on
            last = f"{type(error).__name__}: {error}"
        else:
            passes += 1
        done += 1
    # where runs were left out, any outcome of them gives the answer of these
    result = pass_rate(passes, planned, at_least=at_least, level=level, unsure=unsure, name=name)
    if not result.passed:
        pytest.fail(_failure(result, passes, done, planned, last), pytrace=False)
    _judged(result)


def _failure(result: GateResult, passes: int, done: int, planned: int, last: str) -> str:
    """Why a repeated test fails: how often it passed, what that shows, and how it failed last."""
    asked = result.checks[0].bound
    text = f"{passes} of {done} runs passed: {result.answer} (asked: a pass rate of at least {asked:g})"
    if done < planned:
        text += f", whatever the {planned - done} runs left out would do"
    else:
        text += f", limits {result.checks[0].low:.3f} and {result.checks[0].high:.3f}"
    if result.answer == "can't tell":
        least = math.ceil(math.log(1.0 - result.level) / math.log(asked))
        text += f"; {least} runs without a failure would show it"
    return f"{text}; the last failure was {last}" if last else text
