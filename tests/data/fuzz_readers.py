"""A coverage-guided fuzzer of every reader, by hand: `python tests/data/fuzz_readers.py eval -max_total_time=60`.

It needs the package atheris (`pip install atheris`; Linux, Python 3.11 to 3.13). Each target starts from an honest
file (fuzz_seeds.py) and keeps what reaches new lines; a StratError is an answer, anything else stops it with the
input that did it. Without a name all targets are run in turn, ten seconds each.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # where pytest finds what all tests share


def fuzz(name: str, options: list[str]) -> None:
    """Fuzz one reader until it fails or the time is over."""
    import atheris

    with atheris.instrument_imports(include=["strat"]):
        from fuzz_seeds import SEEDS
        from fuzz_targets import TARGETS
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "seed").write_bytes(SEEDS[name])
        atheris.Setup([sys.argv[0], folder, "-rss_limit_mb=4096", "-timeout=30", *options], TARGETS[name])
        atheris.Fuzz()


def main() -> None:
    """The named reader, or all in turn, each in a process of its own."""
    try:
        import atheris  # noqa: F401
    except ImportError:
        sys.exit("fuzz_readers: the package atheris is not installed; pip install atheris")
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        fuzz(sys.argv[1], sys.argv[2:])
        return
    from fuzz_targets import TARGETS

    options = sys.argv[1:] or ["-max_total_time=10"]
    codes = {
        name: subprocess.run([sys.executable, __file__, name, *options], check=False).returncode for name in TARGETS
    }
    failed = [name for name, code in codes.items() if code]
    print(
        f"{len(codes) - len(failed)} of {len(codes)} readers held"
        + (f"; failed: {', '.join(failed)}" if failed else "")
    )
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
