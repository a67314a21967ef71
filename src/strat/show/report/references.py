"""Where the methods come from: every reference, once, and the words by which a result asks for them."""

from __future__ import annotations

from collections.abc import Iterable

from strat.estimation import Estimate
from strat.replication import MethodKind

REFERENCES: dict[str, str] = {
    "Alpaydin 1999": (
        "E. Alpaydin. Combined 5 × 2 cv F test for comparing supervised classification learning algorithms. Neural "
        "Computation 11, 1999."
    ),
    "Aronow 2015": (
        "P. M. Aronow, C. Samii and V. A. Assenova. Cluster-robust variance estimation for dyadic data. Political "
        "Analysis 23, 564–577, 2015."
    ),
    "Bell 2002": (
        "R. M. Bell and D. F. McCaffrey. Bias reduction in standard errors for linear regression with multi-stage "
        "samples. Survey Methodology 28, 169–181, 2002."
    ),
    "Benjamini 1995": (
        "Y. Benjamini and Y. Hochberg. Controlling the false discovery rate: a practical and powerful approach to "
        "multiple testing. Journal of the Royal Statistical Society B 57, 289–300, 1995."
    ),
    "Beveridge 2001": (
        "J. R. Beveridge, K. She, B. A. Draper and G. H. Givens. A nonparametric statistical comparison of principal "
        "component and linear discriminant subspaces for face recognition. IEEE CVPR, 2001."
    ),
    "Cameron 2011": (
        "A. C. Cameron, J. B. Gelbach and D. L. Miller. Robust inference with multiway clustering. Journal of Business "
        "and Economic Statistics 29, 238–249, 2011."
    ),
    "Clopper 1934": (
        "C. J. Clopper and E. S. Pearson. The use of confidence or fiducial limits illustrated in the case of the "
        "binomial. Biometrika 26, 404–413, 1934."
    ),
    "Cochran 1977": "W. G. Cochran. Sampling techniques. Wiley, 3rd edition, 1977.",
    "Davies 1980": (
        "R. B. Davies. Algorithm AS 155: the distribution of a linear combination of χ² random variables. Applied "
        "Statistics 29, 323–333, 1980."
    ),
    "Demšar 2006": (
        "J. Demšar. Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning "
        "Research 7, 1–30, 2006."
    ),
    "Dietterich 1998": (
        "T. G. Dietterich. Approximate statistical tests for comparing supervised classification learning algorithms. "
        "Neural Computation 10, 1998."
    ),
    "Efron 1997": (
        "B. Efron and R. Tibshirani. Improvements on cross-validation: the .632+ bootstrap method. Journal of the "
        "American Statistical Association 92, 548–560, 1997."
    ),
    "Fukunaga 1989": (
        "K. Fukunaga and R. R. Hayes. Estimation of classifier performance. IEEE Transactions on Pattern Analysis and "
        "Machine Intelligence 11, 1087–1101, 1989."
    ),
    "García 2008": (
        "S. García and F. Herrera. An extension on “Statistical comparisons of classifiers over multiple data sets” "
        "for all pairwise comparisons. Journal of Machine Learning Research 9, 2677–2694, 2008."
    ),
    "Hand 2001": (
        "D. J. Hand and R. J. Till. A simple generalisation of the area under the ROC curve for multiple class "
        "classification problems. Machine Learning 45, 171–186, 2001."
    ),
    "Hochberg 1988": (
        "Y. Hochberg. A sharper Bonferroni procedure for multiple tests of significance. Biometrika 75, 800–802, 1988."
    ),
    "Holm 1979": (
        "S. Holm. A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, "
        "65–70, 1979."
    ),
    "Hothorn 2008": (
        "T. Hothorn, F. Bretz and P. Westfall. Simultaneous inference in general parametric models. Biometrical "
        "Journal 50, 346–363, 2008."
    ),
    "Iman 1980": (
        "R. L. Iman and J. M. Davenport. Approximations of the critical region of the Friedman statistic. "
        "Communications in Statistics: Theory and Methods 9, 571–595, 1980."
    ),
    "Imhof 1961": (
        "J. P. Imhof. Computing the distribution of quadratic forms in normal variables. Biometrika 48, 419–426, 1961."
    ),
    "James 1961": (
        "W. James and C. Stein. Estimation with quadratic loss. Proceedings of the Fourth Berkeley Symposium on "
        "Mathematical Statistics and Probability 1, 361–379, 1961."
    ),
    "Judkins 1990": (
        "D. R. Judkins. Fay's method for variance estimation. Journal of Official Statistics 6, 223–239, 1990."
    ),
    "Kish 1965": "L. Kish. Survey sampling. Wiley, 1965.",
    "Korn 1998": (
        "E. L. Korn and B. I. Graubard. Confidence intervals for proportions with small expected number of positive "
        "counts estimated from survey data. Survey Methodology 24, 193–201, 1998."
    ),
    "Kuncheva 2014": (
        "L. I. Kuncheva. Combining pattern classifiers: methods and algorithms, chapter 1, Fundamentals of pattern "
        "recognition. Wiley, 2nd edition, 2014."
    ),
    "McCarthy 1969": (
        "P. J. McCarthy. Pseudo-replication: half samples. Review of the International Statistical Institute 37, "
        "239–264, 1969."
    ),
    "McNemar 1947": (
        "Q. McNemar. Note on the sampling error of the difference between correlated proportions or percentages. "
        "Psychometrika 12, 153–157, 1947."
    ),
    "Micheals": (
        "R. J. Micheals and T. E. Boult. A stratified methodology for classifier and recognizer evaluation. Lehigh "
        "University."
    ),
    "Micheals 2001": (
        "R. J. Micheals and T. E. Boult. Efficient evaluation of classification and recognition systems. IEEE CVPR, "
        "2001."
    ),
    "Miyamoto 1991": (
        "M. Miyamoto. A construction of Hadamard matrices. Journal of Combinatorial Theory A 57, 86–108, 1991."
    ),
    "Nadeau 2003": (
        "C. Nadeau and Y. Bengio. Inference for the generalization error. Machine Learning 52, 239–281, 2003."
    ),
    "Nyssen 1996": (
        "E. Nyssen. Evaluation of pattern classifiers: testing the significance of classification efficiency using an "
        "exact probability technique. Pattern Recognition Letters 17, 1125–1129, 1996."
    ),
    "Nyssen 1998": (
        "E. Nyssen. Interpretation of pattern classification results, obtained from a test set. Kybernetika 34, "
        "443–446, 1998."
    ),
    "Paley 1933": "R. E. A. C. Paley. On orthogonal matrices. Journal of Mathematics and Physics 12, 311–320, 1933.",
    "Rao 1988": (
        "J. N. K. Rao and C. F. J. Wu. Resampling inference with complex survey data. Journal of the American "
        "Statistical Association 83, 231–241, 1988."
    ),
    "Shaffer 1986": (
        "J. P. Shaffer. Modified sequentially rejective multiple test procedures. Journal of the American Statistical "
        "Association 81, 826–831, 1986."
    ),
    "Sitter 1993": (
        "R. R. Sitter. Balanced repeated replications based on orthogonal multi-arrays. Biometrika 80, 211–221, 1993."
    ),
    "Wilson 1927": (
        "E. B. Wilson. Probable inference, the law of succession, and statistical inference. Journal of the American "
        "Statistical Association 22, 209–212, 1927."
    ),
    "Wolter 2007": "K. M. Wolter. Introduction to variance estimation. Springer, 2nd edition, 2007.",
    "Woodruff 1952": (
        "R. S. Woodruff. Confidence intervals for medians and other position measures. Journal of the American "
        "Statistical Association 47, 635–646, 1952."
    ),
}

TOPICS: dict[str, tuple[str, ...]] = {
    "strata": ("Micheals",),
    "brr": ("Micheals 2001", "McCarthy 1969"),
    "fay": ("Judkins 1990",),
    "multi-array": ("Sitter 1993",),
    "jackknife": ("Wolter 2007",),
    "bootstrap": ("Rao 1988",),
    "closed form": ("Cochran 1977",),
    "df": ("Bell 2002",),
    "woodruff": ("Woodruff 1952",),
    "deff": ("Kish 1965",),
    "exact": ("Korn 1998",),
    "max-t": ("Hothorn 2008",),
    "winner": ("James 1961",),
    "ranks": ("Demšar 2006",),
    "chance": ("Nyssen 1998", "Nyssen 1996"),
}


def sources_of(topics: Iterable[str]) -> list[str]:
    """The references of some topics, each once.

    >>> sources_of({"deff", "closed form"})
    ['W. G. Cochran. Sampling techniques. Wiley, 3rd edition, 1977.', 'L. Kish. Survey sampling. Wiley, 1965.']
    """
    asked = set(topics)
    return [REFERENCES[key] for topic, keys in TOPICS.items() if topic in asked for key in keys]


_OF_METHOD: dict[MethodKind, tuple[str, ...]] = {
    MethodKind.CLOSED_FORM: ("closed form",),
    MethodKind.BRR: ("brr",),
    MethodKind.GENERALIZED: ("brr",),
    MethodKind.FAY: ("brr", "fay"),
    MethodKind.MULTI_ARRAY: ("brr", "multi-array"),
    MethodKind.JACKKNIFE: ("jackknife",),
    MethodKind.BOOTSTRAP: ("bootstrap",),
}


def topics_of(estimate: Estimate) -> frozenset[str]:
    """The words of the sources that an estimate rests on."""
    topics = set(_OF_METHOD.get(estimate.method.kind, ()))
    if estimate.method.by_shares:
        topics.add("woodruff")
    if estimate.design.strata > 1 or estimate.design.stratified:
        topics.add("strata")
    if estimate.inference.srs is not None:
        topics.add("deff")
    if estimate.proportion:
        topics.add("exact")
    if estimate.least_df % 1:
        topics.add("df")  # fewer than units minus strata, because units are unequal
    return frozenset(topics)
