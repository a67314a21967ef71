"""STRAT: designs, stratified estimates, balanced repeated replication and its intervals."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.stats import hypergeom
from scipy.stats import t as student

from reproduce.entries import Entry, Found, Setting, Value
from reproduce.strat_arrays import ENTRIES as ARRAY_ENTRIES
from reproduce.strat_arrays import in_words
from reproduce.training import ENTRIES as TRAINING_ENTRIES
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.estimation import actual_error, estimate, overdispersion
from strat.measures import mean, proportion, total
from strat.recognition import representation
from strat.replication import all_half_samples, brr, given, half_samples


def kish(setting: Setting) -> Found:
    """What rho (n - 1) = 0.2 does to a nominal 5 %."""
    return Found((Value("real error of a nominal 5 %", 0.074, actual_error(1.2), 5e-4),))


def cochran(setting: Setting) -> Found:
    """61 patients, six sites each; Cochran's table of patients is not printed."""
    right = np.repeat([1.0, 0.0], [153, 213])
    naive = estimate(proportion(right), on=Design.simple_random(n=366))
    implied = 4.65 / 2.58
    values = (
        Value("share of negative sites, %", 41.8, 100 * naive.value, 0.05),
        Value("standard error by the binomial formula, %", 2.58, 100 * naive.se, 5e-3),
        Value("intraclass correlation that the ratio of the printed 4.65 and 2.58 implies", None, (implied**2 - 1) / 5),
    )
    return Found(values, ("The 4.65 % itself needs the counts of each patient, which STRAT does not print.",))


def varying_p(setting: Setting) -> Found:
    """A probability that varies within trials lowers the variance, between trials it raises it."""
    spread = overdispersion(0.5, 0.3, 10, draws=setting.times(20_000, 200_000))
    values = (
        Value("varies within trials: variance", "lower", _side(spread.within, spread.binomial)),
        Value("varies between trials: variance", "higher", _side(spread.between, spread.binomial)),
        Value("within: (p(1 − p) − s²)/n", None, spread.within, 0.05 * 0.016, derived=(0.25 - 0.09) / 10),
        Value("between: p(1 − p)/n + s²(n − 1)/n", None, spread.between, 0.05 * 0.106, derived=0.025 + 0.09 * 0.9),
    )
    return Found(values, (str(spread) + ".",))


def _side(a: float, b: float) -> str:
    return "lower" if a < b else "higher"


def urn(setting: Setting) -> Found:
    """Drawing without replacement from a small urn: hypergeometric, not binomial."""
    right = np.repeat([1.0, 0.0], [12, 8])
    with_replacement = estimate(proportion(right), on=Design.simple_random(n=20))
    without = estimate(proportion(right), on=Design.simple_random(n=20, population=50))
    shrunk = without.se / with_replacement.se
    exact, default = (least_coverage(20, 50, method) for method in ("exact", None))
    values = (
        Value(
            "standard error without over with replacement, 20 of 50",
            None,
            shrunk,
            1e-12,
            derived=float(np.sqrt(1 - 20 / 50)),
            note="estimated from the draw; with a known share it is √(30/49)",
        ),
        Value("least coverage of 95 % hypergeometric limits (exact), 20 of 50", None, exact[0], note=exact[1]),
        Value("least coverage of the default limits, 20 of 50", None, default[0], note=default[1]),
        *(
            Value(f"the same, 40 of 100, {method or 'default'}", None, *least_coverage(40, 100, method)[:1])
            for method in ("exact", None)
        ),
    )
    return Found(values)


def least_coverage(drawn: int, population: int, method: str | None) -> tuple[float, str]:
    """The least coverage over all shares of a finite population, by summing the hypergeometric, and where it is."""
    design, hits = Design.simple_random(n=drawn, population=population), np.arange(drawn + 1)
    right = (np.repeat([1.0, 0.0], [k, drawn - k]) for k in hits)
    low, high = np.array([estimate(proportion(y), on=design).interval(method=method) for y in right]).T
    all_hits = np.arange(population + 1)
    covers = (low <= all_hits[:, None] / population + 1e-9) & (all_hits[:, None] / population <= high + 1e-9)
    coverage = (covers * hypergeom.pmf(hits, population, all_hits[:, None], drawn)).sum(axis=1)
    return float(coverage.min()), f"at {int(coverage.argmin())} of {population}; on average {coverage.mean():.4f}"


def representative(setting: Setting) -> Found:
    """Equally, fully and uniquely representative sets."""
    good, bad = representation(["a", "b"], ["a", "b"]), representation(["a", "b"], ["a", "a"])
    same = representation(["a", "b"], ["a", "b"], gallery_images=[1, 2], probe_images=[1, 3])
    apart = "intersection" if good.equally and not same.equally else "union"
    values = (
        Value("one image of each class: equally representative", None, in_words(good.equally), derived="yes"),
        Value("two of one class: equally representative", None, in_words(bad.equally), derived="no"),
        Value("what of the two sets must be empty", "union", apart, erratum=6, right="intersection"),
    )
    return Found(values)


def stratified_mean(setting: Setting) -> Found:
    """(1) to (3): the mean over strata with population shares, and when it is the plain mean."""
    rng, label = np.random.default_rng(4), np.repeat(["a", "b", "c"], [10, 20, 30])
    y, population = rng.normal(size=60), {"a": 600, "b": 300, "c": 100}
    means = [y[label == h].mean() for h in "abc"]
    weighted = estimate(mean(y), on=Design.stratified(strata=label, population=population))
    shared = estimate(mean(y), on=Design.stratified(strata=label, population={"a": 100, "b": 200, "c": 300}))
    by_hand, plain = float(np.dot([0.6, 0.3, 0.1], means)), float(y.mean())
    values = (
        Value("(1) sum of W_h times the stratum's mean", None, weighted.value, 1e-12, derived=by_hand),
        Value("(3) the plain mean, where samples are proportional", None, shared.value, 1e-12, derived=plain),
    )
    return Found(values)


def _pairs(strata: int, rng: int = 0) -> tuple[Array, Design]:
    y = np.random.default_rng(rng).normal(size=2 * strata)
    return y, Design.stratified(strata=np.repeat(np.arange(strata), 2), units=np.tile([1, 2], strata), nested=True)


def full_half_samples(setting: Setting) -> Found:
    """The mean over all half-samples is the estimate, and their variance the textbook one."""
    y, design = _pairs(8)
    every = estimate(total(y), on=all_half_samples(design))
    d = y[::2] - y[1::2]
    centre, spread = float(every.replicates.mean()), float(every.variance)
    values = (
        Value("number of half-samples of 8 strata", None, len(every.replicates), derived=2**8),
        Value("(6) mean of all half-samples", None, centre, 1e-12, derived=float(every.value)),
        Value("(9) variance, cross terms cancelled", None, spread, 1e-12, derived=float((d**2).sum())),
    )
    return Found(values)


def random_subset(setting: Setting) -> Found:
    """A random subset of half-samples gives another variance each time, right on average; a balanced one is exact."""
    y, design = _pairs(7)
    exact = float(estimate(total(y), on=design).variance)
    every = estimate(total(y), on=all_half_samples(design))
    expected = float(np.mean((every.replicates - every.value) ** 2)) / exact  # of one half-sample drawn at random
    drawn = [float(estimate(total(y), on=half_samples(design, replicates=8, rng=i)).variance) for i in range(200)]
    balanced = float(estimate(total(y), on=brr(design)).variance) / exact
    word = "unbiased" if abs(expected - 1) < 1e-12 else "biased"
    values = (
        Value("balanced variance over the textbook one", None, balanced, 1e-12, derived=1.0),
        Value(
            "the variance of random half-samples is",
            "biased",
            word,
            erratum=30,
            right="unbiased",
            note=f"expectation {expected:.6f}",
        ),
        Value("coefficient of variation of subsets of 8", None, float(np.std(drawn) / exact)),
    )
    return Found(
        values, ("Random subsets are more variable, which is why balanced ones are better; they are not biased.",)
    )


def general(setting: Setting) -> Found:
    """(16) to (18): three units a stratum, all 3^L replicates, the balanced ones, and what 1/(n_h − 1) does."""
    rng, strata = np.random.default_rng(1), 4
    y = rng.normal(size=3 * strata)
    design = Design.stratified(strata=np.repeat(np.arange(strata), 3), units=np.tile([1, 2, 3], strata), nested=True)
    factors = np.array([np.ravel(3.0 * np.eye(3)[list(choice)]) for choice in product(range(3), repeat=strata)])
    every = estimate(total(y), on=given(design, factors, scale=1 / (len(factors) * 2)))
    exact = float(estimate(total(y), on=design).variance)
    few = estimate(total(y), on=brr(design))
    without = float(np.mean((every.replicates - every.value) ** 2)) / exact
    effect = "undoes weights" if abs(without - 2) < 1e-9 else "shrinks"
    note = f"without it the variance is {without:.4f} times the textbook one"
    values = (
        Value(
            "(17) mean of all 81 replicates", None, float(every.replicates.mean()), 1e-12, derived=float(every.value)
        ),
        Value("(18) their variance is the textbook one", None, float(every.variance), 1e-9, derived=exact),
        Value("the 9 balanced replicates give the same", None, float(few.variance), 1e-9, derived=exact),
        Value("the factor 1/(n_h − 1) with n_h = 3", "shrinks", effect, erratum=31, right="undoes weights", note=note),
    )
    return Found(values)


LEAST, MOST = 0.93, 0.97  # what "adequate" may be for an interval of 95 %


def coverage(setting: Setting) -> Found:
    """Student's t with as many degrees of freedom as strata, for a ratio of 6 and of 12 strata."""
    runs, rng = setting.times(20_000, 200_000), np.random.default_rng(3)
    values = []
    for strata in (6, 12):
        share = ratio_coverage(strata, runs, rng)
        sd = (0.95 * 0.05 / runs) ** 0.5
        held = LEAST + 2 * sd < share < MOST - 2 * sd
        what = f"coverage of nominal 95 %, {strata} strata"
        rule = f"{LEAST} to {MOST}, clear of 2 sd"
        values.append(Value(what, "adequate", share, holds=held, rule=rule, note=f"{runs} draws, sd {sd:.4f}"))
    return Found(tuple(values), ("STRAT 7.4 reports Kish and Frankel: adequate with 6 or 12 strata.",))


def ratio_coverage(strata: int, runs: int, rng: np.random.Generator, *, truth: float = 0.8) -> float:
    """How often BRR's interval of a ratio holds the truth: the library's replicates, all draws at once."""
    replicates = brr(_pairs(strata)[1])
    factors, means = replicates.row_factors(), np.repeat(np.linspace(1, 2, strata), 2)
    x = means * rng.gamma(9, 1 / 9, (runs, 2 * strata))
    y = truth * x + 0.2 * rng.normal(size=x.shape)
    value = y.sum(axis=1) / x.sum(axis=1)
    each = (y @ factors.T) / (x @ factors.T)
    se = np.sqrt(((each - value[:, None]) ** 2).mean(axis=1))
    return float(np.mean(np.abs(value - truth) <= student.ppf(0.975, strata) * se))


PROBE_SETS = (3, 10, 30, 50)


def probe_sets(setting: Setting) -> Found:
    """Many probe sets, one estimate from each: how many images a subject such an interval needs."""
    subjects, runs, rng = 250, setting.times(4_000, 40_000), np.random.default_rng(8)
    rates = rng.beta(4, 1, subjects)  # how often a subject is found; these subjects are the target
    shares, widths = {}, {}
    for m in PROBE_SETS:
        found = np.stack([rng.binomial(m, p, runs) for p in rates])  # of m images of each subject
        value = found.sum(axis=0) / (m * subjects)
        within = (found * (m - found)).sum(axis=0) / (m * (m - 1) * subjects**2)  # the variance within strata
        sets = rng.binomial(1, rates[:, None, None], (subjects, min(runs, 400), m)).mean(axis=0)
        middle, half = sets.mean(axis=1), student.ppf(0.975, m - 1) * sets.std(axis=1, ddof=1) / np.sqrt(m)
        shares[m] = float(np.mean(np.abs(middle - rates.mean()) <= half))
        widths[m] = float(half.mean() / (student.ppf(0.975, subjects * (m - 1)) * np.sqrt(within / m).mean()))
        assert abs(value.mean() - rates.mean()) < 0.01
    fewest = next(m for m in PROBE_SETS if abs(shares[m] - 0.95) < 0.03)
    coverage_words = ", ".join(f"{m} sets {shares[m]:.3f}" for m in PROBE_SETS)
    note = f"{subjects} generated subjects; coverage of Student's t by the number of probe sets: {coverage_words}"
    values = (
        Value(
            "fewest of 3, 10, 30, 50 images a subject whose interval over probe sets holds",
            "thirty to fifty",
            fewest,
            rule="coverage within 0.03 of 0.95",
            note=note,
            other_data=True,
            generated=True,
        ),
        Value("width of that interval with 3 sets, over the stratified one", None, widths[3], note="2 and 500 df"),
    )
    return Found(values, ("Few sets do for an interval that holds; what they cost is its width, which strata save.",))


def fixed_or_sampled(setting: Setting) -> Found:
    """Classes as strata and as units: 100 classes of 20 rows, intraclass correlation 0.3."""
    runs, rng, who = setting.times(400, 2000), np.random.default_rng(5), np.repeat(np.arange(100), 20)
    strata, units = Design.stratified(strata=who), Design.clustered(units=who)
    held = np.zeros(3)
    for _ in range(runs):
        rate = rng.beta(0.8 * 7 / 3, 0.2 * 7 / 3, 100)
        right = (rng.random(2000) < rate[who]).astype(float)
        fixed, drawn = (estimate(proportion(right), on=on).interval() for on in (strata, units))
        targets = ((fixed, rate.mean()), (fixed, 0.8), (drawn, 0.8))
        held += [bool(low <= truth <= high) for (low, high), truth in targets]
    fixed_share, trap, unit_share = (float(share) for share in held / runs)
    sd = (0.95 * 0.05 / runs) ** 0.5
    values = (
        Value("coverage: classes as strata, for these classes", None, fixed_share, 0.03, derived=0.95, noise=sd),
        Value("coverage: classes as strata, for their population", None, trap, note="the trap of point 10"),
        Value("coverage: classes as units, for their population", None, unit_share, note="what is right for it"),
    )
    note = "STRAT 2.1.4 asks for all the classes represented in the images, so its own target is the first line."
    return Found(values, (f"{runs} draws. {note}",))


ENTRIES = (
    Entry("strat/2.2", "section 2.2", "Representative sets", representative),
    *TRAINING_ENTRIES,
    Entry("strat/2.1.4", "section 2.1.4", "An interval from many probe sets", probe_sets),
    Entry("strat/3", "section 3, criterion 3", "An urn with and without replacement", urn),
    Entry("strat/fixed", "section 4", "Classes as strata: what is fixed?", fixed_or_sampled),
    Entry("strat/kish", "section 5.1", "Kish: a small intraclass correlation spoils an interval", kish),
    Entry("strat/cochran", "section 5.1", "Cochran: 61 patients, six sites each", cochran),
    Entry("strat/varying", "section 5.1", "Bernoulli trials whose probability varies", varying_p),
    Entry("strat/1", "section 6, (1) to (3)", "The stratified mean", stratified_mean),
    Entry("strat/full", "section 7.1, (4) to (9)", "All half-samples", full_half_samples),
    Entry("strat/random", "section 7.1, (10)", "Random half-samples", random_subset),
    Entry("strat/general", "section 7.3, (16) to (18)", "General BRR", general),
    Entry("strat/7.4", "section 7.4", "Coverage of Student's t with few strata", coverage),
    *ARRAY_ENTRIES,
)
