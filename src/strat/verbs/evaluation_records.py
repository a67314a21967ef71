"""Records of every_eval_ever from a leaderboard: each system's score with its standard error and interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from strat.base.validate.arguments import checked
from strat.verbs.leaderboard import Leaderboard

VERSION = "0.2.1"  # of the schema of aggregate records


@checked
def evaluation_records(
    board: Leaderboard,
    *,
    evaluation: str,
    timestamp: str,
    organization: str = "unknown",
    relationship: str = "third_party",
    models: Mapping[str, str] | None = None,
) -> dict[str, dict[str, Any]]:
    """From system to its record in the shared schema of every_eval_ever (version 0.2.1), ready for `json.dump`.

    Parameters
    ----------
    board
        A leaderboard, with all its measures.
    evaluation
        What was evaluated: the benchmark's name.
    timestamp
        When the record is made, in seconds since 1970, as text.
    organization, relationship
        Who evaluated, and "first_party", "third_party", "collaborative" or "other".
    models
        From system to the model's identifier ("developer/model"); by default the system's name.

    Examples
    --------
    >>> from strat.verbs import compare
    >>> board = compare({"A": [1, 1, 1, 0, 1, 1], "B": [0, 1, 0, 0, 1, 1]}, score=["A", "B"])
    >>> record = evaluation_records(board, evaluation="quiz", timestamp="1700000000")["A"]
    >>> record["evaluation_id"], round(record["evaluation_results"][0]["score_details"]["score"], 4)
    ('quiz/A/1700000000', 0.8333)
    """
    version = import_module("strat").__version__
    records = {}
    for system in board.systems:
        model = (models or {}).get(system, system)
        records[system] = {
            "schema_version": VERSION,
            "evaluation_id": f"{evaluation}/{model}/{timestamp}",
            "retrieved_timestamp": timestamp,
            "source_metadata": {
                "source_type": "evaluation_run",
                "source_organization_name": organization,
                "evaluator_relationship": relationship,
            },
            "eval_library": {"name": "strat", "version": version},
            "model_info": {"name": system, "id": model},
            "evaluation_results": [_result(one, measure, evaluation, system) for measure, one in board.boards.items()],
        }
    return records


def _result(board: Leaderboard, measure: str, evaluation: str, system: str) -> dict[str, Any]:
    own = board.estimate.at(system)
    low, high = own.interval(board.level)
    bounds = own.bounds
    scale = {"score_type": "continuous", "min_score": bounds[0], "max_score": bounds[1]}
    uncertainty: dict[str, Any] = {
        "standard_error": {"value": float(own.se), "method": f"analytic, {board.estimate.design}"},
        "confidence_interval": {
            "lower": float(low), "upper": float(high), "confidence_level": board.level, "method": str(own.method),
        },
    }  # fmt: skip
    if math.isfinite(own.rows):
        uncertainty["num_samples"] = int(own.rows)
    return {
        "evaluation_name": evaluation if measure == "mean" else f"{evaluation} {measure}",
        "source_data": {"dataset_name": evaluation, "source_type": "other"},
        "metric_config": {
            "evaluation_description": own.name,
            "lower_is_better": not board.many.higher_is_better,
            **(scale if np.isfinite(bounds).all() else {}),
        },
        "score_details": {"score": float(own.value), "uncertainty": uncertainty},
    }
