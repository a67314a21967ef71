"""Weighs the base and the base with each extra, in a fresh environment each (`make sizes`)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def weigh(uv: str, extra: str, latest: bool) -> tuple[int, int]:
    """Megabytes (of 2²⁰ bytes) and number of distributions of an environment that holds nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        named = f"{ROOT}[{extra}]" if extra else str(ROOT)
        constraint = [] if latest else ["--constraint", str(ROOT / "constraints.txt")]
        run = [[uv, "venv", "--quiet", "--python", sys.executable, folder + "/env"]]
        run += [[uv, "pip", "install", "--quiet", "--python", folder + "/env/bin/python", *constraint, named]]
        for words in run:
            subprocess.run(words, check=True)
        packages = next(Path(folder, "env", "lib").glob("python*/site-packages"))
        size = sum(file.lstat().st_size for file in packages.rglob("*") if file.is_file())
        return round(size / 2**20), len(list(packages.glob("*.dist-info")))


if __name__ == "__main__":
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    print("| what | MB | distributions |\n| --- | --- | --- |")
    for extra in ["", *(name for name in extras if name not in ("gpu", "all")), "report,plot", "report,plot,learn"]:
        megabytes, number = weigh(sys.argv[1], extra, "--latest" in sys.argv)
        what = "base" + "".join(f", `{name}`" for name in extra.split(",") if name)
        print(f"| {what} | {megabytes} | {number} |", flush=True)
