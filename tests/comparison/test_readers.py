"""Reader studies: readers and cases are both samples."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from strat import StratError
from strat.comparison import ReaderStudy, readers


def _drawn(seed: int, number: int = 4, cases: int = 30) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = np.arange(cases) % 2
    reader, case = np.divmod(np.arange(number * cases), cases)
    score = truth[case] + rng.normal(size=cases)[case] + 0.7 * rng.normal(size=number * cases)
    return {"truth": truth[case], "score": np.round(score, 1), "reader": reader, "case": case}


def _van_dyke(shared: Path, method: str) -> ReaderStudy:
    with (shared / "data/fields/vandyke_readers.csv").open() as file:
        rows = list(csv.DictReader(file))
    column = {name: [int(row[name]) for row in rows] for name in rows[0]}
    given = {name: column[name] for name in ("truth", "reader", "case", "treatment")}
    return readers(given.pop("truth"), column["rating"], **given, method=method)


@pytest.mark.shared
def test_van_dyke_as_r_has_it(shared: Path) -> None:
    """MRMCaov 0.3: empirical AUC, Obuchowski-Rockette with Hillis's degrees of freedom."""
    study = _van_dyke(shared, "obuchowski-rockette")
    assert [round(one.value, 7) for one in study.values] == [0.8970370, 0.9408374]
    assert [round(one.se, 5) for one in study.values] == [0.03308, 0.02150]
    (difference,) = study.differences
    assert difference.value == pytest.approx(0.0438003, abs=5e-8)
    figures = round(difference.se, 5), round(difference.df, 2), round(difference.pvalue, 4)
    assert figures == (0.02068, 15.07, 0.0512)


@pytest.mark.shared
def test_the_u_statistic_is_a_second_road_to_the_same_place(shared: Path) -> None:
    """Gallas's variance has no bias; on these data it differs by less than one part in a hundred."""
    first, second = (_van_dyke(shared, method) for method in ("obuchowski-rockette", "u-statistic"))
    for one, other in zip((*first.values, *first.differences), (*second.values, *second.differences), strict=True):
        assert other.se == pytest.approx(one.se, rel=0.01)
        assert other.se != one.se


def test_the_u_statistic_is_without_bias() -> None:
    """Its mean over many studies is the variance of the AUC."""
    values, variances = [], []
    for seed in range(300):
        study = readers(**_drawn(seed, 3, 20), method="u-statistic")
        values.append(study.values[0].value)
        variances.append(study.values[0].se ** 2)
    assert np.mean(variances) == pytest.approx(np.var(values), rel=0.25)


def test_order_and_names_do_not_matter() -> None:
    table = _drawn(1)
    study = readers(**table)
    order = np.random.default_rng(2).permutation(len(table["case"]))
    other = {name: values[order] for name, values in table.items()}
    other["reader"] = np.array(["z", "k", "b", "q"])[other["reader"]]
    again = readers(**other)
    assert again.values[0].value == pytest.approx(study.values[0].value)
    assert (again.values[0].se, again.values[0].df) == pytest.approx((study.values[0].se, study.values[0].df))


def test_swapped_treatments_change_the_sign_alone() -> None:
    first, second = _drawn(1), _drawn(5)
    both = {name: np.concatenate([first[name], second[name]]) for name in first} | {"truth": np.tile(first["truth"], 2)}
    treatment = np.repeat(["a", "b"], len(first["case"]))
    one = readers(**both, treatment=treatment).differences[0]
    other = readers(**both, treatment=np.where(treatment == "a", "z", "b")).differences[0]
    assert (other.value, other.se, other.df) == pytest.approx((-one.value, one.se, one.df))
    assert (one.name, other.name) == ("b - a", "z - b")


def test_cases_twice_in_a_cluster_tell_no_more_than_once() -> None:
    """Each case copied: clusters of the copies keep the covariance of the single cases, n / (n - 1) by class apart."""
    table = _drawn(3)
    single = readers(**table)
    copied = {name: np.tile(values, 2) for name, values in table.items()}
    copied["case"] = np.concatenate([table["case"], table["case"] + 1000])
    naive = readers(**copied)
    clustered = readers(**copied, clusters=np.tile(table["case"], 2))
    assert clustered.case_covariance == pytest.approx(single.case_covariance, rel=0.05)
    assert naive.case_covariance == pytest.approx(single.case_covariance / 2, rel=0.1)
    assert clustered.cases == 30


def test_results_speak() -> None:
    study = readers(**_drawn(1))
    assert str(study).startswith("AUC of 4 readers on 30 cases (obuchowski-rockette)\nAUC: 0.")
    exported = study.to_dict()
    assert exported["schema"] == "strat/readers/1"
    assert exported["values"][0]["se"] == study.values[0].se
    assert list(study.to_frame()["name"]) == ["AUC"]
    low, high = study.values[0].interval()
    assert low < study.values[0].value < high


def test_what_a_reader_study_refuses() -> None:
    table = _drawn(1)
    fewer = {name: values[1:] for name, values in table.items()}
    with pytest.raises(StratError, match=r"read once by every reader .* got 0 ratings of 0 by 0"):
        readers(**fewer)
    with pytest.raises(StratError, match="at least two readers, got one"):
        readers(**(table | {"reader": np.zeros(120)}))
    with pytest.raises(StratError, match="`truth` must be the same for all rows of a case"):
        readers(**(table | {"truth": np.arange(120) % 2 ^ (np.arange(120) > 110)}))
    with pytest.raises(StratError, match="`clusters` must go with method='obuchowski-rockette'"):
        readers(**table, clusters=table["case"] // 2, method="u-statistic")
    with pytest.raises(StratError, match="at least two cases of each class, got 1 positive"):
        readers(**(table | {"truth": (table["case"] == 1).astype(int)}))
    with pytest.raises(StratError, match="`method` must be"):
        readers(**table, method="anova")
