"""Pictures hold what a journal asks for: diagonal, ticks, limits that can't cross, labels that don't overlap."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import strat
import warm
from strat.base.limits import LIMITS
from strat.estimation import curves
from strat.recognition import match_curve, ranks, verification
from strat.show import drawing
from strat.show.figures import new_axes

matplotlib.use("agg")
RNG = np.random.default_rng(11)
PATIENT = np.repeat(np.arange(120), RNG.integers(1, 5, 120))
HEALTH = RNG.normal(size=120)[PATIENT]
SICK = (RNG.random(len(PATIENT)) < 1 / (1 + np.exp(1 - 2 * HEALTH))).astype(int)
RISK = 1 / (1 + np.exp(1 - 2 * HEALTH - RNG.normal(size=len(PATIENT))))
DESIGN = strat.Design.clustered(units=PATIENT)
SYSTEM = RNG.normal(size=(40, 8))
WHO = np.repeat(np.arange(40), 3)
SIMILARITY = (SYSTEM[WHO] + RNG.normal(size=(120, 8))) @ SYSTEM.T
RANKS = ranks(similarity=SIMILARITY, probes=WHO, gallery=np.arange(40))


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def gids(ax: Any) -> list[str | None]:
    return [line.get_gid() for line in ax.get_lines()]


def legend(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def overlapping(texts: list[Any]) -> list[tuple[str, str]]:
    """Pairs of texts whose boxes touch."""
    texts[0].figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in texts]
    return [
        (texts[i].get_text(), texts[j].get_text())
        for i in range(len(boxes))
        for j in range(i)
        if boxes[i].overlaps(boxes[j])
    ]


# ---- curves of scores


def test_roc_has_diagonal_area_and_named_axes() -> None:
    ax = strat.plot.roc(SICK, RISK, units=PATIENT, positive=1)
    diagonal = ax.get_lines()[gids(ax).index("strat-diagonal")]
    assert diagonal.get_xdata().tolist() == diagonal.get_ydata().tolist() == [0, 1]
    area = strat.estimate(strat.auc(SICK, RISK), on=DESIGN)
    low, high = area.interval()
    assert legend(ax)[0] == f"AUC {area.value:.3f} ({low:.3f}, {high:.3f})"
    assert ax.get_xlabel() == "false positive rate\npositive class: 1"
    assert ax.get_ylabel() == "true positive rate"
    x, y = ax.get_lines()[gids(ax).index(drawing.OF_CURVE)].get_data()
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)


@pytest.mark.parametrize(("kind", "direction"), [("roc", 1), ("det", -1)])
def test_limits_of_a_monotone_curve_are_monotone_around_it(kind: str, direction: int) -> None:
    curve = curves.of_rows(kind, SICK, RISK, on=DESIGN)
    for region in (curve.each, curve.whole):
        assert region is not None
        (x, high), (_, low) = region
        assert (np.diff(x) > 0).all()
        assert (direction * np.diff(high) >= 0).all()
        assert (direction * np.diff(low) >= 0).all()
        assert (low <= high).all()
    assert curve.whole is not None
    assert curve.each is not None
    assert (curve.whole[0][1] >= curve.each[0][1] - 1e-12).all()


def test_limits_of_very_many_scores_are_those_of_all_of_them() -> None:
    truth = RNG.integers(0, 2, 12_000)
    score = truth + RNG.normal(size=12_000)
    design = strat.Design.simple_random(n=12_000)
    curve = curves.of_rows("roc", truth, score, on=design)
    grid = [0.01, 0.05, 0.3, 0.9]
    exact = strat.estimate(strat.rate_at(truth, score, fpr=grid), on=design).interval()
    assert curve.each is not None
    for edge, limit in zip(curve.each[::-1], exact, strict=True):
        np.testing.assert_allclose(np.interp(grid, *edge), limit, atol=0.002)


def test_a_roc_is_closed_where_everything_is_called_positive() -> None:
    curve = curves.of_rows("roc", SICK, RISK, on=DESIGN)
    assert curve.each is not None
    assert curve.each[1][1][-1] == 1.0


def test_an_estimate_of_a_roc_draws_a_roc_with_the_same_area() -> None:
    """The plot of an estimated ROC drew both rates against the threshold, and called the y axis ROC."""
    made = strat.estimate(strat.roc(SICK, RISK), on=DESIGN)
    ax = made.plot()
    exact = strat.estimate(strat.auc(SICK, RISK), on=DESIGN)
    value, *limits = (float(number) for number in re.findall(r"0\.\d{3}", legend(ax)[0]))
    assert value == pytest.approx(exact.value, abs=0.0005)
    assert limits == pytest.approx(exact.interval(), abs=0.005)  # the AUC itself is jackknifed, its curve is not
    assert "strat-diagonal" in gids(ax)
    np.testing.assert_array_equal(ax.get_lines()[0].get_data(), made.point)
    assert strat.plot.roc(made).get_ylabel() == "true positive rate"


def test_rates_at_false_positive_rates_are_a_roc_to_its_end() -> None:
    made = strat.estimate(strat.rate_at(SICK, RISK, fpr=[0.5, 0.1, 1.0]), on=DESIGN)
    ax = made.plot()
    assert "strat-diagonal" in gids(ax)
    assert ax.get_lines()[0].get_xdata().tolist() == [0.1, 0.5, 1.0]
    assert ax.get_ylim()[0] <= 0


def test_calibration_is_a_reliability_diagram() -> None:
    """The plot of a calibration curve drew two lines over bin centres, without a diagonal and without counts."""
    ax = strat.plot.calibration(SICK, RISK, units=PATIENT)
    assert "strat-diagonal" in gids(ax)
    share, probability = strat.calibration_curve(SICK, RISK, bins=10).value()
    np.testing.assert_allclose(ax.get_lines()[gids(ax).index(drawing.OF_CURVE)].get_data(), [probability, share])
    (below,) = ax.child_axes
    assert sum(bar.get_height() for bar in below.patches) == len(SICK)
    assert below.get_ylabel() == "rows"
    assert "strat-diagonal" in gids(strat.estimate(strat.calibration_curve(SICK, RISK), on=DESIGN).plot())


def test_precision_recall_has_the_share_of_positives() -> None:
    ax = strat.plot.precision_recall(SICK, RISK, units=PATIENT)
    line = ax.get_lines()[gids(ax).index("strat-prevalence")]
    assert line.get_ydata()[0] == pytest.approx(SICK.mean())
    assert legend(ax)[0].startswith("average precision 0.")
    assert (ax.get_xlabel().splitlines()[0], ax.get_ylabel()) == ("recall", "precision")


@pytest.mark.parametrize("most", [0.4, 0.6, 0.95, 0.999])
def test_ticks_of_normal_deviates_do_not_overlap_however_long_the_axes(most: float) -> None:
    for least in (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2):
        ax = new_axes(None, drawing.SQUARE)
        drawing.probit_axes(ax)
        ax.set(xlim=(least, most), ylim=(least, most))
        drawing.probit_ticks(ax)
        ax.figure.draw_without_rendering()
        shown = [t for t, at in zip(ax.get_xticklabels(), ax.get_xticks(), strict=True) if least <= at <= most]
        assert len(shown) >= 2
        assert overlapping(shown) == []
        plt.close(ax.figure)


@pytest.mark.parametrize("noise", [0.0, 0.5, 3.0])
def test_det_has_ticks_as_percentages_that_do_not_overlap(noise: float) -> None:
    """A DET picture had no tick between 0.00005 and 0.1."""
    score = SICK * 3 + RNG.normal(size=len(SICK)) * (1 + noise)
    ax = strat.plot.det(SICK, score, units=PATIENT)
    ax.figure.draw_without_rendering()
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        shown = [
            (t, label) for t, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True) if low <= t <= high
        ]
        assert len(shown) >= 3
        assert all(float(label.get_text()) == pytest.approx(100 * t) for t, label in shown)
        assert overlapping([label for _, label in shown]) == []


def test_a_second_curve_gets_another_colour_and_one_diagonal() -> None:
    ax = strat.plot.roc(SICK, RISK, name="A")
    assert strat.plot.roc(SICK, RISK**2 + RNG.normal(size=len(SICK)), name="B", ax=ax) is ax
    drawn = [line for line in ax.get_lines() if line.get_gid() == drawing.OF_CURVE]
    assert len({line.get_color() for line in drawn}) == 2
    assert gids(ax).count("strat-diagonal") == 1
    assert [text[:6] for text in legend(ax) if text[1:6] == ": AUC"] == ["A: AUC", "B: AUC"]


def test_weights_and_strata_reach_the_picture() -> None:
    weights = 1.0 + PATIENT % 2
    ax = strat.plot.roc(SICK, RISK, units=PATIENT, strata=PATIENT % 2, weights=weights)
    design = strat.Design.clustered(units=PATIENT, strata=PATIENT % 2, weights=weights)
    area = strat.estimate(strat.auc(SICK, RISK), on=design)
    assert legend(ax)[0].startswith(f"AUC {area.value:.3f} (")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: strat.plot.roc(SICK), "`score` must be given beside the truth"),
        (lambda: strat.plot.calibration(SICK), "`probability` must be given beside the truth"),
        (lambda: strat.plot.roc(strat.estimate(strat.mean(RISK), on=DESIGN)), r"an estimate of strat.roc\(\), got an"),
        (lambda: strat.plot.roc(strat.estimate(strat.det(SICK, RISK), on=DESIGN)), "got an estimate of DET"),
        (lambda: strat.plot.roc(SICK, RISK, level=95), "`level` must lie"),
        (lambda: strat.plot.roc(np.where(SICK, "ill", "well"), RISK), "`positive` must"),
        (lambda: strat.plot.roc(SICK, RISK, units=[1, 2]), r"`units` must have as many rows as `truth` \(\d+\), got 2"),
        (lambda: strat.plot.det([0, 1, 0, 1], [2, 2, 2, 2]), "are all scores the same"),
        (lambda: strat.plot.forest([1.0]), "`estimates` must be estimates"),
        (lambda: strat.plot.critical_difference({"A": [1, 2], "B": [2, 1]}), "`higher_is_better` must be True or"),
    ],
)
def test_what_can_not_be_drawn_is_refused_in_a_sentence(call: Any, message: str) -> None:
    with pytest.raises(strat.StratError, match=message):
        call()


# ---- curves of ranks and comparisons


def test_cmc_has_whole_ranks_and_its_first_value() -> None:
    """Ranks were written as powers of ten."""
    ax = strat.plot.cmc(RANKS)
    ax.figure.draw_without_rendering()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "5", "10", "20"]
    low, high = match_curve(RANKS).of().interval()
    assert legend(ax)[0] == f"rank 1 {match_curve(RANKS).of().value[0]:.2f} ({low[0]:.2f}, {high[0]:.2f})"
    several = strat.plot.cmc({"one": RANKS, "two": RANKS})
    assert len(several.collections) == 2  # an interval each, and no band over the other


def test_det_of_comparisons_draws_on_normal_deviates() -> None:
    found = verification(similarity=SIMILARITY, probes=WHO, gallery=np.arange(40)).det()
    ax = strat.plot.det(found)
    assert ax.get_xlabel().startswith("false match rate (%)")
    assert len(found.fmr) > 8


# ---- forests


@pytest.mark.parametrize("rows", [1, 3, 57, 120])
def test_labels_of_a_forest_never_overlap(rows: int) -> None:
    """Labels of 57 subjects were drawn on top of each other."""
    marks = [drawing.Mark(f"subject number {k}", 0.5, 0.3, 0.7) for k in range(rows)]
    ax = drawing.forest(marks, x_label="accuracy")
    assert overlapping(ax.get_yticklabels()) == []
    assert overlapping(list(ax.texts)) == []
    box, figure = ax.texts[0].get_window_extent(), ax.figure.bbox
    assert box.x1 <= figure.x1
    assert ax.texts[0].get_text() == "0.50 (0.30, 0.70)"


def test_labels_fit_into_given_axes_too() -> None:
    ax = plt.subplots(figsize=(6, 4), layout="constrained")[1]
    drawing.forest([drawing.Mark(f"subject {k}", 0.5, 0.3, 0.7) for k in range(57)], ax)
    assert overlapping(ax.get_yticklabels()) == []


def test_a_forest_of_very_many_rows_is_cut_with_a_note() -> None:
    ax = drawing.forest([drawing.Mark(str(k), 0.5, 0.3, 0.7) for k in range(250)], x_label="accuracy")
    assert len(ax.get_yticklabels()) == LIMITS.forest_rows
    assert ax.get_xlabel() == "accuracy\n50 more rows are not drawn"


def test_forest_of_a_mapping_has_a_row_each() -> None:
    named = {"north": strat.estimate(strat.mean(RISK), on=DESIGN), "south": strat.estimate(strat.mean(SICK), on=DESIGN)}
    ax = strat.plot.forest(named, reference=0.3)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["north", "south"]
    assert ax.get_lines()[0].get_xdata() == [0.3, 0.3]
    assert ax.get_xlabel() == "mean, 95 % interval"


TABLE = {
    "sick": SICK,
    "risk": RISK,
    "called": (RISK > 0.5).astype(int),
    "patient": PATIENT,
    "site": np.array(["north", "south", "east"])[PATIENT % 3],
}
ROLES: dict[str, Any] = {"truth": "sick", "predicted": "called", "score": "risk", "units": "patient"}


def test_an_evaluation_draws_its_measures() -> None:
    found = strat.evaluate(TABLE, **ROLES, metrics=["accuracy", "recall"])
    ax = found.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["accuracy", "recall (positive class: 1)"]
    low, high = found.interval("accuracy")
    value = found["accuracy"].value
    assert ax.texts[0].get_text() == f"{value:.3f} ({low:.3f}, {high:.3f})"


def test_groups_are_drawn_with_the_whole_as_a_dashed_line() -> None:
    found = strat.evaluate(TABLE, **ROLES, metrics=["accuracy"], by="site")
    ax = found.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["east", "north", "south"]
    line = ax.get_lines()[gids(ax).index("strat-reference")]
    assert line.get_xdata()[0] == found["accuracy"].value
    assert line.get_linestyle() == "--"
    assert len(found.groups["accuracy"].plot().get_yticklabels()) == 3


@pytest.mark.parametrize("kind", ["roc", "calibration", "det", "pr"])
def test_an_evaluation_draws_the_curves_of_its_scores(kind: str) -> None:
    found = strat.evaluate(TABLE, **ROLES, metrics=["auc"])
    ours = found.plot(kind)
    same = getattr(strat.plot, {"pr": "precision_recall"}.get(kind, kind))(SICK, RISK, units=PATIENT)
    assert legend(ours) == legend(same)
    with pytest.raises(strat.StratError, match="`kind` must be 'forest' here, got 'roc': curves need the columns"):
        strat.evaluate(TABLE, truth="sick", predicted="called").plot("roc")


# ---- labels from data


@pytest.mark.parametrize("label", ["$\\foo$", "$$", "x ($10/$30)", "$a_{b$c", "\u202eright", "a\x1b[31m", "\ud800"])
def test_any_label_is_drawn_as_text(label: str) -> None:
    """A system called `$\\foo$` ended in a traceback, and "x ($10/$30)" was drawn as a formula."""
    rows = [drawing.Mark(label, 0.5, 0.3, 0.7)]
    ax = drawing.forest(rows, x_label=label)
    strat.plot.roc(SICK, RISK, name=label).figure.draw_without_rendering()
    strat.plot.cmc({label: RANKS}).figure.draw_without_rendering()
    strat.plot.critical_difference(
        {label: [1] * 9, "b": [2] * 9, "c": [3] * 9}, higher_is_better=False
    ).figure.draw_without_rendering()
    ax.figure.draw_without_rendering()
    assert all(sign.isprintable() for sign in ax.get_yticklabels()[0].get_text())
    _, formula = ax.get_yticklabels()[0]._preprocess_math(ax.get_yticklabels()[0].get_text())
    assert not formula


def test_drawing_is_loaded_when_it_is_wanted() -> None:
    code = "import sys, strat, strat.plot; sys.exit('matplotlib' in sys.modules)"
    assert warm.run(code).code == 0


def test_a_legend_has_curves_before_limits_and_a_curve_one_band() -> None:
    from strat.recognition import match_curve, ranks

    rng = np.random.default_rng(1)
    who = np.arange(30)
    r, s = (ranks(similarity=rng.normal(size=(30, 30)) + k * np.eye(30), probes=who, gallery=who) for k in (2, 3))
    both = match_curve({"A": r, "B": s}).plot()
    assert [text.split(":")[0] for text in legend(both)] == ["A", "B", "95 % interval at each place"]
    one = match_curve(r).plot(axis="linear")
    assert len(one.collections) == 1
    assert legend(one)[1] == "95 % band of the whole curve"
    assert one.get_xlim() == (1, 30)
    assert one.get_xticks()[0] == 1


def test_small_rates_have_ticks_at_powers_of_ten() -> None:
    ax = drawing.new_axes(None, drawing.SQUARE)
    drawing.probit_axes(ax)
    ax.set(xlim=(1e-6, 0.5), ylim=(1e-6, 0.5))
    drawing.probit_ticks(ax)
    assert set(ax.get_xticks()) >= {1e-6, 1e-4, 1e-3, 0.01, 0.1}
