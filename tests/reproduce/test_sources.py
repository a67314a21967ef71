"""What is said of the sources: rebuilt arrays, the field of a figure, joint tests, and the page of errata."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from reproduce.cvpr import PRINTED_8
from reproduce.entries import KINDS, SEEN, Setting
from reproduce.kuncheva_printed import TABLE_1_1
from reproduce.kuncheva_splits import split_simulation
from reproduce.strat import ratio_coverage

from reproduce import (
    ENTRIES,
    Entry,
    Found,
    Reproduced,
    Value,
    fh_causes,
    fh_tables,
    fukunaga_hayes,
    kuncheva_data,
    reproduce,
    strat_arrays,
    training,
)
from strat import algebra, gaussian
from strat.datasets import recognizer
from strat.designs import Design
from strat.estimation import estimate
from strat.measures import mean, ratio
from strat.recognition import image_array, run, system_of_embeddings
from strat.replication import brr

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/errata.md").read_text(encoding="utf-8")
POINTS = re.findall(r"^\(e(\d+)\)=\n### \1\. (.+?)\n\n(.+?)(?=^\(e|^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
BY_ID = {entry.id: entry for entry in ENTRIES}


def test_one_field_gives_every_row_of_figure_1() -> None:
    """ERRATA 4: of 48 irreducible quintics one, x⁵ + x⁴ + x² + 1, and its g generates."""
    number, fields = strat_arrays.fields_of_figure_1()
    assert number == 48
    assert [f.modulus for f in fields] == [(1, 0, 1, 0, 1, 1)]
    assert fields[0].order_of(strat_arrays.GENERATOR) == 242


def test_irreducible_elements_and_generators_of_figure_1_are_not_the_same() -> None:
    """ERRATA 48: its own generator has the root 1; degrees 1 to 4 have 3, 3, 8, 18 monic irreducible ones."""
    (field,) = strat_arrays.fields_of_figure_1()[1]
    assert (2 * 1**4 + 2 * 1**3 + 2) % 3 == 0
    assert not strat_arrays.is_irreducible(strat_arrays.GENERATOR)
    assert field.order_of(strat_arrays.GENERATOR) == 242
    irreducible = [e for e in range(243) if strat_arrays.is_irreducible(e)]
    assert len(irreducible) == 2 * (3 + 3 + 8 + 18)  # monic ones and their doubles
    generators = [e for e in range(1, 243) if field.order_of(e) == 242]
    assert len(generators) == 110  # Euler's function of 242
    assert (len(set(generators) & set(irreducible)), len(set(irreducible) - set(generators))) == (29, 35)


def test_slips_of_letters_rows_and_sets() -> None:
    """ERRATA 50 to 55, each by what the printed words would give."""
    y = np.random.default_rng(0).normal(size=(4, 3))
    replicates = {round(float(sum(y[h, i] for h, i in enumerate(units)) / 4), 12) for units in np.ndindex(3, 3, 3, 3)}
    assert len(replicates) > 1  # 50: the right side of (16) is not one number
    assert np.mean(list(replicates)) == pytest.approx(y.mean())
    array = strat_arrays.signs(strat_arrays.rebuilt())
    assert (array.T @ array == 8 * np.eye(7)).all()  # 51: columns
    assert (np.abs(array @ array.T)[~np.eye(8, dtype=bool)] == 1).all()  # and not rows
    assert (len(set(np.ndindex(*[3] * 5))), algebra.rotation(3, 13).columns) == (243, 13)  # 52: degree 4; not 3 columns
    found = np.repeat([1, 2, 3, 9], [100, 100, 35, 21])
    assert (np.mean(found <= 3), np.mean(np.unique(found) <= 3)) == (235 / 256, 0.75)  # 53: a union loses repeats
    units = Design.stratified(strata=np.repeat(np.arange(5), 2))
    z = np.arange(10.0)
    assert estimate(mean(z), on=units).value == pytest.approx(z.reshape(5, 2).mean(axis=1).sum() / 5)  # 55: 1/L, not 1


def test_three_columns_leave_two_units() -> None:
    """ERRATA 54: Q^(3) has a gallery and two probes of each subject."""
    data = recognizer(subjects=10, images=4, rng=1)
    system = system_of_embeddings("toy", data.embeddings, subjects=data.subject, score="cosine")
    sizes = [run(system, image_array(data.subject, per_subject=n), gallery=1).design.sizes for n in (3, 4)]
    assert [set(s.tolist()) for s in sizes] == [{2}, {3}]


@pytest.mark.shared
@pytest.mark.costly("160 trainings on two kinds of features")
def test_training_of_lda_and_pca_on_lfw(shared: Path) -> None:
    """STRAT 2.1.3: seen with one kind of features, and of the other only that LDA depends more on who trains."""
    found = {v.what: v.ours for v in training.experiment(Setting(shared)).values if v.other_data}
    assert list(found.values()) == ["not seen here", "seen here too", "seen here too", "seen here too"]


def test_lda_separates_what_pca_does_not() -> None:
    """Two subjects that differ along a direction in which images hardly vary."""
    rng = np.random.default_rng(0)
    who = np.repeat([0, 1], 200)
    x = np.column_stack([3 * rng.normal(size=400), 0.5 * rng.normal(size=400) + 1.5 * who])
    for fit, apart in ((training.pca, False), (training.lda, True)):
        y = fit(x, who, components=1)(x)[:, 0]
        separation = abs(y[who == 0].mean() - y[who == 1].mean()) / y[who == 0].std()
        assert (separation > 2) == apart


def test_the_arrays_of_12_and_8_are_rebuilt_from_their_first_row() -> None:
    """ERRATA 5 and 29: the copies are damaged, the array is the rotation array of GF(2³)."""
    rows = strat_arrays.rebuilt()
    signs = strat_arrays.signs(rows)
    assert algebra.is_orthogonal(signs)
    assert algebra.is_fully_balanced(signs)
    sequence = "".join("+-"[int(bit)] for bit in algebra.m_sequence(2, 3))
    assert rows[0] in sequence + sequence  # a rotation of the sequence of GF(2³), as (25) takes it
    assert PRINTED_8[0] == strat_arrays.PRINTED_12[0] == rows[0]
    assert sum(row in rows for row in PRINTED_8) == 5
    assert [a == b for a, b in zip(strat_arrays.PRINTED_13, rows[2], strict=True)] == [True] * 6 + [False]
    assert not algebra.is_orthogonal(strat_arrays.signs(strat_arrays.PRINTED_12))
    built = {"".join("+-"[int(symbol)] for symbol in run) for run in algebra.rotation(2, 7).symbols}
    assert built == set(rows)


def test_648_runs_carry_256_strata_of_three() -> None:
    """ERRATA 8: every pair of symbols occurs 72 times, and BRR's variance is the textbook one."""
    array = strat_arrays.runs_648()
    assert array.shape == (648, 256)
    assert algebra.is_orthogonal(array)
    y = np.random.default_rng(0).normal(size=(256, 3))
    replicate = 3 * y[np.arange(256), array].sum(axis=1)
    variance = ((replicate - y.sum()) ** 2).sum() / (648 * 2)
    assert variance == pytest.approx((3 * y.var(axis=1, ddof=1)).sum(), rel=1e-12)
    assert brr(strat_arrays.triples(256)).number == 648  # as the page of errata says


def test_the_coverage_of_a_ratio_is_the_library_s() -> None:
    """All draws at once give what one estimate at a time gives."""
    rng, one = np.random.default_rng(8), np.random.default_rng(8)
    share = ratio_coverage(6, 50, rng)
    x = np.repeat(np.linspace(1, 2, 6), 2) * one.gamma(9, 1 / 9, (50, 12))
    y = 0.8 * x + 0.2 * one.normal(size=x.shape)
    on = brr(Design.stratified(strata=np.repeat(np.arange(6), 2), units=np.tile([1, 2], 6), nested=True))
    held = [
        low <= 0.8 <= high for low, high in (estimate(ratio(b, a), on=on).interval() for a, b in zip(x, y, strict=True))
    ]
    assert share == np.mean(held)


def test_a_joint_p_is_uniform_under_chance_and_small_for_one_side() -> None:
    rng = np.random.default_rng(0)
    drawn = [fukunaga_hayes.together(rng.random(24)) for _ in range(400)]
    assert np.mean(np.array(drawn) < 0.05) < 0.08
    assert fukunaga_hayes.together([0.2] * 24) < 1e-3  # each of them unremarkable
    assert fukunaga_hayes.together([0.001, 0.999] * 12) < 1e-6  # both sides, too far out
    assert fukunaga_hayes.together([0.4, 0.6] * 12) == 1.0


def test_the_biases_of_table_3_agree_one_by_one_and_together_with_shared_draws() -> None:
    """ERRATA 39 and 56: the three problems share their draws, and the four distances of a row."""
    made = reproduce(BY_ID["fh/table-3"]).found
    single = [v for v in made.values if ": bias at" in v.what and "by the other" not in v.what]
    joint = [v for v in made.values if v.what.endswith("together: printed above ours")]
    row = [v for v in made.values if v.what.endswith("by the other three")]
    assert (len(single), len(joint), len(row)) == (96, 4, 21)
    assert sum(v.verdict in ("agrees", "compatible") for v in single) >= 90
    assert {v.verdict for v in joint} <= {"derived", "open 39"}
    assert all(v.ours >= 17 for v in joint)
    assert sum(v.verdict == "erratum 56" for v in row) == 3
    assert fukunaga_hayes.likelihood_of_sharing(200) > 8


@pytest.mark.costly("forty cells of drawn samples have no cheaper half")
def test_the_cause_of_table_2_brings_its_averages_together() -> None:
    """ERRATA 40: without one term of the left-out score the printed averages lie on both sides of ours."""
    values = {v.what: v for v in reproduce(BY_ID["fh/table-2"]).found.values}
    assert values[fukunaga_hayes.SHORTENED + ": printed above ours"].verdict == "derived"
    assert values["40 averages together: printed above ours"].verdict == "erratum 40"


def test_other_experiments_than_the_one_described_are_less_likely() -> None:
    """The shape of Table III's rows tells them apart with 50 trials."""
    found = fh_causes.by_distance(50, (fh_causes.DESCRIBED, "distance in the sample's own metric"))
    assert found["distance in the sample's own metric"] < -100
    assert found[fh_causes.DESCRIBED] == 0.0


def test_leaving_out_as_described_is_exact() -> None:
    problem = gaussian.shifted_problem(3, distance=2.0)
    ways = fh_causes.leaving_out(problem, 20, 50, np.random.default_rng(0))
    exact = gaussian.simulate_bias(problem, design_samples=20, repetitions=50, rng=0).values
    np.testing.assert_allclose(ways[fh_causes.DESCRIBED], 100 * exact, atol=1e-9)
    assert ways["without n ln((N − 1)/(N − 2))"].mean() < ways[fh_causes.DESCRIBED].mean()


def test_the_shortened_bias_lacks_one_term() -> None:
    """Added again, it is the difference of leave-one-out and resubstitution."""
    problem = gaussian.shifted_problem(4, distance=2.0)
    short = fh_tables.shortened_biases(problem, 12, 400, 0).mean()
    full = gaussian.simulate_bias(problem, design_samples=12, repetitions=400, rng=0)
    assert 0.75 < short / full.mean < 0.95


def test_a_wrong_critical_value_would_not_be_called_an_erratum() -> None:
    """Only entries that the right heads explain are erratum 22; two are 37, by name."""
    from reproduce.kuncheva import _explained

    assert _explained(25, 89, 0.05)
    assert not _explained(25, 88, 0.05)
    assert not _explained(16, 20, 0.01)
    named = [v.erratum for v in reproduce(BY_ID["kuncheva/table-1.A.1a"]).found.values if v.verdict.startswith("err")]
    assert named.count(37) == 2


def test_the_data_of_the_book_are_those_of_its_programs() -> None:
    """Figure 1.7: points on the program's ellipses; noise of deviation 0.2 t with t up to 2π, not up to 1."""
    for name in ("kuncheva/1.4", "kuncheva/figure-1.7b", "kuncheva/figure-1.8"):
        derived = [v.verdict for v in reproduce(BY_ID[name]).found.values if v.derived is not None]
        assert derived == ["derived"]
    far = kuncheva_data._off_ellipse(np.array([[-6.0, 0.0]]), *kuncheva_data.ELLIPSES[0])
    assert far == pytest.approx(-1)  # the centre: the distance can fail


def test_overlapping_training_sets_spread_the_mean_error() -> None:
    """The book: 0.0711, 0.0347, 0.0320, 0.0667 in one run of 200 data sets."""
    found = split_simulation(data_sets=400, rng=1)
    assert found.sd_shuffled == pytest.approx(0.0711, abs=0.008)
    assert found.sd_independent == pytest.approx(0.0347, abs=0.004)
    assert found.se_uncorrected == pytest.approx(0.0320, abs=0.003)
    assert found.se_corrected == pytest.approx(0.0667, abs=0.006)


def test_printed_values_keep_their_digits() -> None:
    assert Value("x", 41.8, 41.8033, 0.05).as_printed == "41.8"
    assert Value("x", 0.0085, 0.0084896, 5e-5).as_printed == "0.0085"
    assert [Value("x", printed, 1).as_printed for printed in (8, "++-", None)] == ["8", "++-", ""]


def test_an_entry_on_other_data_counts_what_is_seen() -> None:
    claims = tuple(Value("x", "yes", ours, other_data=True) for ours in (SEEN, "not seen here"))
    made = Reproduced(Entry("a/b", "", "", lambda s: Found(claims)), Found(claims))
    assert (made.verdict, made.count) == ("other data", "1 of 2 seen")


def test_a_transcribed_row_adds_up_to_what_the_book_says_of_it() -> None:
    assert (sum(TABLE_1_1), TABLE_1_1[7], TABLE_1_1[14]) == (350, 159, 33)


def test_every_point_of_the_page_says_all_that_a_reader_needs() -> None:
    assert len(POINTS) == PAGE.count(")=\n")
    for number, title, text in POINTS:
        parts = re.findall(r"^\* \*\*(\w+):\*\* (.+)$", text, re.MULTILINE)
        assert [name for name, _ in parts] == ["Where", "Printed", "Right", "Checked", "Kind"], (number, title)


def test_the_kinds_of_the_page_are_those_of_the_verdicts() -> None:
    kinds = {int(n): re.search(r"\*\*Kind:\*\* (\w+)\.", text)[1] for n, _, text in POINTS}
    assert set(kinds.values()) == {"error", "slip", "scan", "open", "trap", "right"}
    apart = {number: kind for number, kind in kinds.items() if kind in ("scan", "open")}
    assert apart == {number: kind for number, kind in KINDS.items() if kind in ("scan", "open")}
    assert {kinds[number] for number, kind in KINDS.items() if kind == "trap"} == {"trap"}


def test_what_the_page_names_is_there() -> None:
    for path in set(re.findall(r"`(tests/[\w/]+\.py)`", PAGE)):
        assert (ROOT / path).is_file(), path
    for words in re.findall(r"`strat reproduce ([a-z][^`]*)`", PAGE):
        assert set(words.split()) <= set(BY_ID), words


def test_every_item_of_the_sources_names_tests_and_entries_that_are_there() -> None:
    """The tables of what the sources say: each test exists, each entry exists, and what is partial has a reason."""
    pages = sorted((ROOT / "docs").glob("sources*.md"))
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    named = set(re.findall(r"`([\w/]+\.py)::(\w+)`", text))
    assert len(named) > 20
    for path, test in named:
        assert f"def {test}(" in (ROOT / "tests" / path).read_text(encoding="utf-8"), (path, test)
    entries = {entry for words in re.findall(r"reproduce ((?:`[\w/.-]+`(?:, )?)+)", text) for entry in words.split("`")}
    assert {entry for entry in entries if "/" in entry} <= set(BY_ID)
    rows = [line for line in text.splitlines() if re.search(r"\| partial\b", line)]
    assert all(line.rstrip(" |").count("|") >= 6 for line in rows), "a reason is missing"
