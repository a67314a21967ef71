"""What is measured: what to add up in each unit, and what to make of the sums."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from strat.base.elsewhere import no_attribute
from strat.measures.index import HOMES

if TYPE_CHECKING:  # what `__getattr__` loads when it is first used
    from strat.measures.base import Axis, Rows, Statistic
    from strat.measures.classification import (
        accuracy,
        balanced_accuracy,
        error_rate,
        f1,
        false_negative_rate,
        false_positive_rate,
        fbeta,
        jaccard,
        mcc,
        negative_predictive_value,
        precision,
        recall,
        selection_rate,
        specificity,
    )
    from strat.measures.confusion_counts import confusion
    from strat.measures.confusion_matrix import ConfusionMatrix, confusion_by
    from strat.measures.custom import metric
    from strat.measures.equations.models import (
        ability,
        calibration_intercept,
        calibration_slope,
        linear_regression,
        logistic_regression,
        success_curve,
    )
    from strat.measures.equations.ordinal import ordinal_logit
    from strat.measures.equations.solver import equation
    from strat.measures.equations.votes import bradley_terry, win_rate
    from strat.measures.fields.agreement import fleiss_kappa, gwet_ac, icc, krippendorff_alpha
    from strat.measures.fields.answers import exact_match, rouge, token_f1
    from strat.measures.fields.clinical import (
        concordance,
        decision_curve,
        idi,
        negative_likelihood_ratio,
        net_benefit,
        nri,
        observed_expected,
        positive_likelihood_ratio,
    )
    from strat.measures.fields.costs import cost_per_success
    from strat.measures.fields.detection import coco_ap, coco_ar
    from strat.measures.fields.diarization import der, diarization_errors
    from strat.measures.fields.forecasts import crps, interval_share, kendall, mape, mase, pinball_loss, spearman
    from strat.measures.fields.masks import dice, hausdorff, mean_iou, panoptic_quality
    from strat.measures.fields.retrieval import (
        bpref,
        expected_reciprocal_rank,
        mean_average_precision,
        mrr,
        ndcg,
        per_query,
        precision_at_k,
        recall_at_k,
    )
    from strat.measures.fields.speech import cer, mer, wer, wil, word_errors
    from strat.measures.fields.translation import bleu, chrf, mqm, mqm_weights, ter
    from strat.measures.kappas import kappa
    from strat.measures.loss import (
        LossMatrix,
        chow,
        coverage,
        expected_cost,
        expected_loss,
        optimal_threshold,
        selective_risk,
        zero_one_loss,
    )
    from strat.measures.means import (
        correlation,
        domain,
        function_of_totals,
        mean,
        proportion,
        ratio,
        statistic,
        total,
        variance,
    )
    from strat.measures.multilabel import (
        coverage_error,
        hamming_loss,
        label_ranking_average_precision,
        label_ranking_loss,
        subset_accuracy,
    )
    from strat.measures.post_stratification import post_stratified
    from strat.measures.probabilities import brier, calibration_curve, calibration_error, log_loss, top_k_accuracy
    from strat.measures.quantiles import quantile
    from strat.measures.ranks import cms, mean_reciprocal_rank, within_rank
    from strat.measures.register import Measure, every, measure, named
    from strat.measures.regression import mae, mean_error, mse, r2, rmse
    from strat.measures.repeats import (
        best_of_k,
        consistency,
        majority_at_k,
        majority_vote,
        mean_at_k,
        pass_at_k,
        pass_hat_k,
    )
    from strat.measures.risk_curves import area_under_risk_coverage, risk_coverage
    from strat.measures.score_rates import equal_error_rate, rate_at, rate_within, threshold_at
    from strat.measures.scores import auc, average_precision, det, partial_auc, precision_recall, roc
    from strat.measures.stacking import stack

__all__ = [
    "Axis",
    "ConfusionMatrix",
    "LossMatrix",
    "Measure",
    "Rows",
    "Statistic",
    "ability",
    "accuracy",
    "area_under_risk_coverage",
    "auc",
    "average_precision",
    "balanced_accuracy",
    "best_of_k",
    "bleu",
    "bpref",
    "bradley_terry",
    "brier",
    "calibration_curve",
    "calibration_error",
    "calibration_intercept",
    "calibration_slope",
    "cer",
    "chow",
    "chrf",
    "cms",
    "coco_ap",
    "coco_ar",
    "concordance",
    "confusion",
    "confusion_by",
    "consistency",
    "correlation",
    "cost_per_success",
    "coverage",
    "coverage_error",
    "crps",
    "decision_curve",
    "der",
    "det",
    "diarization_errors",
    "dice",
    "domain",
    "equal_error_rate",
    "equation",
    "error_rate",
    "every",
    "exact_match",
    "expected_cost",
    "expected_loss",
    "expected_reciprocal_rank",
    "f1",
    "false_negative_rate",
    "false_positive_rate",
    "fbeta",
    "fleiss_kappa",
    "function_of_totals",
    "gwet_ac",
    "hamming_loss",
    "hausdorff",
    "icc",
    "idi",
    "interval_share",
    "jaccard",
    "kappa",
    "kendall",
    "krippendorff_alpha",
    "label_ranking_average_precision",
    "label_ranking_loss",
    "linear_regression",
    "log_loss",
    "logistic_regression",
    "mae",
    "majority_at_k",
    "majority_vote",
    "mape",
    "mase",
    "mcc",
    "mean",
    "mean_at_k",
    "mean_average_precision",
    "mean_error",
    "mean_iou",
    "mean_reciprocal_rank",
    "measure",
    "mer",
    "metric",
    "mqm",
    "mqm_weights",
    "mrr",
    "mse",
    "named",
    "ndcg",
    "negative_likelihood_ratio",
    "negative_predictive_value",
    "net_benefit",
    "nri",
    "observed_expected",
    "optimal_threshold",
    "ordinal_logit",
    "panoptic_quality",
    "partial_auc",
    "pass_at_k",
    "pass_hat_k",
    "per_query",
    "pinball_loss",
    "positive_likelihood_ratio",
    "post_stratified",
    "precision",
    "precision_at_k",
    "precision_recall",
    "proportion",
    "quantile",
    "r2",
    "rate_at",
    "rate_within",
    "ratio",
    "recall",
    "recall_at_k",
    "risk_coverage",
    "rmse",
    "roc",
    "rouge",
    "selection_rate",
    "selective_risk",
    "spearman",
    "specificity",
    "stack",
    "statistic",
    "subset_accuracy",
    "success_curve",
    "ter",
    "threshold_at",
    "token_f1",
    "top_k_accuracy",
    "total",
    "variance",
    "wer",
    "wil",
    "win_rate",
    "within_rank",
    "word_errors",
    "zero_one_loss",
]

if not TYPE_CHECKING:  # else any misspelt name would pass the type checker

    def __getattr__(name: str) -> Any:
        """The measure of that name, loaded now and kept."""
        if name not in HOMES:
            raise no_attribute(__name__, name)
        value = globals()[name] = getattr(import_module(HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted(__all__)
