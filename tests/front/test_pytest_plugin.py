"""The pytest plugin: a fixture that gates, and a marker that repeats a test and judges its pass rate."""

from __future__ import annotations

import pytest

from strat.base.errors import StratError
from strat.verbs.pass_rate import decided, pass_rate

pytest_plugins = ["pytester"]
PLUGIN = ("-p", "no:cacheprovider")  # installed, the plugin is loaded by its entry point


@pytest.fixture
def session(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]\naddopts = --strict-markers\n")
    return pytester


def test_the_fixture_gates_and_the_marker_judges_the_pass_rate(session: pytest.Pytester) -> None:
    session.makepyfile(
        test_gates="""
        OLD, NEW = [1] * 150 + [0] * 50, [1] * 160 + [0] * 40

        def test_good(strat_gate):
            result = strat_gate({"old": OLD, "new": NEW}, score=["old", "new"], baseline="old", margin=0.01)
            assert result.answer == "not worse"

        def test_bad(strat_gate):
            strat_gate({"old": OLD, "new": NEW}, score=["old", "new"], baseline="new", margin=0.01)
        """,
        test_rates="""
        import itertools
        import pytest

        turn, calls = itertools.count(), []

        @pytest.mark.strat_repeat(runs=40, at_least=0.8)
        def test_often(tmp_path):
            assert next(turn) % 20 != 7  # 95 %

        @pytest.mark.strat_repeat(40, 0.8)
        def test_seldom():
            assert next(turn) % 2  # 50 %

        @pytest.mark.strat_repeat(runs=10, at_least=0.8)
        def test_too_few():
            pass

        @pytest.mark.strat_repeat(runs=10, at_least=0.8, unsure="pass")
        def test_too_few_passes():
            pass

        @pytest.mark.strat_repeat(runs=100, at_least=0.8)
        def test_stops_early():
            calls.append(1)
            raise ValueError("no")

        def test_it_did():
            assert len(calls) < 40

        @pytest.mark.strat_repeat(times=3)
        def test_wrong():
            pass
        """,
    )
    result = session.runpytest_subprocess(*PLUGIN)
    result.assert_outcomes(passed=1 + 3, failed=1 + 4)
    result.stdout.fnmatch_lines(
        [
            "*worse: mean: old − new = -0.0500*",
            "13 of 26 runs passed: worse (asked: a pass rate of at least 0.8), whatever the 14 runs left out would do*",
            "6 of 6 runs passed: can't tell *; 14 runs without a failure would show it",
            "*the last failure was ValueError: no",
            "*strat_repeat takes runs, at_least, level, unsure, got *times*",
        ]
    )


def test_a_project_that_does_not_use_the_plugin_does_not_pay_for_it(session: pytest.Pytester) -> None:
    session.makepyfile(
        """
        import sys

        def test_something_else():
            assert "strat_pytest" in sys.modules
            assert not {"numpy", "scipy", "strat"} & set(sys.modules)
        """
    )
    session.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)


@pytest.mark.parametrize(("passes", "answer"), [(20, "not worse"), (17, "can't tell"), (10, "worse")])
def test_rates_by_exact_limits(passes: int, answer: str) -> None:
    assert pass_rate(passes, 20, at_least=0.8).answer == answer


def test_runs_that_cannot_change_the_answer_are_not_made() -> None:
    assert not decided(5, 5, 20, at_least=0.8, level=0.95)
    assert decided(0, 12, 20, at_least=0.8, level=0.95)
    assert decided(20, 20, 20, at_least=0.8, level=0.95)


def test_what_is_refused() -> None:
    with pytest.raises(StratError, match="`passes` must be at most `runs`"):
        pass_rate(3, 2)
    with pytest.raises(StratError, match="`at_least` must lie strictly between 0 and 1, got 80"):
        pass_rate(1, 2, at_least=80)
