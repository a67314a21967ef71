"""Run every benchmark of this folder, or those named: `python -m benchmarks core tables`."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks

NEEDS_A_DEVICE = {"gpu"}


def main() -> None:
    known = [
        m.name
        for m in pkgutil.iter_modules(benchmarks.__path__)
        if m.name not in {"__main__", "harness", "fields_cases", "speed"}  # `speed` compares commits, not rivals
    ]
    for name in sys.argv[1:] or [n for n in known if n not in NEEDS_A_DEVICE]:
        print(f"\n== {name}\n", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
