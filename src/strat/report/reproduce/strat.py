"""STRAT: designs, balanced repeated replication, orthogonal arrays and Galois fields."""

from __future__ import annotations

from itertools import product

import numpy as np

from strat import algebra
from strat.columns import Array
from strat.designs import Design
from strat.estimation import actual_error, design_effect, estimate, overdispersion
from strat.recognition import representation
from strat.replication import all_half_samples, brr, given, half_samples
from strat.report.reproduce.entries import Entry, Found, Setting, Value
from strat.statistics import mean, proportion, ratio, total

PRINTED_12 = ("++-+---", "+-+--++", "++--++-", "+--++++", "--++-+-", "-++++--", "+++++++")
PRINTED_13 = "-+---+-"  # which unit of each stratum the third half-sample takes, as (13) lists them


def signs(rows: tuple[str, ...]) -> Array:
    """A printed array of + and − as numbers."""
    return np.array([[1.0 if c == "+" else -1.0 for c in row] for row in rows])


def kish(setting: Setting) -> Found:
    """What rho (n - 1) = 0.2 does to a nominal 5 %."""
    return Found((Value("real error of a nominal 5 %", 0.074, actual_error(1.2), 5e-4),))


def cochran(setting: Setting) -> Found:
    """61 patients, six sites each; Cochran's table of patients is not printed."""
    right = np.repeat([1.0, 0.0], [153, 213])
    naive = estimate(proportion(right), on=Design.simple_random(n=366))
    values = (
        Value("share of negative sites, %", 41.8, 100 * naive.value, 0.05),
        Value("standard error by the binomial formula, %", 2.58, 100 * naive.se, 5e-3),
        Value(
            "ratio of standard errors at an intraclass correlation of 0.45", 1.8, design_effect(0.45, 6) ** 0.5, 0.05
        ),
    )
    return Found(values, ("The 4.65 % needs the counts of each patient, which STRAT does not print.",))


def varying_p(setting: Setting) -> Found:
    """A probability that varies within trials lowers the variance, between trials it raises it."""
    made = overdispersion(0.5, 0.3, 10, draws=setting.times(20_000, 200_000))
    values = (
        Value("varies within trials: variance", "lower", _side(made.within, made.binomial)),
        Value("varies between trials: variance", "higher", _side(made.between, made.binomial)),
    )
    return Found(values, (str(made) + ".",))


def _side(a: float, b: float) -> str:
    return "lower" if a < b else "higher"


def urn(setting: Setting) -> Found:
    """Drawing without replacement from a small urn: hypergeometric, not binomial."""
    right = np.repeat([1.0, 0.0], [12, 8])
    with_replacement = estimate(proportion(right), on=Design.simple_random(n=20))
    without = estimate(proportion(right), on=Design.simple_random(n=20, population=50))
    shrunk = float(np.sqrt(1 - 20 / 50))
    return Found(
        (
            Value(
                "standard error without over with replacement, 20 of 50",
                shrunk,
                without.se / with_replacement.se,
                1e-12,
            ),
        )
    )


def representative(setting: Setting) -> Found:
    """Equally, fully and uniquely representative sets."""
    good, bad = representation(["a", "b"], ["a", "b"]), representation(["a", "b"], ["a", "a"])
    same = representation(["a", "b"], ["a", "b"], gallery_images=[1, 2], probe_images=[1, 3])
    values = (
        Value("one image of each class: equally representative", "yes", _yes(good.equally)),
        Value("two of one class: equally representative", "no", _yes(bad.equally)),
        Value("by the printed words (union empty) no two sets are", "no", _yes(good.equally), erratum=6),
        Value("a shared image is refused", "no", _yes(same.equally)),
    )
    return Found(values)


def _yes(truth: object) -> str:
    return "yes" if truth else "no"


def stratified_mean(setting: Setting) -> Found:
    """(1) to (3): the mean over strata with population shares, and when it is the plain mean."""
    rng, label = np.random.default_rng(4), np.repeat(["a", "b", "c"], [10, 20, 30])
    y, population = rng.normal(size=60), {"a": 600, "b": 300, "c": 100}
    means = [y[label == h].mean() for h in "abc"]
    weighted = estimate(mean(y), on=Design.stratified(strata=label, population=population))
    shared = estimate(mean(y), on=Design.stratified(strata=label, population={"a": 100, "b": 200, "c": 300}))
    by_hand = float(np.dot([0.6, 0.3, 0.1], means))
    values = (
        Value("(1) sum of W_h times the stratum's mean", by_hand, weighted.value, 1e-12),
        Value("(3) the plain mean, where samples are proportional", float(y.mean()), shared.value, 1e-12),
    )
    return Found(values)


def _pairs(strata: int, rng: int = 0) -> tuple[Array, Design]:
    y = np.random.default_rng(rng).normal(size=2 * strata)
    return y, Design.stratified(strata=np.repeat(np.arange(strata), 2), units=np.tile([1, 2], strata))


def full_half_samples(setting: Setting) -> Found:
    """The mean over all half-samples is the estimate, and their variance the textbook one."""
    y, design = _pairs(8)
    made = estimate(total(y), on=all_half_samples(design))
    d = y[::2] - y[1::2]
    values = (
        Value("number of half-samples of 8 strata", 2**8, len(made.replicates)),
        Value("(6) mean of all half-samples", made.value, float(made.replicates.mean()), 1e-12),
        Value("(9) variance, cross terms cancelled", float((d**2).sum()), float(made.variance), 1e-12),
    )
    return Found(values)


def random_subset(setting: Setting) -> Found:
    """A random subset of half-samples gives another variance each time; a balanced one is exact."""
    y, design = _pairs(7)
    exact = float(estimate(total(y), on=design).variance)
    drawn = [float(estimate(total(y), on=half_samples(design, replicates=8, rng=i)).variance) for i in range(200)]
    balanced = estimate(total(y), on=brr(design))
    spread = float(np.std(drawn) / exact)
    values = (
        Value("balanced variance over the textbook one", 1.0, float(balanced.variance) / exact, 1e-12),
        Value("random subsets of 8 vary", "yes", _yes(spread > 0.1), note=f"coefficient of variation {spread:.2f}"),
    )
    average = float(np.mean(drawn) / exact)
    note = f"One random subset is off; averaged over many draws they are right ({average:.3f} of it here), not biased."
    return Found(values, (note,))


def array_12(setting: Setting) -> Found:
    """The 8 × 7 array, as printed and as it should be."""
    printed, ours = signs(PRINTED_12), algebra.hadamard_columns(7)
    third = "".join("+" if s > 0 else "-" for s in printed[2])
    values = (
        Value("rows of an 8 × 7 array", 8, len(printed), erratum=5),
        Value("the printed array is orthogonal", "yes", _yes(algebra.is_orthogonal(printed)), erratum=5),
        Value("our 8 × 7 array is in full balance", "yes", _yes(algebra.is_fully_balanced(ours))),
        Value("(13) the half-sample of the third row", PRINTED_13, third, erratum=29),
    )
    return Found(values)


def balance(setting: Setting) -> Found:
    """(11) balance and (15) full balance; any fewer strata can use the same array."""
    whole = algebra.hadamard(8)
    values = (
        Value("a Hadamard matrix of order 8: (11) holds", "yes", _yes(algebra.is_balanced(whole))),
        Value("with its constant column (15) fails", "no", _yes(algebra.is_fully_balanced(whole))),
        Value(
            "five of seven columns are in full balance",
            "yes",
            _yes(algebra.is_fully_balanced(algebra.hadamard_columns(7)[:, :5])),
        ),
    )
    return Found(values)


def number_483(setting: Setting) -> Found:
    """How many replicates 483 strata of two units need."""
    _, design = _pairs(483)
    values = (
        Value("replicates", 512, brr(design).number),
        Value(
            "least Hadamard order above 483",
            None,
            algebra.hadamard_order(483),
            note="484 would do; beyond 256 strata the fast transform is worth more",
        ),
    )
    return Found(values)


def general(setting: Setting) -> Found:
    """(16) to (18): three units a stratum, all 3^L replicates, and the balanced ones."""
    rng, strata = np.random.default_rng(1), 4
    y = rng.normal(size=3 * strata)
    design = Design.stratified(strata=np.repeat(np.arange(strata), 3), units=np.tile([1, 2, 3], strata))
    factors = np.array([np.ravel(3.0 * np.eye(3)[list(choice)]) for choice in product(range(3), repeat=strata)])
    every = estimate(total(y), on=given(design, factors, scale=1 / (len(factors) * 2)))
    exact = float(estimate(total(y), on=design).variance)
    few = estimate(total(y), on=brr(design))
    values = (
        Value("(17) mean of all 81 replicates", every.value, float(every.replicates.mean()), 1e-12),
        Value("(18) their variance is the textbook one", exact, float(every.variance), 1e-9),
        Value("the 9 balanced replicates give the same", exact, float(few.variance), 1e-9),
    )
    return Found(values)


def _triples(strata: int) -> Design:
    return Design.stratified(strata=np.repeat(np.arange(strata), 3), units=np.tile([1, 2, 3], strata))


def number_256(setting: Setting) -> Found:
    """How many replicates 256 strata of three units need, and where STRAT's rule breaks."""
    values = (
        Value("replicates for 256 strata of 3", 729, brr(_triples(256)).number),
        Value("replicates for 400 strata of 3", 729, brr(_triples(400)).number, erratum=1),
    )
    return Found(values)


def column_limit(setting: Setting) -> Found:
    """The rotations of one sequence of GF(3^3): 26 columns by STRAT's rule, 13 that are orthogonal."""
    sequence = algebra.m_sequence(3, 3)
    columns = np.stack([np.append(np.roll(sequence, -j), 0) for j in range(26)], axis=1)
    unbalanced = sum(not algebra.is_orthogonal(columns[:, [i, j]]) for i in range(26) for j in range(i))
    y = np.random.default_rng(2).normal(size=(26, 3))
    values = [
        Value("pairs of the 26 columns that are not balanced", 0, int(unbalanced), erratum=1),
        Value("columns that (3³ − 1)/(3 − 1) allows: orthogonal", "yes", _yes(algebra.is_orthogonal(columns[:, :13]))),
        Value(
            "(25) our rotation array has the same columns",
            "yes",
            _yes((algebra.rotation(3, 13).symbols == columns[:, :13]).all()),
        ),
    ]
    for strata in (13, 26):
        taken = y[:strata]
        picked = taken[np.arange(strata), columns[:, :strata]].sum(axis=1) * 3
        v = float(((picked - taken.sum()) ** 2).sum() / (27 * 2))
        textbook = float((3 * taken.var(axis=1, ddof=1)).sum())
        wrong = 1 if strata == 26 else None
        values.append(
            Value(f"BRR variance over the textbook one, {strata} strata", 1.0, v / textbook, 1e-9, erratum=wrong)
        )
    return Found(tuple(values))


def coverage(setting: Setting) -> Found:
    """Student's t with as many degrees of freedom as strata, for a ratio of 6 and of 12 strata."""
    runs, rng = setting.times(400, 4000), np.random.default_rng(3)
    values = []
    for strata in (6, 12):
        design = _pairs(strata)[1]
        means = np.linspace(1, 2, strata)
        truth, held = 0.8, 0
        for _ in range(runs):
            x = np.repeat(means, 2) * rng.gamma(9, 1 / 9, 2 * strata)
            y = truth * x + 0.2 * rng.normal(size=2 * strata)
            low, high = estimate(ratio(y, x), on=brr(design)).interval()
            held += low <= truth <= high
        share, sd = held / runs, (0.95 * 0.05 / runs) ** 0.5
        values.append(
            Value(
                f"coverage of nominal 95 %, {strata} strata",
                0.95,
                share,
                holds=abs(share - 0.95) < 0.03 + 2 * sd,
                note=f"{runs} draws, sd {sd:.3f}",
            )
        )
    return Found(tuple(values), ("STRAT 7.4 reports Kish and Frankel: adequate with 6 or 12 strata.",))


def fixed_or_sampled(setting: Setting) -> Found:
    """Classes as strata and as units: 100 classes of 20 rows, intraclass correlation 0.3."""
    runs, rng, who = setting.times(200, 1000), np.random.default_rng(5), np.repeat(np.arange(100), 20)
    strata, units = Design.stratified(strata=who), Design.clustered(units=who)
    held = np.zeros(3)
    for _ in range(runs):
        rate = rng.beta(0.8 * 7 / 3, 0.2 * 7 / 3, 100)
        right = (rng.random(2000) < rate[who]).astype(float)
        fixed, drawn = (estimate(proportion(right), on=on).interval() for on in (strata, units))
        targets = ((fixed, rate.mean()), (fixed, 0.8), (drawn, 0.8))
        held += [low <= truth <= high for (low, high), truth in targets]
    names = ("strata, for these classes", "strata, for their population", "units, for their population")
    values = [
        Value(f"coverage: classes as {name}", 0.95, float(share), holds=abs(share - 0.95) < 0.05, erratum=wrong)
        for name, share, wrong in zip(names, held / runs, (None, 10, None), strict=True)
    ]
    return Found(tuple(values), (f"{runs} draws.",))


def definition(setting: Setting) -> Found:
    """(19), (20): what an orthogonal array is."""
    h2 = signs(("-+", "++"))
    weak = np.repeat([[0, 0], [1, 1], [2, 2]], 3, axis=0)
    values = (
        Value("H2 of (20) is an orthogonal array", "yes", _yes(algebra.is_orthogonal(h2)), erratum=2),
        Value(
            "pairs (0,0), (1,1), (2,2), three times each, are one", "yes", _yes(algebra.is_orthogonal(weak)), erratum=2
        ),
    )
    return Found(
        values,
        ("BRR needs strength 2: every pair of symbols equally often. 'Zero or the same number' admits both of these.",),
    )


def doubling(setting: Setting) -> Found:
    """(21) makes an order 2n, not n²."""
    h4 = algebra.hadamard(4)
    made = np.block([[h4, h4], [-h4, h4]])
    values = (
        Value("order of (21) applied to order 4", 16, len(made), erratum=3),
        Value("its rows are orthogonal", "yes", _yes((made @ made.T == 8 * np.eye(8)).all())),
    )
    return Found(values)


MODULUS = (1, 2, 0, 0, 0, 1)  # x^5 + 2x + 1, the constant first


def _polynomial(element: int, field: algebra.Field) -> str:
    names = [
        ("" if c == 1 and power else str(c)) + ("" if power == 0 else "x" if power == 1 else f"x^{power}")
        for power, c in enumerate(np.ravel(field.digits(element)).tolist())
        if c
    ]
    return " + ".join(reversed(names)) or "0"


def arithmetic(setting: Setting) -> Found:
    """(22) to (24): sums, products and remainders of polynomials over GF(3)."""
    f = algebra.field(243, modulus=MODULUS)
    summed = int(f.add(2 * 27 + 9 + 3, 2 * 27 + 2 * 9 + 1))
    product_ = int(f.multiply(9 + 2 * 3 + 1, 3 + 1))
    power = int(f.power(3, 5))
    values = (
        Value("(22)", "x^3 + x + 1", _polynomial(summed, f)),
        Value("(23)", "x^3 + x", _polynomial(product_, f), erratum=26),
        Value("(24)", "x + 2", _polynomial(power, f)),
    )
    return Found(values)


def figure_1(setting: Setting) -> Found:
    """Powers of the generating element of GF(3^5)."""
    f = algebra.field(243, modulus=MODULUS)
    element, plain = 2 + 2 * 27 + 2 * 81, 1 + 3
    values = (
        Value("order of 2x^4 + 2x^3 + 2", 242, f.order_of(element), erratum=4),
        Value("order of x + 1", 242, f.order_of(plain)),
        Value("its square", "2x^4 + x^3 + 2", _polynomial(int(f.power(element, 2)), f), erratum=4),
        Value("its 242nd power", "1", _polynomial(int(f.power(element, 242)), f)),
    )
    return Found(values, ("Every element but 0 has the 242nd power 1; a generator needs the order 242.",))


def figure_2(setting: Setting) -> Found:
    """What the Maple program of Figure 2 makes: all powers of a primitive element."""
    f = algebra.field(243)
    powers = {int(f.power(f.primitive, k)) for k in range(242)}
    values = (
        Value("different powers of our primitive element of GF(3^5)", 242, len(powers)),
        Value("columns of the array from GF(3³)", 26, algebra.rotation(3, 13).columns, erratum=1),
    )
    return Found(values, ("On the command line: strat array --field 243, strat array --levels 3 --columns 13.",))


ENTRIES = (
    Entry("strat/2.2", "section 2.2", "Representative sets", representative),
    Entry("strat/3", "section 3, criterion 3", "An urn with and without replacement", urn),
    Entry("strat/fixed", "section 4", "Classes as strata: what is fixed?", fixed_or_sampled),
    Entry("strat/kish", "section 5.1", "Kish: a small intraclass correlation spoils an interval", kish),
    Entry("strat/cochran", "section 5.1", "Cochran: 61 patients, six sites each", cochran),
    Entry("strat/varying", "section 5.1", "Bernoulli trials whose probability varies", varying_p),
    Entry("strat/1", "section 6, (1) to (3)", "The stratified mean", stratified_mean),
    Entry("strat/full", "section 7.1, (4) to (9)", "All half-samples", full_half_samples),
    Entry("strat/random", "section 7.1, (10)", "Random half-samples", random_subset),
    Entry("strat/12", "section 7.2, (12) and (13)", "The 8 × 7 array", array_12),
    Entry("strat/balance", "section 7.2, (11) and (15)", "Balance and full balance", balance),
    Entry("strat/483", "section 7.2", "Replicates for 483 strata of two units", number_483),
    Entry("strat/general", "section 7.3, (16) to (18)", "General BRR", general),
    Entry("strat/256", "section 7.3", "Replicates for strata of three units", number_256),
    Entry("strat/limit", "sections 7.3 and B.3, (25)", "How many strata GF(3³) carries", column_limit),
    Entry("strat/7.4", "section 7.4", "Coverage of Student's t with few strata", coverage),
    Entry("strat/20", "appendix A, (19) and (20)", "Orthogonal arrays", definition),
    Entry("strat/21", "appendix A, (21)", "Doubling a Hadamard matrix", doubling),
    Entry("strat/22", "appendix B, (22) to (24)", "Arithmetic of polynomials", arithmetic),
    Entry("strat/figure-1", "appendix B, Figure 1", "A generator of GF(3^5)", figure_1),
    Entry("strat/figure-2", "appendix B, Figure 2", "Generating a field and its array", figure_2),
)
