"""Names that other tools have and strat does not: the line to type here instead.

Measures are not among them: their words are in the register of measures. Every line is run by a test, which knows what
`y`, `truth`, `design`, `table` and the other names in the lines stand for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import NoReturn

_SELECTED = "table, predicted='predicted', by='group', metrics='selection_rate'"
_ROLES = "table, truth='truth', predicted='predicted'"
_LINES = {
    "strat.Design.clustered(psu, strata=strata, weights=weights)": (
        *("svydesign", "as_survey", "as_survey_design", "survey", "survey_design"),
    ),
    "strat.estimate(strat.mean(y), on=design)": ("svymean", "survey_mean"),
    "strat.estimate(strat.total(y), on=design)": ("svytotal", "survey_total"),
    "strat.estimate(strat.ratio(y, x), on=design)": ("svyratio", "survey_ratio"),
    "strat.estimate(strat.variance(y), on=design)": ("svyvar", "survey_var"),
    "strat.estimate(strat.quantile(y, 0.5), on=design)": ("svyquantile", "survey_quantile", "median", "survey_median"),
    "strat.estimate(strat.proportion(solved), on=design).interval()": ("svyciprop", "survey_prop"),
    "strat.estimate(strat.linear_regression(y, frame), on=design)": ("svyglm", "glm", "ols", "OLS", "regression"),
    "strat.estimate(strat.logistic_regression(solved, frame), on=design)": ("logit", "Logit"),
    "strat.estimate(strat.ordinal_logit(grade, frame), on=design)": ("svyolr", "polr"),
    "strat.estimate(strat.mean(y), on=strat.jackknife(design))": ("svrepdesign", "as_svrepdesign", "withReplicates"),
    "strat.estimate(strat.post_stratified(strat.mean(y), by=group, sizes={'a': 400, 'b': 600}), on=design)": (
        *("poststratify", "post_stratify", "postStratify", "rake", "calibrate"),
    ),
    "strat.evaluate(table, score='score', by='group')": ("svyby", "svyttest", "survey_by", "group_by"),
    "strat.evaluate(table, truth='truth', predicted='predicted', by='group').groups['accuracy'].test('rao-scott')": (
        "svychisq",
    ),
    "strat.compare(table, truth='truth', score=['score', 'other'], metrics='auc')": (
        *("delong", "roc_test", "delong_test", "delong_roc_test", "compare_auc"),
    ),
    "strat.estimate(strat.auc(truth, score), on=design).interval()": ("ci_auc", "delong_ci", "delong_roc_variance"),
    "strat.comparison.readers(truth, score, reader=reader, case=case)": ("mrmc", "obuchowski_rockette"),
    "strat.estimate(strat.measures.decision_curve(truth, score, thresholds=[0.1, 0.2]), on=design).plot()": (
        *("dca", "decision_curve_analysis", "plot.decision_curve"),
    ),
    "strat.estimate(strat.threshold_at(truth, score, at=0.1), on=design)": (
        *("threshold", "find_threshold", "best_threshold"),
    ),
    "strat.cross_validate(model, X, truth)": ("cross_val_score", "cross_val_predict", "kfold", "k_fold"),
    f"strat.evaluate({_ROLES})": ("classification_report", "score_predictions"),
    "strat.ConfusionMatrix.from_labels(truth, predicted)": ("confusion_matrix", "plot.confusion_matrix"),
    "strat.plot.roc(truth, score)": ("roc_curve", "plot.roc_curve", "plot_roc"),
    "strat.plot.det(truth, score)": ("det_curve", "plot.det_curve"),
    "strat.plot.precision_recall(truth, score)": ("precision_recall_curve", "pr_curve", "plot.pr"),
    "strat.plot.calibration(truth, score)": (
        *("reliability", "reliability_diagram", "reliability_curve", "plot.calibration_curve"),
    ),
    f"strat.evaluate({_ROLES}, by='group', metrics='recall')": ("MetricFrame", "by_group", "disparity"),
    f"strat.evaluate({_ROLES}, by='group', metrics='recall').groups['recall'].gap()": (
        *("equal_opportunity", "equal_opportunity_difference"),
    ),
    f"strat.evaluate({_ROLES}, by='group', metrics='recall').groups['recall'].worst()": ("worst_group",),
    "strat.recognition.cmc(probes, gallery, probe_ids, gallery_ids)": ("measures.cmc", "cmc_curve"),
    f"strat.evaluate({_ROLES}, by='group', metrics=['recall', 'false_positive_rate']).equalized_odds()": (
        *("equalized_odds", "equalized_odds_difference", "equalized_odds_ratio"),
    ),
    f"strat.evaluate({_SELECTED}).groups['selection_rate'].gap()": (
        *("demographic_parity", "demographic_parity_difference", "statistical_parity"),
    ),
    f"strat.evaluate({_SELECTED}).groups['selection_rate'].ratio()": (
        *("demographic_parity_ratio", "disparate_impact", "disparate_impact_ratio"),
    ),
    "strat.estimate(strat.accuracy(truth, predicted), on=strat.bootstrap(design)).interval()": (
        *("bootstrap_ci", "bootstrap_interval", "bootstrap_confidence_interval"),
    ),
    "strat.estimate(strat.accuracy(truth, predicted), on=design).interval()": (
        *("ci", "confint", "confidence_interval", "interval"),
    ),
    "strat.estimate(strat.accuracy(truth, predicted), on=design).se": ("standard_error", "stderr", "sem", "SE"),
    "strat.score_interval(8, 10)": ("wilson", "clopper_pearson", "proportion_confint", "binom_test", "binomtest"),
    "strat.compare(table, score=['score', 'other'])": ("ttest", "ttest_rel", "t_test", "paired_t", "paired_bootstrap"),
    "strat.comparison.signed_rank(x, y)": ("wilcoxon", "wilcoxon_signed_rank"),
    "strat.comparison.friedman(scores_of_data_sets, higher_is_better=True)": ("friedmanchisquare", "friedman_test"),
    "strat.comparison.randomization(strat.mean(x), strat.mean(y), on=design)": (
        "permutation_test",
        "randomization_test",
    ),
    "strat.planning.paired_rows_for_power(difference=0.05, disagreement=0.2)": (
        "power",
        "power_analysis",
        "solve_power",
    ),
    "strat.planning.rows_for_width(width=0.05, proportion=0.8)": ("sample_size", "samplesize"),
    "strat.votes(votes)": ("elo", "elo_rating", "compute_elo", "arena"),
    "strat.recognition.verification_of_trials(similarity=score, mated=solved).det()": (
        *("recognition.det", "recognition.roc"),
    ),
    "strat.recognition.verification_of_trials(similarity=score, mated=solved).fnmr_at(0.1)": (
        *("far", "frr", "fmr", "fnmr", "tar"),
    ),
}
LINES = {name: line for line, names in _LINES.items() for name in names}
"""From a name, or a name in one part ("plot.pr"), to the line."""


def no_attribute(module: str, name: str, line: str | None = None) -> AttributeError:
    """The error for a name that a module does not have, with the line to type if there is one.

    >>> print(no_attribute("strat", "svymean"))
    module 'strat' has no attribute 'svymean'; type strat.estimate(strat.mean(y), on=design)
    """
    line = LINES.get(f"{module.rpartition('.')[2]}.{name}") or LINES.get(name) or line
    if line is None and not name.startswith("_"):  # by name, because measures stand above
        line = import_module("strat.measures.register").line_for(name)
    message = f"module {module!r} has no attribute {name!r}"
    if line:  # and no guess of Python's behind it
        return AttributeError(f"{message}; type {line}", name=name)
    return AttributeError(message, name=name, obj=sys.modules.get(module))


def answers_for(module: str) -> Callable[[str], NoReturn]:
    """The `__getattr__` of a part of the library."""

    def __getattr__(name: str) -> NoReturn:
        raise no_attribute(module, name)

    return __getattr__
