"""The register of notes: each kind has sentences of its facts, in the nouns of the data, read only when asked."""

from __future__ import annotations

import ast
import copy
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from string import Formatter

import pytest

import strat
from source_trees import calls
from strat.base.notes import RETIRED, Note, merged, of_each, on_command_line
from strat.base.notes.kinds import Kind, register
from strat.base.notes.sentences import FORMS

FEW = {"held": 3, "of": 60, "effective": 2.1}
KINDS = tuple(register().values())
MODULES = {"source": "source", "design": "design", "measure": "measures", "value": "values"}


def lines(kind: Kind) -> dict[str, str]:
    """The line of a kind in each case."""
    return {"": kind.says} if isinstance(kind.says, str) else dict(kind.says)


def names_in(template: str) -> Iterator[str]:
    """The names in braces, those of inner ones too."""
    for _, name, spec, _ in Formatter().parse(template):
        if name is not None:
            yield name
            yield from names_in(spec or "")


def facts_in(kind: Kind, line: str) -> set[str]:
    """The facts that the sentences of a kind speak of."""
    every = [line, kind.effect, kind.do, kind.do_on_command_line]
    names = {name for template in every for name in names_in(template)}
    return {name for name in names if name.rpartition(" ")[2] not in FORMS and name != "do"}


def test_a_kind_stands_once_under_a_slug_in_the_module_of_what_it_is_about() -> None:
    homes = {about: __import__(f"strat.base.notes.{name}", fromlist=["KINDS"]) for about, name in MODULES.items()}
    codes = {about: [one.code for one in module.KINDS] for about, module in homes.items()}
    wrong = [
        kind.code
        for kind in KINDS
        if not re.fullmatch(r"[a-z]+(-[a-z]+)*", kind.code)
        or kind.code in RETIRED
        or codes[kind.about].count(kind.code) != 1
    ]
    assert wrong == []


def test_a_kind_has_whole_sentences_without_semicolons() -> None:
    """Code in backquotes apart."""
    templates = [
        (kind.code, template)
        for kind in KINDS
        for template in (*lines(kind).values(), kind.effect, kind.do, kind.do_on_command_line)
        if template
    ]
    assert len(templates) > 100
    assert [(code, template) for code, template in templates if not _whole(template)] == []


def _whole(template: str) -> bool:
    """Whether it begins and ends as a sentence, and is not two that a semicolon joins."""
    prose = re.sub(r"`[^`]*`", "x", template)
    begins = template[0] in "{`" or template[0].isupper()
    return begins and template[-1] in ".?}" and "; " not in re.sub(r"\([^)]*\)", "", prose)


def test_no_two_kinds_have_one_code() -> None:
    assert sum(len(module.KINDS) for module in map(_module, MODULES.values())) == len(register())


def _module(name: str) -> Kind:
    return __import__(f"strat.base.notes.{name}", fromlist=["KINDS"])  # type: ignore[no-any-return]


def test_every_note_is_made_with_the_facts_that_its_sentences_speak_of() -> None:
    missing = []
    for module, call in calls("Note"):
        given = call.args[1] if len(call.args) > 1 else ast.Dict([], [])
        known = isinstance(call.args[0], ast.Constant) and isinstance(given, ast.Dict) and None not in given.keys
        if not known or module.startswith("base/notes/"):
            continue
        code = str(call.args[0].value)  # type: ignore[attr-defined]
        there = {key.value: value for key, value in zip(given.keys, given.values, strict=True)}  # type: ignore[union-attr]
        case = there.get("case", ast.Constant(""))
        every = lines(register()[code])
        for line in [every[str(case.value)]] if isinstance(case, ast.Constant) else every.values():
            lacking = facts_in(register()[code], line) - set(there)
            if lacking:
                missing.append((module, call.lineno, code, lacking))
    assert not missing


def test_what_was_sampled_is_called_as_its_column() -> None:
    named = Note("few-holders", FEW, nouns={"unit": "patient_id"})
    unclear = Note("few-holders", FEW, nouns={"unit": "PATNO"})
    one = Note("few-holders", {"held": 1, "of": 2, "effective": 1.0})
    assert str(named).startswith("Only 3 of 60 patients hold the rarer outcome (")
    assert str(unclear).startswith("Only 3 of 60 clusters ('PATNO') hold")
    assert str(one).startswith("Only 1 of 2 clusters holds")
    assert "together in one patient." in named.paragraph
    assert "in one cluster." in unclear.paragraph


def test_a_fact_names_what_is_counted_where_it_is_no_unit_of_the_design() -> None:
    subjects = Note("few-holders", {**FEW, "unit": "subject"}, nouns={"unit": "passage"})
    levels = Note("few-holders", {**FEW, "unit": "f1"})
    assert "60 subjects hold" in str(subjects)
    assert "60 levels ('f1') hold" in str(levels)


def test_the_columns_of_a_table_name_its_units_in_notes() -> None:
    truth, guess = [1] * 60, [1] * 54 + [0] * 6
    table = {"truth": truth, "guess": guess, "patient_id": [i // 6 for i in range(60)]}
    (note,) = (
        note
        for note in strat.evaluate(table, truth="truth", predicted="guess", units="patient_id").notes
        if isinstance(note, Note) and note.code == "few-holders"
    )
    assert note.facts["held"] == 1
    assert "Only 1 of 10 patients holds the rarer outcome" in note


def test_rows_that_were_drawn_are_called_rows() -> None:
    skewed = strat.estimate(strat.mean([1.0] * 38 + [1e3, 1e4]), on=strat.Design.simple_random(n=40))
    (note,) = (note for note in skewed.notes if isinstance(note, Note) and note.code == "skewed-units")
    assert str(note).startswith("The values of rows are skewed")


def test_the_same_at_several_labels_is_one_note() -> None:
    note, other = Note("few-holders", FEW), Note("few-holders", {**FEW, "held": 2})
    same = [note.of(metric="f1", site=site) for site in "abc"]
    (one,) = merged(same)
    assert one.at == {"metric": ("f1",), "site": ("a", "b", "c")}
    assert str(one).startswith("f1 in site a: Only 3 of 60")
    assert str(one).endswith("Likewise in 2 other sites.")
    assert len(merged([*same, other.of(metric="f1", site="d")])) == 2
    assert len(merged([*same, other.of(metric="f1", site="d")], codes={"few-holders"})) == 1
    assert str(merged([note.of(metric=name) for name in ("f1", "recall")])[0]).endswith("Likewise for recall.")


def test_what_to_type_is_in_the_words_of_the_place() -> None:
    note = Note("classes-like-ids", {"classes": 90, "rows": 90.0})
    assert "`truth` names" in note.paragraph
    with on_command_line():
        assert "--truth names" in note.paragraph
        assert "--population" in Note("strata-are-classes")
        assert "`population`" in str(Note("strata-are-classes").to_dict()["text"])
    assert "--truth" not in note.paragraph


def test_a_note_survives_a_copy_and_a_file() -> None:
    note = Note("few-holders", FEW, nouns={"unit": "site"}).of(metric="f1")
    for one in (pickle.loads(pickle.dumps(note)), copy.copy(note), copy.deepcopy(note)):
        assert (one, one.code, one.facts, one.at, one.nouns) == (note, note.code, note.facts, note.at, note.nouns)
        assert hash(one) == hash(note)


def test_the_register_is_not_read_before_a_sentence_is_wanted() -> None:
    program = (
        "import sys, strat\n"
        "design = strat.Design.simple_random(n=40)\n"
        "print(strat.estimate(strat.mean(list(range(40))), on=design))\n"
        "assert not [name for name in sys.modules if name.startswith('strat.base.notes.')]"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


# the page of notes has each kind once; here stand the other cases of those that have several
OTHER_CASES: tuple[tuple[str, dict[str, object], str], ...] = (
    (
        "collapsed-strata",
        {"case": "others", "least": 1.2, "most": 6.7},
        "Each stratum of one cluster was joined with a neighbour. Differences between joined strata count as "
        "variance, which is about 1.2 to 6.7 times what it would be if these strata vary as those of several clusters "
        "do.",
    ),
    (
        "collapsed-strata",
        {"case": "pairs", "least": 100.0, "most": None},
        "Each stratum of one cluster was joined with a neighbour. Differences between joined strata count as "
        "variance. The difference that all pairs have in common alone makes it about 100 times too large.",
    ),
    (
        "trend",
        {"several": 2},
        "The values drift along the order in 2 strata. The mean then depends on where the systematic sample starts, "
        "which differences of neighbours do not show. The variance of an evenly distributed start is added.",
    ),
    (
        "undefined-share",
        {"case": "recall", "measure": "recall", "n": 2, "labels": ("cow", "pig")},
        "The classes 'cow', 'pig' never occur, so that recall is undefined. Its value is 0. To choose the value, "
        "give `zero_division` to the function of the measure, such as `strat.f1`.",
    ),
    (
        "undefined-share",
        {"measure": "F1", "n": 1, "labels": None},
        "F1 of the class has nothing to divide by, so that it is undefined. Its value is 0. To choose the value, "
        "give `zero_division` to the function of the measure, such as `strat.f1`.",
    ),
    (
        "spelled-labels",
        {"these": ("no", "yes"), "those": ("No", "Yes")},
        "'no', 'yes' count as other labels than 'No', 'Yes'.",
    ),
    (
        "mixed-scales",
        {"case": "means", "a": "A", "b": "B", "first": 0.5, "second": 50.0},
        "A and B have means of 0.5 and 50. One looks like a fraction and the other like a percentage. If so, bring "
        "both to one unit.",
    ),
    (
        "no-variation",
        {"case": "splits", "difference": 0.25, "unit": "split"},
        "The difference is 0.25 in every split. Without variation there is neither a corrected t-test nor a posterior.",
    ),
    (
        "no-variation",
        {"case": "posterior", "difference": 0.25, "unit": "split"},
        "The difference is 0.25 in every split. The posterior is a single point, which is not evidence of certainty.",
    ),
    (
        "no-variation",
        {"case": "data sets", "same": 1, "n": 6, "unit": "split"},
        "In 1 of 6 data sets the difference is the same in every split. A small variance is assumed there.",
    ),
    (
        "no-variation",
        {"case": "decisions", "unit": "subject"},
        "Both systems decide every comparison in the same way here, so that nothing varies. The interval is a point, "
        "which is not evidence of certainty.",
    ),
    (
        "few-data-sets",
        {"n": 3, "systems": 12, "exact": False, "pvalue": 0.0314},
        "3 data sets and 12 systems are few for the F approximation. Random orders of the systems give p = 0.0314.",
    ),
    (
        "scores-reversed",
        {"case": "error"},
        "The equal error rate is above 0.5: mated comparisons score worse than non-mated ones. Is the direction of the "
        "scores reversed?",
    ),
    (
        "templates-alike",
        {"n": 2, "image": "gallery image", "names": ("a", "b"), "score": -9.0, "listed": True},
        "2 gallery images ('a', 'b') have one score throughout, -9, as after a failure to make a template. Such scores "
        "count as comparisons. Leave the lines of failed images out.",
    ),
)


@pytest.mark.parametrize(("code", "facts", "line"), OTHER_CASES)
def test_the_lines_of_other_cases(code: str, facts: dict[str, object], line: str) -> None:
    assert str(Note(code, facts)) == line


def test_several_values_are_listed_and_the_rest_is_counted() -> None:
    note = Note("class-left-out", {"labels": ("a", "b", "c", "d", "e", "f", "g")})
    assert str(note).startswith("The classes 'a', 'b', 'c', 'd', 'e' and 2 more are predicted")


def test_notes_of_all_labels_have_none_and_others_those_that_they_concern() -> None:
    few, less, wide = Note("few-subjects", {"n": 12}), Note("few-subjects", {"n": 9}), Note("pairs-not-kept")
    notes = of_each("system", {"A": [few, wide], "B": [wide, few.of(fmr=0.1)], "C": [wide, less]}, ())
    assert [(note.facts.get("n"), dict(note.at)) for note in notes] == [
        (None, {}),
        (12, {"system": ("A",)}),
        (12, {"system": ("B",), "fmr": (0.1,)}),
        (9, {"system": ("C",)}),
    ]
