"""Which module has which measure: one word imports one module. Written by tests/project/measure_index.py."""

from __future__ import annotations

# fmt: off
NAMES = {  # of the measures of a table, by the columns that they need
    "predicted": "selection_rate",
    "score": "latency@q mean median quantile@q total",
    "score, items": "best@k consistency majority@k mean@k pass@k pass^k",
    "score, predicted": "cost_per_success",
    "score, truth": "ratio",
    "truth, predicted": (
        "accuracy balanced_accuracy bleu cer chrf chrf++ correlation error_rate exact_match f1 false_negative_rate "
        "false_positive_rate fbeta@beta fleiss_kappa gwet_ac1 gwet_ac2_linear gwet_ac2_quadratic icc1 icc2 icc3 "
        "jaccard kappa kendall krippendorff_alpha krippendorff_alpha_interval krippendorff_alpha_ordinal "
        "krippendorff_alpha_ratio mae mape mcc mean_error mer mse negative_likelihood_ratio "
        "negative_predictive_value pinball_loss positive_likelihood_ratio precision r2 recall rmse rouge1 rouge2 "
        "rougel spearman specificity ter token_f1 wer wil "
    ),
    "truth, score": (
        "auc average_precision brier calibration_error calibration_intercept calibration_slope equal_error_rate "
        "fnmr@fpr log_loss net_benefit@thresholds observed_expected partial_auc@specificity tpr@fpr "
    ),
    "predicted, truth, items": "mqm",
    "truth, predicted, items": "majority_vote",
    "truth, predicted, score": "harrell_c idi interval_share mase nri",
}
WORDS = {  # of measures, as people ask for them, by module
    "classification": (
        "acc accuracy bacc balanced_accuracy dice error error_rate f1 f1_score f_measure f_score fall_out "
        "false_negative_rate false_positive_rate fbeta fnr fpr hit_rate iou jaccard matthews matthews_corrcoef mcc "
        "misclassification_rate miss_rate negative_predictive_value npv positive_predictive_value positive_rate "
        "ppv precision predicted_prevalence recall selection_rate selectivity sensitivity specificity tnr tpr "
        "true_negative_rate true_positive_rate "
    ),
    "equations.models": "calibration_intercept calibration_slope",
    "fields.agreement": (
        "alpha fleiss fleiss_kappa gwet_ac gwet_ac1 gwet_ac2 gwet_ac2_linear gwet_ac2_quadratic icc icc1 icc2 icc3 "
        "krippendorff krippendorff_alpha krippendorff_alpha_interval krippendorff_alpha_ordinal "
        "krippendorff_alpha_ratio "
    ),
    "fields.answers": "em exact_match rouge rouge1 rouge2 rouge_l rougel squad_f1 token_f1",
    "fields.clinical": (
        "c_index concordance_index harrell_c harrells_c idi lr+ lr- lr− negative_likelihood_ratio net_benefit "
        "net_reclassification_improvement nri o:e o_e observed_expected oe positive_likelihood_ratio "
    ),
    "fields.costs": "cost_per_solved_task cost_per_success tokens_per_success",
    "fields.detection": "boxes:ap boxes:ap50 boxes:ap75 boxes:ar boxes:coco_ap boxes:coco_ar",
    "fields.diarization": "turns:der turns:der_confusion turns:der_false_alarm turns:der_missed",
    "fields.forecasts": (
        "coverage crps interval_share kendall kendall_tau kendalltau mape mase pinball pinball_loss spearman "
        "spearman_rho spearmanr "
    ),
    "fields.masks": (
        "masks:dice masks:dice_totals masks:hausdorff masks:hd95 masks:mean_iou masks:miou masks:panoptic_quality "
        "masks:pq "
    ),
    "fields.retrieval": (
        "runs:bpref runs:err runs:expected_reciprocal_rank runs:map runs:mean_average_precision runs:mrr runs:ndcg "
        "runs:p runs:precision runs:recall runs:rr "
    ),
    "fields.speech": "cer character_error_rate mer wer wil word_error_rate",
    "fields.translation": "bleu chrf chrf++ mqm ter",
    "kappas": "cohen_kappa cohens_kappa kappa",
    "means": "average correlation mean mean_score pearson pearsonr ratio sum total",
    "multilabel": "coverage_error hamming_loss label_ranking_average_precision label_ranking_loss lrap subset_accuracy",
    "probabilities": (
        "brier brier_score brier_score_loss calibration_error cross_entropy ece expected_calibration_error "
        "log_loss nll top_k_accuracy "
    ),
    "quantiles": "latency median quantile",
    "regression": (
        "bias mae mean_absolute_error mean_error mean_squared_error mse r2 r_squared rmse root_mean_squared_error "
        "rsquared r² "
    ),
    "repeats": "avg@ best@ consistency maj@ majority@ majority_vote mean@ pass@ pass^ pass_at@",
    "score_rates": "eer equal_error_rate fnmr@ fnr@ frr@ tar@ tpr@",
    "scores": (
        "ap auc auprc auroc average_precision c_statistic concordance partial_auc@ pauc@ pr_auc roc_auc "
        "roc_auc_ovo roc_auc_ovo_weighted roc_auc_ovr roc_auc_ovr_weighted "
    ),
}
FUNCTIONS = {  # public names, by module
    "base": "Axis Rows Statistic",
    "classification": (
        "accuracy balanced_accuracy error_rate f1 false_negative_rate false_positive_rate fbeta jaccard mcc "
        "negative_predictive_value precision recall selection_rate specificity "
    ),
    "confusion_counts": "confusion",
    "confusion_matrix": "ConfusionMatrix confusion_by",
    "custom": "metric",
    "equations.models": (
        "ability calibration_intercept calibration_slope linear_regression logistic_regression success_curve "
    ),
    "equations.ordinal": "ordinal_logit",
    "equations.solver": "equation",
    "equations.votes": "bradley_terry win_rate",
    "fields.agreement": "fleiss_kappa gwet_ac icc krippendorff_alpha",
    "fields.answers": "exact_match rouge token_f1",
    "fields.clinical": (
        "concordance decision_curve idi negative_likelihood_ratio net_benefit nri observed_expected "
        "positive_likelihood_ratio "
    ),
    "fields.costs": "cost_per_success",
    "fields.detection": "coco_ap coco_ar",
    "fields.diarization": "der diarization_errors",
    "fields.forecasts": "crps interval_share kendall mape mase pinball_loss spearman",
    "fields.masks": "dice hausdorff mean_iou panoptic_quality",
    "fields.retrieval": (
        "bpref expected_reciprocal_rank mean_average_precision mrr ndcg per_query precision_at_k recall_at_k "
    ),
    "fields.speech": "cer mer wer wil word_errors",
    "fields.translation": "bleu chrf mqm mqm_weights ter",
    "kappas": "kappa",
    "loss": "LossMatrix chow coverage expected_cost expected_loss optimal_threshold selective_risk zero_one_loss",
    "means": "correlation domain function_of_totals mean proportion ratio statistic total variance",
    "multilabel": "coverage_error hamming_loss label_ranking_average_precision label_ranking_loss subset_accuracy",
    "post_stratification": "post_stratified",
    "probabilities": "brier calibration_curve calibration_error log_loss top_k_accuracy",
    "quantiles": "quantile",
    "ranks": "cms mean_reciprocal_rank within_rank",
    "register": "Measure every measure named",
    "regression": "mae mean_error mse r2 rmse",
    "repeats": "best_of_k consistency majority_at_k majority_vote mean_at_k pass_at_k pass_hat_k",
    "risk_curves": "area_under_risk_coverage risk_coverage",
    "score_rates": "equal_error_rate rate_at rate_within threshold_at",
    "scores": "auc average_precision det partial_auc precision_recall roc",
    "stacking": "stack",
}
MODULES = {word: f"strat.measures.{module}" for module, words in WORDS.items() for word in words.split()}
HOMES = {name: f"strat.measures.{module}" for module, names in FUNCTIONS.items() for name in names.split()}
