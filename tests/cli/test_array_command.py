"""`strat array`: what it prints, the files it writes, and its one-line errors."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from strat.algebra import is_orthogonal
from strat.algebra.orthogonal import CONSTRUCTIONS
from strat.base.errors import StratError
from strat.cli.app import app, main


def ask(*arguments, refused=None):
    result = CliRunner().invoke(app, ["array", *map(str, arguments)])
    if refused is not None:
        assert isinstance(result.exception, StratError)
        assert re.search(refused, str(result.exception))
        return result.output
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_help_names_every_construction():
    text = " ".join(ask("--help").replace("│", " ").split())
    assert all(name in text for name in CONSTRUCTIONS)


def test_it_prints_what_it_made():
    text = ask("--levels", 3, "--columns", 40)
    assert "81 runs × 40 columns, 3 levels" in text
    assert "rotation of an m-sequence over GF(3)" in text
    assert "yes" in text


@pytest.mark.parametrize("construction", ["rotation", "rao-hamming", "hadamard"])
@pytest.mark.parametrize("ending", ["csv", "npy"])
def test_it_writes_a_file_that_it_can_check(tmp_path, construction, ending):
    path = tmp_path / f"a.{ending}"
    ask("--columns", 7, "--construction", construction, "--out", path, "--check")
    symbols = np.load(path) if ending == "npy" else np.loadtxt(path, delimiter=",")
    assert symbols.shape == (8, 7)
    assert is_orthogonal(symbols)
    found = json.loads(ask(path, "--json"))
    assert found["schema"] == "strat/array/1"
    assert (found["runs"], found["columns"], found["levels"]) == (8, 7, 2)
    assert found["orthogonal"]
    assert found["fully_balanced"]


def test_it_tells_balance_from_full_balance(tmp_path):
    path = tmp_path / "h.csv"
    path.write_text("1,1\n1,-1\n")
    found = json.loads(ask(path, "--json", refused="balanced against each other, but some column is not"))
    assert (found["orthogonal"], found["balanced"], found["fully_balanced"]) == (False, True, False)


def test_a_large_array_is_checked_only_when_asked():
    assert json.loads(ask("--columns", 1500, "--json"))["orthogonal"] is None
    assert json.loads(ask("--columns", 1500, "--json", "--check"))["orthogonal"]


def test_it_shows_a_field():
    text = ask("--field", 9)
    assert "x^2 + x + 2" in text
    assert "3 = x, of order 8" in text
    assert json.loads(ask("--field", 9, "--json"))["modulus"] == [2, 1, 1]


def test_another_modulus_shows_figure_1_s_own_field(tmp_path):
    """STRAT's Figure 1 prints powers of 2x^4 + 2x^3 + 2; its field has the modulus x^5 + x^4 + x^2 + 1."""
    path = tmp_path / "powers.csv"
    assert "x^5 + x^4 + x^2 + 1" in ask("--field", 243, "--modulus", "1,0,1,0,1,1", "--out", path)
    rows = np.loadtxt(path, delimiter=",", dtype=int)[:, 1:].tolist()
    place = rows.index([2, 0, 0, 2, 2]) + 1  # the exponent of Figure 1's element
    powers = [rows[(k * place - 1) % 242] for k in (2, 3, 241, 242)]
    assert ["".join(map(str, row[::-1])) for row in powers] == ["21002", "12202", "22111", "00001"]


@pytest.mark.parametrize("suffix", ["csv", "npy"])
def test_the_powers_of_a_field_are_written(tmp_path, suffix):
    """The listing of STRAT's Figure 2: exponent and coefficients, the constant first."""
    path = tmp_path / f"powers.{suffix}"
    ask("--field", 4, "--out", path)
    rows = np.load(path) if suffix == "npy" else np.loadtxt(path, delimiter=",", dtype=int)
    assert rows.tolist() == [[1, 0, 1], [2, 1, 1], [3, 1, 0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), r"`strat array` must have one of a FILE to check, `--columns` and `--field`, got 0 of them\."),
        (("--columns", 3, "--field", 9), r"got 2 of them\."),
        (("--columns", 3, "--out", "a.txt"), r"`--out` must end in \.csv or \.npy, got 'a\.txt'\."),
        (("--columns", 3, "--levels", 6), r"`levels` must be a prime power, got 6; the next one is 7\."),
        (("--field", 9, "--modulus", "x"), r"`--modulus` must be whole numbers, comma-separated, .* got 'x'\."),
        (("--field", 9, "--modulus", "2,0,1"), r"`modulus`"),
        (("--columns", 3, "--modulus", "2,1,1"), r"`--modulus` must be left out without --field"),
        (("--columns", 0), r"`columns` must be a whole number of at least 1, got 0\."),
        (("no-such-file.csv",), r"`file` must be an array that can be read, got 'no-such-file\.csv'"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(StratError, match=message):
        ask(*arguments)


@pytest.mark.parametrize(("name", "content"), [("a.csv", "x,y\n"), ("a.csv", ""), ("a.npy", "nothing")])
def test_files_that_are_no_arrays(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(
        StratError, match=r"`file` must (hold whole numbers, one run per line|be a whole file of NumPy arrays)"
    ):
        ask(tmp_path / name)


def test_an_error_is_one_line_and_exit_code_1(capsys):
    with pytest.raises(SystemExit) as exit_:
        main(["array", "--field", "6"])
    assert exit_.value.code == 1
    assert capsys.readouterr().err == "strat: `order` must be a prime power, got 6; the next one is 7.\n"
