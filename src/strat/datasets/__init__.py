"""Data that can be made at home, seeded, with its Bayes error where it has one."""

from strat.datasets.example import example_path
from strat.datasets.problems import (
    Samples,
    checker_board,
    ellipses,
    gaussian_classes,
    noisy_shapes,
    shape_colour,
    strings,
)
from strat.datasets.systems import Recognizer, benchmark, clustered_predictions, recognizer

__all__ = [
    "Recognizer",
    "Samples",
    "benchmark",
    "checker_board",
    "clustered_predictions",
    "ellipses",
    "example_path",
    "gaussian_classes",
    "noisy_shapes",
    "recognizer",
    "shape_colour",
    "strings",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
