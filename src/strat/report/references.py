"""Where the methods come from, and the words by which a result asks for them."""

from __future__ import annotations

from strat.estimation import Estimate

SOURCES: dict[str, str] = {
    "strata": (
        "R. J. Micheals and T. E. Boult. A stratified methodology for classifier and recognizer evaluation. Lehigh "
        "University."
    ),
    "brr": (
        "R. J. Micheals and T. E. Boult. Efficient evaluation of classification and recognition systems. IEEE CVPR, "
        "2001. Balanced repeated replication: P. J. McCarthy. Pseudo-replication: half samples. Review of the "
        "International Statistical Institute 37, 1969."
    ),
    "fay": "D. R. Judkins. Fay's method for variance estimation. Journal of Official Statistics 6, 1990.",
    "multi-array": (
        "R. R. Sitter. Balanced repeated replications based on orthogonal multi-arrays. Biometrika 80, 1993."
    ),
    "jackknife": "K. M. Wolter. Introduction to variance estimation, chapter 4. Springer, 2nd edition, 2007.",
    "bootstrap": (
        "J. N. K. Rao and C. F. J. Wu. Resampling inference with complex survey data. Journal of the American "
        "Statistical Association 83, 1988."
    ),
    "closed form": "W. G. Cochran. Sampling techniques. Wiley, 3rd edition, 1977.",
    "woodruff": (
        "R. S. Woodruff. Confidence intervals for medians and other position measures. Journal of the American "
        "Statistical Association 47, 1952."
    ),
    "deff": "L. Kish. Survey sampling. Wiley, 1965.",
    "exact": (
        "E. L. Korn and B. I. Graubard. Confidence intervals for proportions with small expected number of positive "
        "counts estimated from survey data. Survey Methodology 24, 1998."
    ),
    "max-t": (
        "T. Hothorn, F. Bretz and P. Westfall. Simultaneous inference in general parametric models. Biometrical "
        "Journal 50, 2008."
    ),
    "winner": (
        "I. Andrews, T. Kitagawa and A. McCloskey. Inference on winners. Quarterly Journal of Economics 139, 2024."
    ),
    "ranks": (
        "J. Demšar. Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning "
        "Research 7, 2006."
    ),
    "chance": (
        "E. Nyssen. Evaluation of pattern classifiers: testing the significance of classification efficiency using an "
        "exact probability technique. Pattern Recognition Letters 17, 1996."
    ),
}


def topics_of(estimate: Estimate) -> frozenset[str]:
    """The words of the sources that an estimate rests on."""
    method = estimate.method.lower()
    words = [word for word in ("brr", "fay", "multi-array", "bootstrap", "closed form", "woodruff") if word in method]
    found = {*words, *(["jackknife"] if "jk" in method or "jackknife" in method else [])}
    if "fay" in found or "multi-array" in found:
        found.add("brr")
    if "strat" in estimate.design:
        found.add("strata")
    if estimate.srs is not None:
        found.add("deff")
    if estimate.proportion:
        found.add("exact")
    return frozenset(found)
