"""Packages that only some jobs need: loaded when such a job is asked for, and one sentence where one is missing."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from strat.base.errors import StratError


@dataclass(frozen=True)
class Needed:
    """A package outside the base install: what asks for it, its name in the index, and what pip has to install."""

    what: str
    package: str
    install: str


NEEDED = {
    "sklearn": Needed("Training and testing models", "scikit-learn", "strateval[learn]"),
    "joblib": Needed("Training and testing models", "joblib", "strateval[learn]"),
    "matplotlib": Needed("A picture", "matplotlib", "strateval[plot]"),
    "jinja2": Needed("An HTML report", "jinja2", "strateval[report]"),
    "zstandard": Needed("A file packed with Zstandard", "zstandard", "strateval[logs]"),
    "openpyxl": Needed("An Excel workbook", "openpyxl", "strateval[excel]"),
    "torch": Needed("A GPU", "torch", "strateval[gpu]"),
    "triton": Needed("A GPU", "triton", "strateval[gpu]"),
    "rapidfuzz": Needed("Aligning words", "rapidfuzz", "strateval[speech]"),
    "sacrebleu": Needed("Scoring translations", "sacrebleu", "strateval[translation]"),
    "pycocotools": Needed("Matching detections", "pycocotools", "strateval[detection]"),
    "pyarrow": Needed("An Arrow file", "pyarrow", "pyarrow"),
    "mlflow": Needed("Logging to MLflow", "mlflow", "mlflow"),
}


def load(module: str, *, what: str = "", otherwise: str = "") -> Any:
    """The module, imported now; where its package is missing, one sentence with the line that installs it.

    `what` replaces the beginning of the sentence, and `otherwise` ends it with a way that needs no package.

    >>> load("matplotlib.colors").ListedColormap.__name__
    'ListedColormap'
    """
    root = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != root:
            raise  # the package is there, and lacks something of its own
    needed = NEEDED[root]
    line = f'pip install "{needed.install}"' if "[" in needed.install else f"pip install {needed.install}"
    raise StratError(f"{what or needed.what} needs the package {needed.package}; {line}{otherwise}.")
