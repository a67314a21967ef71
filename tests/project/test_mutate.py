"""Changes of the source that tests must notice: which there are, where they stand, and what is said of them."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from typing import Any

import mutate
import pytest
from mutate import Place

ROUND = '''
"""A module; 1 + 1 here is text."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import numpy
LIMIT = 7
def area(width: "Literal[3]", height=1):
    """1 + 1 here is text, too."""
    if width < 0:
        raise ValueError(f"{width + 1} is negative")
    return width * height + (1 if height else 1)
class Shape:
    def sides(self):
        return [n for n in (3, 4) if n > 3 and self]
    def __repr__(self):
        return "shape" * 2
'''


def listed(text: str) -> list[tuple[str, Place]]:
    return list(mutate._places("src/strat/room/thing.py", text))


@pytest.mark.parametrize(
    ("before", "kind", "after"),
    [
        ("a + b", "arithmetic", "a - b"),
        ("a / b", "arithmetic", "a * b"),
        ("n - 1", "n-1", "n"),
        ("a and b", "and/or", "a or b"),
        ("a <= b", "comparison", "a < b"),
        ("a is None", "comparison", "a is not None"),
        ("not a", "not", "a"),
        ("3", "constant", "4"),
        ("0.0", "constant", "1.0"),
        ("1e+300", "constant", "2e+300"),
        ("np.minimum(a, b)", "call", "np.maximum(a, b)"),
        ("any(a)", "call", "all(a)"),
    ],
)
def test_each_kind_of_change(before: str, kind: str, after: str) -> None:
    changes = [(k, p.after) for k, p in listed(f"f({before})") if p.before == before]
    assert changes == [(kind, after)]


@pytest.mark.parametrize("before", ["'a' + b", "f'{a}' + b", "[a] + b", "True", "None", "'text'", "a % b", "f(a)"])
def test_texts_and_lists_are_joined_as_they_are(before: str) -> None:
    assert [p for _, p in listed(f"f({before})") if p.before == before] == []


def test_only_what_does_something_is_changed() -> None:
    """No annotation, message, docstring, or text for people; a condition can also be taken for false."""
    places = [(p.function, p.nth, p.before, p.after) for _, p in listed(ROUND)]
    assert places == [
        ("", 1, "7", "8"),
        ("area", 1, "1", "0"),
        ("area", 1, "width < 0", "width <= 0"),
        ("area", 1, "width < 0", "False"),
        ("area", 1, "0", "1"),
        ("area", 1, "width * height + (1 if height else 1)", "width * height - (1 if height else 1)"),
        ("area", 1, "width * height", "width / height"),
        ("area", 2, "height", "False"),
        ("area", 2, "1", "0"),
        ("area", 3, "1", "0"),
        ("Shape.sides", 1, "3", "4"),
        ("Shape.sides", 1, "4", "5"),
        ("Shape.sides", 1, "n > 3 and self", "n > 3 or self"),
        ("Shape.sides", 1, "n > 3", "n >= 3"),
        ("Shape.sides", 2, "3", "4"),
    ]


def test_a_switch_tells_that_a_place_is_passed_and_changes_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    places = dict(enumerate(place for _, place in listed(ROUND)))
    passed: set[int] = set()

    def area(active: int) -> object:
        def switch(number: int) -> bool:
            passed.add(number)
            return number == active

        monkeypatch.setattr(builtins, "_switch", switch, raising=False)
        names: dict[str, Any] = {}
        exec(mutate.instrumented(ROUND, places), names)
        at_import = {places[n].before for n in passed}
        assert active >= 0 or at_import == {"7", "1"}
        return names["LIMIT"], names["area"](0, 2), names["area"](3, 0), names["Shape"]().sides()

    assert area(-1) == (7, 1, 1, [4])
    assert len(passed) == len(places)
    number = {(p.function, p.nth, p.before, p.after): n for n, p in places.items()}
    assert area(number["", 1, "7", "8"]) == (8, 1, 1, [4])
    assert area(number["area", 3, "1", "0"]) == (7, 1, 0, [4])
    assert area(number["area", 2, "1", "0"]) == (7, 0, 1, [4])
    assert area(number["area", 1, "width < 0", "False"]) == (7, 1, 1, [4])
    assert area(number["Shape.sides", 1, "4", "5"]) == (7, 1, 1, [5])
    with pytest.raises(ValueError, match="1 is negative"):
        area(number["area", 1, "width < 0", "width <= 0"])


def test_a_place_is_found_again_under_another_name_of_its_file(tmp_path: Path) -> None:
    new = tmp_path / "src" / "strat" / "other" / "named.py"
    new.parent.mkdir(parents=True)
    new.write_text(ROUND, encoding="utf-8")
    places = [place for _, place in listed(ROUND)]
    assert {place.file for place in mutate.located(tmp_path, places)} == {"src/strat/other/named.py"}
    assert len(mutate.located(tmp_path, places)) == len(places)
    new.write_text(ROUND.replace("width * height", "width // height"), encoding="utf-8")
    gone = {place.before for place in places} - {place.before for place in mutate.located(tmp_path, places)}
    assert gone == {"width * height + (1 if height else 1)", "width * height"}


def test_what_was_noticed_and_is_not_now_is_lost() -> None:
    def place(name: str, verdict: str) -> Place:
        return Place("src/strat/room/thing.py", name, 1, "a + b", "a - b", verdict)

    before = [place("a", "noticed"), place("b", "noticed"), place("c", "unnoticed"), place("d", "noticed")]
    after = [place("a", "unreached"), place("b", "noticed"), place("c", "unnoticed"), place("d", "unnoticed")]
    assert [p.function for p in mutate.lost(before, after)] == ["a", "d"]
    assert mutate.summary([*after, place("e", "same")]).splitlines() == [
        "noticed 1 of 4 changes (25.0 %), without 1 that mean the same",
        "  room             1 of 4",
    ]


def test_the_stored_places_are_judged_and_most_of_them_are_still_there() -> None:
    stored = mutate.stored()
    assert {place.verdict for place in stored} <= {"noticed", "unnoticed", "unreached", "same"}
    assert [place for place in stored if place.verdict == "same" and not place.by] == []
    here = mutate.located(mutate.ROOT, stored)
    assert len(here) > 2 / 3 * len(stored), "draw new places: python tests/project/mutate.py --new 40 --seed 4 --write"


@pytest.mark.costly("a project is copied, and its tests run in processes of their own")
def test_a_small_project_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:strat")
    for name in [name for name in sys.modules if name.partition(".")[0] == "strat"]:
        monkeypatch.delitem(sys.modules, name)
    files = {
        "pyproject.toml": "",
        "src/strat/__init__.py": "",
        "src/strat/room/__init__.py": "",
        "src/strat/room/thing.py": "def f(x):\n    return x + 5\ndef g(x):\n    return x - 1\n"
        "def h(x):\n    return x + 3\n",
        "tests/room/test_thing.py": "from concurrent.futures import ThreadPoolExecutor\n"
        "from strat.room.thing import f, g\n"
        "engine = ThreadPoolExecutor(1)\n"
        "engine.submit(int).result()  # it has a thread before the first test\n"
        "def test_f():\n    assert engine.submit(f, 1).result(5) == 6\ndef test_g():\n    assert g(1) is not None\n",
    }
    for name, text in files.items():
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).write_text(text, encoding="utf-8")
    drawn = {place.function: place for place in mutate.drawn(tmp_path / "project", 40, 1)}
    judged = mutate.judged(tmp_path / "project", list(drawn.values()), tmp_path / "copy")
    assert {(p.function, p.verdict) for p in judged} == {("f", "noticed"), ("g", "unnoticed"), ("h", "unreached")}
