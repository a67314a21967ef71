"""The grid: more than sixty situations, from 48 independent rows to two-way recognition data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import betaln, ndtr, ndtri

import strat
from strat.measures import within_rank

from .trials import Array, Draw, Layout, Rng, Scenario, Trial, layout, levels, shares, unequal

ROWS = ("closed", "edges", "replicates/2", "bootstrap/4", "rows")
UNITS = ("closed", "edges", "replicates/2", "bootstrap/4", "rows", "units")
PLAIN = ("closed", "replicates/2", "bootstrap/4", "row bootstrap/4", "unit bootstrap/4")
SCORES = ("closed", "jackknife/8", "bootstrap/8", "delong", "row bootstrap/8", "unit bootstrap/8")


# ---- shares of right rows


def accuracy(
    where: Layout,
    *,
    rate: float,
    icc: float = 0.0,
    spread: float = 0.0,
    weights: Array | None = None,
    **options: Any,
) -> Draw:
    """Rows right or wrong, units alike by `icc`, strata apart by `spread`."""
    design = where.design(weights=weights, **options)
    mean = levels(int(where.stratum.max()) + 1, rate, spread)[where.stratum]
    truth = float(np.average(mean[where.unit], weights=design.weights))
    fixed = {"unit": where.unit, "stratum": where.of_row}

    def draw(rng: Rng) -> Trial:
        right = (rng.random(len(where.unit)) < shares(rng, mean, icc)[where.unit]).astype(float)
        return Trial(strat.proportion(right), design, truth, {"right": right, **fixed})

    return draw


def informative_sizes(units: int) -> Draw:
    """Large units are easier: size 2, 10 or 50 with rates 0.6, 0.8, 0.9, each with its own spread."""
    sizes, rates = np.array([2, 10, 50]), np.array([0.6, 0.8, 0.9])
    truth = float(sizes @ rates / sizes.sum())

    def draw(rng: Rng) -> Trial:
        kind = rng.integers(0, 3, units)
        unit = np.repeat(np.arange(units), sizes[kind])
        right = (rng.random(len(unit)) < shares(rng, rates[kind], 0.1)[unit]).astype(float)
        columns = {"right": right, "unit": unit, "stratum": np.zeros(len(unit), int)}
        return Trial(strat.proportion(right), strat.Design.clustered(units=unit), truth, columns)

    return draw


def informative_weights(rows: int) -> Draw:
    """Rows with large weights are harder: weights 1, 3, 10, 30 with rates 0.95, 0.9, 0.8, 0.6."""
    weight, rates = np.array([1.0, 3.0, 10.0, 30.0]), np.array([0.95, 0.9, 0.8, 0.6])
    share = 1 / weight / (1 / weight).sum()  # drawn with a probability that the weights undo
    truth = float(rates.mean())

    def draw(rng: Rng) -> Trial:
        kind = rng.choice(4, rows, p=share)
        right = (rng.random(rows) < rates[kind]).astype(float)
        columns = {"right": right, "unit": np.arange(rows), "stratum": np.zeros(rows, int)}
        return Trial(strat.proportion(right), strat.Design.simple_random(weights=weight[kind]), truth, columns)

    return draw


def finite(population: int, units: int, size: int, rate: float, icc: float) -> Draw:
    """Units drawn without replacement from a finite population, of which every trial has its own.

    (One population for all trials would judge a single point of a lattice: with 60 of 100 rows the exact coverage of
    the logit interval is 95.7, 92.8 and 96.4 % at 79, 80 and 81 right ones.)
    """
    unit = np.repeat(np.arange(units), size)
    where = Layout(unit, np.zeros(units, int))
    design = where.design(population=population)
    columns = {"unit": unit, "stratum": np.zeros(len(unit), int)}

    def draw(rng: Rng) -> Trial:
        values = rng.random((population, size)) < shares(rng, np.full(population, rate), icc)[:, None]
        right = values[:units].ravel().astype(float)  # all orders of the units are alike
        return Trial(strat.proportion(right), design, float(values.mean()), {"right": right, **columns})

    return draw


def repeats(items: int, tries: int, rate: float, *, fixed: bool) -> Draw:
    """Items tried several times; the target is all items of the kind, or these very ones (`fixed`)."""
    item = np.repeat(np.arange(items), tries)
    source = np.random.default_rng(11)
    own = shares(source, np.full(items, rate), 0.5)
    options = {"population": items} if fixed else {}
    design = strat.Design.simple_random(items=item, **options)
    columns = {"unit": item, "stratum": np.zeros(len(item), int)}

    def draw(rng: Rng) -> Trial:
        p = own if fixed else shares(rng, np.full(items, rate), 0.5)
        right = (rng.random(len(item)) < p[item]).astype(float)
        return Trial(strat.proportion(right), design, float(p.mean()) if fixed else rate, {"right": right, **columns})

    return draw


def classes(number: int, size: int, rate: float, icc: float, *, sampled: bool) -> Draw:
    """Classes with their own rates: these very ones (strata), or a draw of classes (units)."""
    label = np.repeat(np.arange(number), size)
    own = shares(np.random.default_rng(13), np.full(number, rate), icc)
    design = strat.Design.clustered(units=label) if sampled else strat.Design.stratified(strata=label)
    other = strat.Design.stratified(strata=label) if sampled else strat.Design.clustered(units=label)

    def draw(rng: Rng) -> Trial:
        p = shares(rng, np.full(number, rate), icc) if sampled else own
        right = (rng.random(len(label)) < p[label]).astype(float)
        columns = {"right": right, "unit": label, "stratum": label if not sampled else np.zeros(len(label), int)}
        truth = rate if sampled else float(own.mean())
        return Trial(strat.proportion(right), design, truth, columns, {"other design": other})

    return draw


def domain(units: int, size: int, rate: float, icc: float, share: float) -> Draw:
    """The rate in a part of the rows that some units hold many of and others none."""
    where = layout(1, units, size)
    design = where.design()

    def draw(rng: Rng) -> Trial:
        part = rng.random(len(where.unit)) < shares(rng, np.full(units, share), 0.3)[where.unit]
        part[0] = True
        right = (rng.random(len(where.unit)) < shares(rng, np.full(units, rate), icc)[where.unit]).astype(float)
        if len(np.unique(where.unit[part])) < 2:
            part[-1] = True
        columns = {"right": right[part], "unit": where.unit[part], "stratum": np.zeros(int(part.sum()), int)}
        return Trial(strat.domain(strat.proportion(right), part), design, rate, columns)

    return draw


def systematic(rows: int) -> Draw:
    """Every k-th row along an order in which the rate drifts from 0.95 to 0.55."""
    place = np.arange(rows)
    rates = np.linspace(0.95, 0.55, rows)
    design = strat.Design.systematic(order=place)

    def draw(rng: Rng) -> Trial:
        right = (rng.random(rows) < rates).astype(float)
        columns = {"right": right, "unit": place, "stratum": np.zeros(rows, int)}
        return Trial(strat.proportion(right), design, float(rates.mean()), columns)

    return draw


def lone_strata(pairs: int, lone: int, size: int, icc: float) -> Draw:
    """Strata of two units beside strata of one, whose variation can't be seen."""
    where = layout(pairs + lone, [2] * pairs + [1] * lone, size)
    kinds = {kind: where.design(lone=kind) for kind in ("collapse", "centre", "average", "certainty")}
    mean = levels(pairs + lone, 0.75, 0.4)[np.random.default_rng(3).permutation(pairs + lone)][where.stratum]
    truth = float(mean[where.unit].mean())

    def draw(rng: Rng) -> Trial:
        right = (rng.random(len(where.unit)) < shares(rng, mean, icc)[where.unit]).astype(float)
        return Trial(strat.proportion(right), kinds["collapse"], truth, {"right": right}, {"designs": kinds})

    return draw


# ---- statistics of labels


def _confusion_truth(priors: Array, accuracy: Array) -> Array:
    """Shares of (truth, predicted) where class k is right with accuracy_k and else says any other class."""
    k = len(priors)
    return priors[:, None] * np.where(np.eye(k, dtype=bool), accuracy[:, None], (1 - accuracy[:, None]) / (k - 1))


def labels(
    kind: str, where: Layout, priors: Sequence[float], rates: Sequence[float], icc: float, spread: float = 0
) -> Draw:
    """Labels of two or more classes; a unit's own ease moves all its rows."""
    prior, rate = np.asarray(priors, float), np.asarray(rates, float)
    design = where.design()
    strata = int(where.stratum.max()) + 1
    mean = np.stack([levels(strata, r, spread) for r in rate], axis=1)  # strata × classes
    weight = np.bincount(where.of_row, minlength=strata) / len(where.unit)
    cells = sum(w * _confusion_truth(prior, m) for w, m in zip(weight, mean, strict=True))
    build = STATISTICS[kind]
    k = len(prior)
    truth = float(_value(build, cells))
    units = len(where.stratum)

    def draw(rng: Rng) -> Trial:
        y = rng.choice(k, len(where.unit), p=prior)
        while len(np.unique(y)) < k:  # hardly ever: a class without a row has no measure
            y = rng.choice(k, len(where.unit), p=prior)
        ease = rng.random(units) if icc else None
        p = mean[where.of_row, y]
        if ease is not None:
            p = _beta_quantile(ease[where.unit], mean, icc, where.of_row, y)
        right = rng.random(len(y)) < p
        said = np.where(right, y, (y + rng.integers(1, k, len(y))) % k)
        return Trial(build(y, said), design, truth, {"truth": y, "predicted": said, "unit": where.unit})

    return draw


_TABLES: dict[tuple[float, float], Array] = {}
_GRID = (np.arange(2000) + 0.5) / 2000


def _beta_quantile(u: Array, mean: Array, icc: float, stratum: Array, label: Array) -> Array:
    """Quantiles of each row's Beta distribution, looked up on a fine grid."""
    from scipy.special import betaincinv

    made = np.empty(len(u))
    place = np.minimum((u * 2000).astype(int), 1999)
    for h in range(mean.shape[0]):
        for c in range(mean.shape[1]):
            key = (float(mean[h, c]), icc)
            if key not in _TABLES:
                total = 1 / icc - 1
                _TABLES[key] = betaincinv(key[0] * total, (1 - key[0]) * total, _GRID)
            at = (stratum == h) & (label == c)
            made[at] = _TABLES[key][place[at]]
    return made


STATISTICS: dict[str, Any] = {
    "macro F1": lambda y, p: strat.f1(y, p, average="macro"),
    "binary F1": lambda y, p: strat.f1(y, p, average="binary", positive=1),
    "kappa": lambda y, p: strat.kappa(y, p),
    "MCC": lambda y, p: strat.mcc(y, p),
    "balanced accuracy": lambda y, p: strat.balanced_accuracy(y, p),
}


def _value(build: Any, cells: Array) -> Array:
    """The statistic of a population with these shares of (truth, predicted)."""
    y, p = (axis.ravel() for axis in np.indices(cells.shape))
    return build(y, p).value(cells.ravel())


# ---- statistics of scores and values


def area(where: Layout, shift: float, between: float, *, pure: bool, share: float = 0.4) -> Draw:
    """Scores of two normal classes; `between` is the variance of the units' own shift. `pure`: one class a unit."""
    design = where.design()
    truth = float(ndtr(shift / np.sqrt(2 * (1 + between))))
    units = len(where.stratum)

    def draw(rng: Rng) -> Trial:
        y = (rng.random(units) < share)[where.unit] if pure else rng.random(len(where.unit)) < share
        y = y.astype(int)
        if y.all() or not y.any():  # hardly ever: both classes are needed
            return draw(rng)
        score = shift * y + np.sqrt(between) * rng.standard_normal(units)[where.unit] + rng.standard_normal(len(y))
        return Trial(strat.auc(y, score), design, truth, {"truth": y, "score": score, "unit": where.unit})

    return draw


def _values(rng: Rng, where: Layout, icc: float) -> Array:
    own = rng.standard_normal(len(where.stratum))[where.unit]
    return np.exp(np.sqrt(icc) * own + np.sqrt(1 - icc) * rng.standard_normal(len(where.unit)))


def quantile(where: Layout, q: float, icc: float) -> Draw:
    """A quantile of log-normal times (latencies, say)."""
    design, truth = where.design(), float(np.exp(ndtri(q)))

    def draw(rng: Rng) -> Trial:
        y = _values(rng, where, icc)
        return Trial(strat.quantile(y, q), design, truth, {"value": y, "unit": where.unit}, {"q": q})

    return draw


def skewed_mean(where: Layout, icc: float) -> Draw:
    """The mean of log-normal times."""
    design, truth = where.design(), float(np.exp(0.5))

    def draw(rng: Rng) -> Trial:
        y = _values(rng, where, icc)
        return Trial(strat.mean(y), design, truth, {"right": y, "unit": where.unit, "stratum": where.of_row})

    return draw


def correlation(where: Layout, rho: float, icc: float) -> Draw:
    """The correlation of two normal scores, of which units share a part."""
    design = where.design()

    def draw(rng: Rng) -> Trial:
        own = rng.standard_normal((2, len(where.stratum)))[:, where.unit]
        e = np.sqrt(icc) * own + np.sqrt(1 - icc) * rng.standard_normal((2, len(where.unit)))
        y = rho * e[0] + np.sqrt(1 - rho**2) * e[1]
        return Trial(strat.correlation(e[0], y), design, rho, {"unit": where.unit})

    return draw


# ---- recognition


def match_scores(subjects: int, probes: int | Sequence[int], rate: float, icc: float, up_to: int | None) -> Draw:
    """Ranks of probes: geometric with the subject's own rate at rank 1, Beta over subjects."""
    per = np.resize(np.atleast_1d(np.asarray(probes)), subjects)
    subject = np.repeat(np.arange(subjects), per)
    design = strat.Design.clustered(units=subject)
    total = 1 / icc - 1
    a, b = rate * total, (1 - rate) * total
    k = np.arange(1, (up_to or 1) + 1)
    curve = 1 - np.exp(betaln(a, b + k) - betaln(a, b))
    columns = {"unit": subject, "stratum": np.zeros(len(subject), int)}

    def draw(rng: Rng) -> Trial:
        p = np.maximum(rng.beta(a, b, subjects), 1e-6)
        ranks = np.minimum(rng.geometric(p[subject]), 1000)
        if up_to is None:
            right = (ranks == 1).astype(float)
            return Trial(within_rank(ranks, 1), design, rate, {"right": right, **columns})
        return Trial(strat.cms(ranks, up_to=up_to), design, curve, {"ranks": ranks, **columns})

    return draw


def two_way(subjects: int, threshold: float, shared: float, *, at_fmr: float | None = None) -> Draw:
    """A table of scores of subjects against subjects; `shared` is each side's part of the variance of a score."""
    from strat import recognition

    names = np.arange(subjects)
    rest = np.sqrt(1 - 2 * shared)
    truth = float(ndtr(-threshold))
    gap = 3.0  # how far mated scores lie above the others, with the same spread
    if at_fmr is not None:
        truth = float(ndtr(-ndtri(at_fmr) - gap))

    def draw(rng: Rng) -> Trial:
        left, right = rng.standard_normal((2, subjects))
        own = np.sqrt(shared) * left
        table = own[:, None] + own + rest * rng.standard_normal((subjects, subjects))
        np.fill_diagonal(table, gap + np.sqrt(2 * shared) * right + rest * rng.standard_normal(subjects))
        found = recognition.verification(similarity=table, probes=names, gallery=names)
        made = found.fmr(threshold) if at_fmr is None else found.fnmr_at(at_fmr)
        return Trial(None, None, truth, {}, {"estimate": made, "table": table, "threshold": threshold})

    return draw


# ---- comparisons


def _systems(rng: Rng, where: Layout, rates: Array, icc: float, common: float) -> Array:
    """Right or wrong of several systems on the same items, rows × systems, each with its own rate."""
    k = len(rates)
    z = np.sqrt(common) * rng.standard_normal(len(where.unit))[:, None]
    z = z + np.sqrt(1 - common - icc) * rng.standard_normal((len(where.unit), k))
    z = z + np.sqrt(icc) * rng.standard_normal((len(where.stratum), k))[where.unit]
    return (z < ndtri(rates)).astype(float)


def difference(where: Layout, first: float, second: float, icc: float, *, ratio: bool = False) -> Draw:
    """Two systems on the same items, paired; or the ratio of their error rates."""
    design, rates = where.design(), np.array([first, second])
    truth = (1 - first) / (1 - second) if ratio else first - second
    columns = {"unit": where.unit, "stratum": where.of_row}

    def draw(rng: Rng) -> Trial:
        x = _systems(rng, where, rates, icc, 0.4)
        one = [strat.proportion(1 - side if ratio else side) for side in x.T]
        extra = {"a": one[0], "b": one[1], "ratio": ratio}
        return Trial(None, design, truth, {"a": x[:, 0], "b": x[:, 1], **columns}, extra)

    return draw


def league(where: Layout, rates: Sequence[float], icc: float) -> Draw:
    """Several systems on the same items: all differences at once, and the winner's own value."""
    design, rate = where.design(), np.asarray(rates, float)

    def draw(rng: Rng) -> Trial:
        x = _systems(rng, where, rate, icc, 0.4)
        return Trial(None, design, rate[:, None] - rate, {"unit": where.unit}, {"systems": x, "rates": rate})

    return draw


# ---- the grid


CLOSE = {"skewed mean, 30 units", "quantile 0.9, 48 rows", "correlation 0.8, 48 rows"}  # calls that need more trials


def _grid() -> list[Scenario]:
    made: list[Scenario] = []

    def add(name: str, family: str, about: str, procedures: tuple[str, ...], make: Any, *args: Any, **kw: Any) -> None:
        made.append(Scenario(name, family, about, lambda: make(*args, **kw), procedures, 4 if name in CLOSE else 1))

    for n, rate in (
        (48, 0.5),
        (48, 0.9),
        (48, 0.98),
        (200, 0.9),
        (200, 0.99),
        (1000, 0.9),
        (1000, 0.99),
        (1000, 0.999),
    ):
        about = f"{n} independent rows, rate {rate}"
        add(f"rows {n}, rate {rate}", "accuracy, independent rows", about, ROWS, accuracy, layout(1, n, 1), rate=rate)
    clustered = "accuracy, clustered rows"
    for units in (8, 20, 50):
        for icc in (0.0, 0.1, 0.5):
            about = f"{units} units of 10 rows, rate 0.8, intraclass correlation {icc}"
            add(f"units {units}, icc {icc}", clustered, about, UNITS, accuracy, layout(1, units, 10), rate=0.8, icc=icc)
    for units, rate, icc in ((40, 0.98, 0.2), (60, 0.99, 0.1), (60, 0.999, 0.1), (200, 0.995, 0.2)):
        about = f"{units} units of 10 rows, rate {rate}, intraclass correlation {icc}"
        add(f"units {units}, rate {rate}", clustered, about, UNITS, accuracy, layout(1, units, 10), rate=rate, icc=icc)
    for units in (20, 60):
        where = layout(1, units, unequal(units, 1, 200))
        about = f"{units} units of 1 to 200 rows, rate 0.8, intraclass correlation 0.2"
        add(f"unequal {units}", clustered, about, UNITS, accuracy, where, rate=0.8, icc=0.2)
    add("unequal 60, rate 0.98", clustered, "60 units of 1 to 200 rows, rate 0.98, intraclass correlation 0.2", UNITS,
        accuracy, layout(1, 60, unequal(60, 1, 200)), rate=0.98, icc=0.2)  # fmt: skip
    add("large units are easier", clustered, "60 units of 2, 10 or 50 rows with rates 0.6, 0.8, 0.9", UNITS,
        informative_sizes, 60)  # fmt: skip

    strata = "accuracy, stratified"
    for number, per in ((5, 2), (5, 6), (30, 2), (30, 6)):
        about = f"{number} strata of {per} units of 8 rows, rates spread about 0.8, intraclass correlation 0.2"
        add(f"strata {number} of {per}", strata, about, UNITS, accuracy, layout(number, per, 8), rate=0.8, icc=0.2,
            spread=0.6)  # fmt: skip
    add("strata 30 of 2, rate 0.97", strata, "30 strata of 2 units of 8 rows, rates about 0.97, icc 0.2", UNITS,
        accuracy, layout(30, 2, 8), rate=0.97, icc=0.2, spread=0.6)  # fmt: skip
    add("strata unequal", strata, "12 strata of 2 to 14 units of 3 to 30 rows, rates about 0.8, icc 0.2", UNITS,
        accuracy, layout(12, unequal(12, 2, 14), unequal(17, 3, 30)), rate=0.8, icc=0.2, spread=0.6)  # fmt: skip
    where = layout(8, 6, 8)
    add("stratum weights", strata, "8 strata of 6 units; the first stands for ten times the rows of the last", UNITS,
        accuracy, where, rate=0.8, icc=0.2, spread=0.6, weights=np.geomspace(10, 1, 8)[where.of_row])  # fmt: skip
    add("rows in strata", strata, "10 strata of 20 independent rows, rates about 0.9", ROWS, accuracy,
        layout(10, 20, 1), rate=0.9, spread=0.8)  # fmt: skip
    add("lone units", strata, "8 strata of 2 units and 6 of one, icc 0.2", ("lone",), lone_strata, 8, 6, 8, 0.2)

    weighted = "accuracy, unequal weights"
    for sigma, n in ((0.7, 100), (1.5, 100), (1.5, 400)):
        w = np.exp(sigma * ndtri((np.random.default_rng(5).permutation(n) + 0.5) / n))
        about = f"{n} independent rows, rate 0.9, log-normal weights (sigma {sigma})"
        add(f"weights {sigma}, rows {n}", weighted, about, ROWS, accuracy, layout(1, n, 1), rate=0.9, weights=w)
    add("heavy rows are harder", weighted, "200 rows with weights 1 to 30, rates 0.95 to 0.6", ROWS,
        informative_weights, 200)  # fmt: skip

    limited = "accuracy, finite populations and repeats"
    add("60 of 100 rows", limited, "60 of 100 rows, rate about 0.8", ROWS, finite, 100, 60, 1, 0.8, 0.0)
    add("12 of 20 units", limited, "12 of 20 units of 10 rows, rate about 0.8, icc 0.2", UNITS, finite, 20, 12, 10, 0.8,
        0.2)  # fmt: skip
    add("48 items, 5 repeats", limited, "48 items tried 5 times, for items of their kind", UNITS, repeats, 48, 5, 0.8,
        fixed=False)  # fmt: skip
    add("48 items, 5 repeats, these items", limited, "48 items tried 5 times, for these very items",
        ("closed", "edges", "rows", "units"), repeats, 48, 5, 0.8, fixed=True)  # fmt: skip
    add("classes fixed", limited, "20 classes of 30 rows, for these very classes", (*ROWS, "other target"), classes, 20,
        30, 0.8, 0.2, sampled=False)  # fmt: skip
    add("classes sampled", limited, "20 classes of 30 rows, for all classes of their kind", (*UNITS, "other target"),
        classes, 20, 30, 0.8, 0.2, sampled=True)  # fmt: skip
    add("domain", limited, "rate 0.85 in about a tenth of the rows of 40 units, icc 0.2",
        ("closed", "edges", "rows", "units"), domain, 40, 20, 0.85, 0.2, 0.1)  # fmt: skip
    add("systematic", limited, "every k-th row along a drift from 0.95 to 0.55, 100 rows", ("closed", "rows"),
        systematic, 100)  # fmt: skip

    three, skew = (0.5, 0.3, 0.2), (0.9, 0.8, 0.7)
    for kind in ("macro F1", "kappa"):
        add(f"{kind}, 48 rows", "F1, kappa, MCC", "48 independent rows of three classes", PLAIN, labels, kind,
            layout(1, 48, 1), three, skew, 0.0)  # fmt: skip
        add(f"{kind}, 30 units", "F1, kappa, MCC", "30 units of 10 rows of three classes, icc 0.2", PLAIN, labels, kind,
            layout(1, 30, 10), three, skew, 0.2)  # fmt: skip
    add("macro F1, 20 strata of 2", "F1, kappa, MCC", "20 strata of 2 units of 8 rows of three classes, icc 0.2",
        PLAIN, labels, "macro F1", layout(20, 2, 8), three, skew, 0.2, 0.5)  # fmt: skip
    add("F1 of a rare class", "F1, kappa, MCC", "40 units of 15 rows, one row in twenty positive, icc 0.1", PLAIN,
        labels, "binary F1", layout(1, 40, 15), (0.95, 0.05), (0.97, 0.7), 0.1)  # fmt: skip
    add("MCC, 30 units", "F1, kappa, MCC", "30 units of 10 rows of two classes, icc 0.2", PLAIN, labels, "MCC",
        layout(1, 30, 10), (0.6, 0.4), (0.9, 0.8), 0.2)  # fmt: skip
    add("balanced accuracy, 200 rows", "F1, kappa, MCC", "200 independent rows, one in ten of the second class", PLAIN,
        labels, "balanced accuracy", layout(1, 200, 1), (0.9, 0.1), (0.95, 0.7), 0.0)  # fmt: skip

    scores = "AUC"
    add("AUC, 48 rows", scores, "48 independent rows, AUC 0.86", SCORES, area, layout(1, 48, 1), 1.5, 0.0, pure=False)
    add("AUC, 200 rows, high", scores, "200 independent rows, AUC 0.98", SCORES, area, layout(1, 200, 1), 2.9, 0.0,
        pure=False)  # fmt: skip
    add("AUC, 40 units, mixed", scores, "40 units of 8 rows of both classes, units shifted", SCORES, area,
        layout(1, 40, 8), 1.5, 0.5, pure=False)  # fmt: skip
    add("AUC, 40 units, pure", scores, "40 units of 8 rows, one class each, units shifted", SCORES, area,
        layout(1, 40, 8), 1.5, 0.5, pure=True)  # fmt: skip

    middle = "quantiles, means, correlations"
    for q in (0.5, 0.9):
        for where, said in ((layout(1, 48, 1), "48 rows"), (layout(1, 30, 10), "30 units")):
            icc = 0.0 if said == "48 rows" else 0.3
            add(f"quantile {q}, {said}", middle, f"the {q} quantile of log-normal times, {said}",
                ("closed", "bootstrap/4", "row quantiles"), quantile, where, q, icc)  # fmt: skip
    add("quantile 0.98, 100 rows", middle, "the 0.98 quantile of log-normal times, 100 rows: two lie beyond",
        ("closed", "bootstrap/4", "row quantiles"), quantile, layout(1, 100, 1), 0.98, 0.0)  # fmt: skip
    add("skewed mean, 48 rows", middle, "the mean of 48 log-normal times", ("closed", "bootstrap/4", "normal rows"),
        skewed_mean, layout(1, 48, 1), 0.0)  # fmt: skip
    add("skewed mean, 30 units", middle, "the mean of log-normal times, 30 units of 10",
        ("closed", "bootstrap/4", "normal rows"), skewed_mean, layout(1, 30, 10), 0.3)  # fmt: skip
    add("correlation 0.8, 48 rows", middle, "48 independent pairs", ("closed", "bootstrap/4"),
        correlation, layout(1, 48, 1), 0.8, 0.0)  # fmt: skip
    add("correlation 0.8, 20 units", middle, "20 units of 6 pairs, icc 0.4", ("closed", "bootstrap/4"),
        correlation, layout(1, 20, 6), 0.8, 0.4)  # fmt: skip

    recognition = "recognition"
    add("rank 1, 100 subjects", recognition, "100 subjects of 4 probes, rank-1 rate 0.9, icc 0.3", UNITS, match_scores,
        100, 4, 0.9, 0.3, None)  # fmt: skip
    add("rank 1, unequal probes", recognition, "60 subjects of 1 to 60 probes, rank-1 rate 0.9, icc 0.3", UNITS,
        match_scores, 60, unequal(60, 1, 60), 0.9, 0.3, None)  # fmt: skip
    add("CMS band, 100 subjects", recognition, "the curve at ranks 1 to 10, 100 subjects of 4 probes", ("band/2",),
        match_scores, 100, 4, 0.7, 0.3, 10)  # fmt: skip
    add("CMS band, 30 subjects", recognition, "the curve at ranks 1 to 10, 30 subjects of 6 probes", ("band/2",),
        match_scores, 30, 6, 0.7, 0.3, 10)  # fmt: skip
    for subjects, threshold in ((30, 1.3), (80, 1.3), (80, 2.3)):
        add(f"FMR {float(ndtr(-threshold)):.2g}, {subjects} subjects", recognition,
            f"false match rate of {subjects} subjects against each other; each side is a tenth of the variance",
            ("two-way",), two_way, subjects, threshold, 0.1)  # fmt: skip
    add("FMR 0.0005, 40 subjects", recognition, "false match rate of 40 subjects, often without a false match",
        ("two-way",), two_way, 40, 3.3, 0.02)  # fmt: skip
    add("FNMR at FMR 0.01, 80 subjects", recognition, "the threshold comes from the same 80 subjects", ("two-way",),
        two_way, 80, 0.0, 0.1, at_fmr=0.01)  # fmt: skip

    pairs = "comparisons"
    for where, a, b, icc, said in (
        (layout(1, 48, 1), 0.8, 0.8, 0.0, "48 independent items, no difference"),
        (layout(1, 48, 1), 0.98, 0.96, 0.0, "48 independent items, 98 % against 96 %"),
        (layout(1, 30, 10), 0.85, 0.8, 0.2, "30 units of 10 items, 85 % against 80 %"),
        (layout(15, 2, 10), 0.85, 0.8, 0.2, "15 strata of 2 units of 10 items, 85 % against 80 %"),
    ):  # fmt: skip
        add(f"difference, {said}", pairs, said, ("paired", "paired rivals"), difference, where, a, b, icc)
    add("difference, unequal units", pairs, "40 units of 1 to 100 items, 85 % against 80 %",
        ("paired", "paired rivals"), difference, layout(1, 40, unequal(40, 1, 100)), 0.85, 0.8, 0.2)  # fmt: skip
    add("ratio of error rates", pairs, "30 units of 10 items, errors 15 % and 20 %", ("paired",), difference,
        layout(1, 30, 10), 0.85, 0.8, 0.2, ratio=True)  # fmt: skip
    for where, icc, said in ((layout(1, 200, 1), 0.0, "200 items"), (layout(1, 30, 10), 0.2, "30 units of 10 items")):
        add(f"all pairs of 5, {said}", pairs, f"{said}, rates 0.8, 0.8, 0.8, 0.78, 0.7", ("league/2",), league, where,
            (0.8, 0.8, 0.8, 0.78, 0.7), icc)  # fmt: skip
    return made


SCENARIOS = _grid()
