"""Confusion matrices as objects, Kuncheva's Example 1.5 on the letter data, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from strat.base.errors import StratError
from strat.base.limits import changed
from strat.measures.classification import f1
from strat.measures.confusion_counts import confusion
from strat.measures.confusion_matrix import ConfusionMatrix, confusion_by

counts = st.integers(1, 5).flatmap(lambda k: arrays(np.int64, (k, k), elements=st.integers(0, 30)))
LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
H_ROW = [1, 6, 1, 18, 0, 1, 2, 159, 0, 0, 30, 0, 1, 27, 33, 2, 9, 21, 0, 0, 11, 4, 3, 20, 1, 0]


@given(counts)
def test_counts_to_rows_and_back(table: Any) -> None:
    matrix = ConfusionMatrix(table)
    truth, predicted = matrix.columns()
    assert len(truth) == matrix.total
    if len(truth):
        back = ConfusionMatrix.from_labels(truth, predicted, labels=list(range(len(table))))
        assert np.array_equal(back.counts, table)
        assert back.accuracy == pytest.approx(np.mean(truth == predicted))


@given(counts)
def test_shares_sum_to_one_where_there_is_something(table: Any) -> None:
    matrix = ConfusionMatrix(table)
    for by, axis in (("true", 1), ("pred", 0)):
        sums = matrix.normalized(by).sum(axis=axis)
        np.testing.assert_allclose(sums, table.sum(axis=axis) > 0)


@given(counts)
def test_written_and_read_again(table: Any) -> None:
    import tempfile

    labels = [f"class {i}, {'ä' * i}" for i in range(len(table))]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("m.csv", "m.json"):
            path = Path(folder) / name
            ConfusionMatrix(table, labels).write(path)
            back = ConfusionMatrix.read(path)
            assert back.labels == tuple(labels)
            assert np.array_equal(back.counts, table)


def test_numbers_come_back_as_labels(tmp_path: Path) -> None:
    ConfusionMatrix([[1.5, 0], [0, 2]], [7, -3]).write(tmp_path / "m.csv")
    back = ConfusionMatrix.read(tmp_path / "m.csv")
    assert back.labels == (7, -3)
    assert back.counts[0, 0] == 1.5


def test_strata_add_up_to_the_whole() -> None:
    rng = np.random.default_rng(2)
    truth, predicted, strata = rng.integers(0, 4, (3, 200))
    parts = confusion_by(strata, truth, predicted)
    whole = ConfusionMatrix.from_labels(truth, predicted)
    total = sum(list(parts.values())[1:], start=next(iter(parts.values())))
    assert np.array_equal(total.counts, whole.counts)
    weights = rng.random(200)
    inside = strata == 2
    weighted = confusion_by(strata, truth, predicted, weights=weights)[2]
    expected = ConfusionMatrix.from_labels(truth[inside], predicted[inside], labels=range(4), weights=weights[inside])
    np.testing.assert_allclose(weighted.counts, expected.counts)


def test_counts_alone_serve_every_measure() -> None:
    matrix = ConfusionMatrix([[40, 10], [5, 45]], ["no", "yes"])
    assert f1(*matrix.columns(), positive="yes").value() == pytest.approx(2 * 45 / (50 + 55))


def test_worst_and_merged() -> None:
    matrix = ConfusionMatrix([[5, 3, 0], [4, 6, 1], [0, 0, 9]], list("abc"))
    assert [(w.truth, w.predicted, w.count) for w in matrix.worst(2)] == [("b", "a", 4), ("a", "b", 3)]
    assert matrix.worst(1)[0].share == pytest.approx(4 / 11)
    pair = matrix.worst_pairs(1)[0]
    assert (pair.truth, pair.predicted, pair.count) == ("a", "b", 7)
    assert pair.share == pytest.approx(7 / 19)
    assert len(matrix.worst(100)) == 3
    joined = matrix.merged({"a": "ab", "b": "ab"})
    assert joined.labels == ("ab", "c")
    assert joined.counts.tolist() == [[18, 1], [0, 9]]


def test_example_1_5_from_table_1_1() -> None:
    """Kuncheva's Table 1.1: of 350 "H", 159 are right, and most mistakes (33) are for "O"."""
    table = np.diag(np.full(26, 250))
    table[7] = H_ROW
    matrix = ConfusionMatrix(table, LETTERS)
    row = matrix.row("H")
    assert sum(row.values()) == 350
    assert row["H"] == 159
    worst = matrix.worst(3)
    assert [(w.truth, w.predicted, w.count) for w in worst] == [("H", "O", 33), ("H", "K", 30), ("H", "N", 27)]


def test_example_1_5_on_the_letter_data(shared: Path) -> None:
    """A linear classifier on a random half: over 69 % right; "H" is hard, and "O" its worst confusion or near it."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    lines = (shared / "data" / "letter-recognition.data").read_text().split()
    letters = np.array([line[0] for line in lines])
    features = np.array([line.split(",")[1:] for line in lines], float)
    half = np.random.default_rng(0).permutation(20_000)
    train, test = half[:10_000], half[10_000:]
    model = LinearDiscriminantAnalysis().fit(features[train], letters[train])
    matrix = ConfusionMatrix.from_labels(letters[test], model.predict(features[test]))
    assert matrix.labels == LETTERS
    assert matrix.total == 10_000
    assert 0.69 < matrix.accuracy < 0.72
    row = matrix.row("H")
    assert 0.35 < row["H"] / sum(row.values()) < 0.55  # the book: 159 of 350
    mistakes = sorted((n for label, n in row.items() if label != "H"), reverse=True)
    assert row["O"] >= mistakes[4]
    assert min(matrix.normalized()[np.arange(26), np.arange(26)]) == pytest.approx(
        row["H"] / sum(row.values()), abs=0.1
    )


def test_plot_draws_the_shares() -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    matrix = ConfusionMatrix([[40, 10], [5, 45]], ["no", "yes"])
    ax = matrix.plot()
    np.testing.assert_allclose(ax.images[0].get_array(), matrix.normalized())
    assert [text.get_text() for text in ax.texts] == ["0.80", "0.20", "0.10", "0.90"]
    assert ax.get_xlabel() == "predicted"
    _, other = plt.subplots()
    assert ConfusionMatrix(np.eye(20)).plot(other, by=None) is other
    assert not other.texts
    plt.close("all")


def test_arrays_and_text() -> None:
    matrix = ConfusionMatrix([[1, 2], [3, 4]])
    assert np.asarray(matrix).tolist() == [[1, 2], [3, 4]]
    assert repr(matrix) == str(matrix)
    assert len(matrix) == 2
    assert matrix.error == pytest.approx(0.5)
    assert np.isnan(ConfusionMatrix([[0.0]]).accuracy)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ConfusionMatrix([[1, -2], [3, 4]]), "`counts` must not be negative, got -2.0 in row 0, column 1"),
        (lambda: ConfusionMatrix([[1, 2]]), r"`counts` must be a square matrix, got shape \(1, 2\)"),
        (lambda: ConfusionMatrix([[1, np.nan], [3, 4]]), "`counts` must be finite"),
        (lambda: ConfusionMatrix([[1, 2], [3, 4]], ["a"]), "`labels` must be 2 distinct labels, got 'a'"),
        (lambda: ConfusionMatrix([[1, 2], [3, 4]], ["a", "a"]), "`labels` must be 2 distinct labels"),
        (lambda: ConfusionMatrix([[1, 2], [3, 4]]).row(5), "`label` must be one of the classes, got 5; there are 0, 1"),
        (lambda: ConfusionMatrix([[1, 2], [3, 4]]).normalized("rows"), "`by` must be one of 'true', 'pred', 'all'"),
        (lambda: ConfusionMatrix([[1.5]]).columns(), "`counts` must be whole"),
        (lambda: ConfusionMatrix([[1]]) + ConfusionMatrix([[1]], ["a"]), "must have the same labels"),
        (lambda: ConfusionMatrix([[1]]).write("m.xlsx"), "`path` must end in .csv or .json, got 'm.xlsx'"),
        (lambda: confusion([0, 1], [0]), "`predicted` must have as many rows as `truth`"),
        (lambda: confusion([0, 1], ["a", "b"]), "`predicted` must have labels of the same type as `truth`, got 'a'"),
        (lambda: confusion([0, 1], [0, 1], labels=["a"]), "`labels` must have labels of the same type as `truth`"),
        (lambda: confusion([0, 1], [0, 1], labels=[1, 1]), "`labels` must be distinct, got 1, 1"),
        (lambda: confusion([0, 1], [0, 1], normalize="rows"), "`normalize` must be one of"),
        (lambda: confusion([0, None], [0, 1]), "`truth` must name every row"),
        (lambda: confusion_by([0], [0, 1], [0, 1]), "`strata` must have as many rows as `truth`"),
        (lambda: confusion_by([0, 1], [0, 1], [0, 1], weights=[1, -1]), "`weights` must not be negative, got -1.0"),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(StratError, match=message):
        call()


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text("[1, 2]")
    with pytest.raises(StratError, match="`path` must hold 'labels' and 'counts'"):
        ConfusionMatrix.read(tmp_path / "m.json")
    (tmp_path / "m.csv").write_text("")
    with pytest.raises(StratError, match="got the empty file"):
        ConfusionMatrix.read(tmp_path / "m.csv")


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_every_layout_of_the_counts_gives_the_same(average: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells, a table of pairs, and margins: the same value, standard error and gradient along rows."""
    import strat

    rng = np.random.default_rng(8)
    truth, predicted = rng.integers(0, 6, (2, 300))
    design = strat.Design.clustered(units=np.arange(300) // 5, weights=rng.random(300))
    found = []
    for cells, numbers in ((16, 1 << 24), (2, 1 << 24), (2, 0)):
        with changed(confusion_classes=cells, confusion_numbers=numbers):
            statistic = f1(truth, predicted, average=average)
        one = strat.estimate(statistic, on=design)
        two = strat.estimate(statistic, on=strat.jackknife(design))
        found.append([statistic.components, one.value, one.se, two.se])
    assert [line[0] for line in found] == [36, 18, 18]
    np.testing.assert_allclose([line[1:] for line in found], [found[0][1:]] * 3, rtol=1e-9)


def test_a_file_whose_row_names_differ_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("truth,a,b\na,1,2\nc,3,4\n")
    with pytest.raises(StratError, match="must name the same classes in its first row and column"):
        ConfusionMatrix.read(tmp_path / "m.csv")
