"""Write the api data of R's survey package as CSV files: `python api.py API.RDA FOLDER` (`make survey-data`).

The data are California's Academic Performance Index of 2000 and samples of it (GPL, with the package 4.1-1); they are
no part of this project.
"""

from __future__ import annotations

import sys
from pathlib import Path

NAMES = ("apisrs", "apistrat", "apiclus1", "apiclus2")


def main(source: Path, folder: Path) -> None:
    """One file for each sample, missing cells empty."""
    import rdata  # of `make survey-data`

    frames = rdata.read_rda(source)
    for name in NAMES:
        frames[name].to_csv(folder / f"{name}.csv", index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
