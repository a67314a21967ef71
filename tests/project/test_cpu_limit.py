"""A test over the limit of CPU fails unless it is marked; what it shares, loads or waits for is not held against it."""

from __future__ import annotations

import pytest

from cpu_limit import CpuLimit

pytest_plugins = ["pytester"]

LIMIT = 0.03
TESTS = """
import subprocess, sys, time
import pytest

def burn(seconds):
    start = time.process_time()
    while time.process_time() - start < seconds:
        pass

@pytest.fixture
def own():
    burn(0.06)

@pytest.fixture(scope="module")
def within():
    burn(0.06)

@pytest.fixture(scope="module")
def shared(request):
    request.getfixturevalue("within")
    burn(0.06)

def test_bad_body():
    burn(0.06)

def test_bad_fixture(own):
    pass

def test_bad_child():
    subprocess.run([sys.executable, "-c", "sum(range(8_000_000))"], check=True)

@pytest.mark.costly("it shows that a permission is one")
def test_good_permitted():
    burn(0.06)

@pytest.mark.slow
def test_good_slow():
    burn(0.06)

def test_good_shared(shared):
    pass

def test_good_waiting():
    time.sleep(0.1)

def test_good_second_time(loaded=[]):
    if not loaded:
        burn(0.06)
        loaded.append(True)

def test_bad_second_time(loaded=[]):
    if not loaded:
        burn(0.4)
        loaded.append(True)
"""


def outcomes(pytester: pytest.Pytester, tests: str) -> pytest.RunResult:
    pytester.makeini("[pytest]\nmarkers =\n  slow\n  costly(reason)\n")
    pytester.makepyfile(tests)
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", plugins=[CpuLimit(LIMIT)])


def test_what_is_over_the_limit_fails_and_nothing_else(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cpu_limit.slowness", lambda: 1.0)
    result = outcomes(pytester, TESTS)
    result.assert_outcomes(passed=5, failed=4)
    result.stdout.fnmatch_lines(["FAILED *::test_bad_*"] * 4)


def test_a_slow_machine_is_given_more(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpu_limit.slowness", lambda: 10.0)
    outcomes(pytester, TESTS).assert_outcomes(passed=9)


def test_a_permission_names_its_reason(pytester: pytest.Pytester) -> None:
    result = outcomes(pytester, "import pytest\n\n@pytest.mark.costly\ndef test_a():\n    pass\n")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*costly must name its reason*"])
