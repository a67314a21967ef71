"""Which is better? Chance, two systems, many splits, many data sets, many systems on the same items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strat.base.elsewhere import answers_for
from strat.comparison.adjustments import (
    adjust,
    benjamini_yekutieli,
    bergmann_hommel,
    finner,
    holland,
    hommel,
    li,
    rom,
)
from strat.comparison.advice import Advice, advise, run_test
from strat.comparison.bayesian import (
    Posterior,
    bayesian_correlated_t,
    bayesian_hierarchical,
    bayesian_sign,
    bayesian_signed_rank,
)
from strat.comparison.chance import chance, random_tables, table_assignments, table_factors, table_probability
from strat.comparison.chance_measures import NoInformationRate, chance_of_measure, no_information_rate
from strat.comparison.chance_result import Chance
from strat.comparison.chance_units import chance_between, chance_of_labels, chance_within
from strat.comparison.data_sets import (
    Friedman,
    Sign,
    SignedRank,
    WinDrawLoss,
    cochran_q,
    friedman,
    iman_davenport,
    sign,
    sign_critical,
    signed_rank,
    signed_rank_critical,
    win_draw_loss,
)
from strat.comparison.families import Family, aligned_friedman, family, pairwise, quade
from strat.comparison.many import many
from strat.comparison.many_systems import ManySystems
from strat.comparison.mcnemar import (
    ClusteredMcNemar,
    McNemar,
    mcnemar,
    mcnemar_clustered,
    mcnemar_exact,
    mcnemar_midp,
)
from strat.comparison.multiplicity import benjamini_hochberg, bonferroni, hochberg, holm, shaffer
from strat.comparison.paired import of_estimate, paired, unpaired
from strat.comparison.paired_result import Comparison, NonInferiority
from strat.comparison.pilot import PilotSampleSize, units_for
from strat.comparison.posthoc import (
    AgainstControl,
    AllPairs,
    against_control,
    all_pairs,
    bonferroni_dunn,
    nemenyi,
    nemenyi_bonferroni,
    studentized_range_quantile,
    studentized_range_tail,
)
from strat.comparison.randomization import Randomization, randomization, stratified_shuffling
from strat.comparison.readers import ReaderStudy, ReaderValue, readers
from strat.comparison.score_table import Scores, scores
from strat.comparison.sequential import ConfidenceSequence, anytime_error, confidence_sequence
from strat.comparison.splits import (
    PairedT,
    corrected_t,
    five_by_two_f,
    five_by_two_t,
    split_ratio,
    uncorrected_t,
)
from strat.comparison.winner import Winner
from strat.estimation.hypothesis_tests import TestResult

__all__ = [
    "Advice",
    "AgainstControl",
    "AllPairs",
    "Chance",
    "ClusteredMcNemar",
    "Comparison",
    "ConfidenceSequence",
    "Family",
    "Friedman",
    "ManySystems",
    "McNemar",
    "NoInformationRate",
    "NonInferiority",
    "PairedT",
    "PilotSampleSize",
    "Posterior",
    "Randomization",
    "ReaderStudy",
    "ReaderValue",
    "Scores",
    "Sign",
    "SignedRank",
    "TestResult",
    "WinDrawLoss",
    "Winner",
    "adjust",
    "advise",
    "against_control",
    "aligned_friedman",
    "all_pairs",
    "anytime_error",
    "bayesian_correlated_t",
    "bayesian_hierarchical",
    "bayesian_sign",
    "bayesian_signed_rank",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "bergmann_hommel",
    "bonferroni",
    "bonferroni_dunn",
    "chance",
    "chance_between",
    "chance_of_labels",
    "chance_of_measure",
    "chance_within",
    "cochran_q",
    "confidence_sequence",
    "corrected_t",
    "family",
    "finner",
    "five_by_two_f",
    "five_by_two_t",
    "friedman",
    "hochberg",
    "holland",
    "holm",
    "hommel",
    "iman_davenport",
    "li",
    "many",
    "mcnemar",
    "mcnemar_clustered",
    "mcnemar_exact",
    "mcnemar_midp",
    "nemenyi",
    "nemenyi_bonferroni",
    "no_information_rate",
    "of_estimate",
    "paired",
    "pairwise",
    "quade",
    "random_tables",
    "randomization",
    "readers",
    "rom",
    "run_test",
    "scores",
    "shaffer",
    "sign",
    "sign_critical",
    "signed_rank",
    "signed_rank_critical",
    "split_ratio",
    "stratified_shuffling",
    "studentized_range_quantile",
    "studentized_range_tail",
    "table_assignments",
    "table_factors",
    "table_probability",
    "uncorrected_t",
    "units_for",
    "unpaired",
    "win_draw_loss",
]

if not TYPE_CHECKING:  # else any misspelt name would pass the type checker
    __getattr__ = answers_for(__name__)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
