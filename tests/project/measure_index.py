"""Writes src/strat/measures/index.py: which module has which measure. `python tests/project/measure_index.py`."""

from __future__ import annotations

import pkgutil
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from textwrap import wrap

from strat import measures
from strat.measures import register

HEAD = '''"""Which module has which measure: one word imports one module. Written by tests/project/measure_index.py."""

from __future__ import annotations

# fmt: off
'''
TAIL = """MODULES = {word: f"strat.measures.{module}" for module, words in WORDS.items() for word in words.split()}
HOMES = {name: f"strat.measures.{module}" for module, names in FUNCTIONS.items() for name in names.split()}
"""
PATH = Path(register.__file__).with_name("index.py")


def text() -> str:
    """The module, as the register and the public names of `strat.measures` have it today."""
    for module in pkgutil.walk_packages(measures.__path__, "strat.measures."):
        import_module(module.name)
    ours = {word: one for word, one in register.entered().items() if one.function.__module__.startswith("strat.")}
    words = _by_module({word: one.function.__module__ for word, one in ours.items()})
    names = _by_module({name: _home(name) for name in measures.__all__})
    named: dict[str, list[str]] = {}
    for one in sorted(dict.fromkeys(ours.values()), key=lambda one: (len(one.needs), one.needs, one.name)):
        if one.of_tables:
            sign = "" if one.name[-1] in "@^" else "@"
            spelling = f"{one.name}{sign}{one.at}" if one.needs_number else one.name
            named.setdefault(", ".join(one.needs), []).append(spelling)
    return (
        HEAD
        + _table("NAMES", "of the measures of a table, by the columns that they need", named)
        + _table("WORDS", "of measures, as people ask for them, by module", words)
        + _table("FUNCTIONS", "public names, by module", names)
        + TAIL
    )


def _home(name: str) -> str:
    """The module that defines a public name."""
    for module in pkgutil.walk_packages(measures.__path__, "strat.measures."):
        value = getattr(import_module(module.name), name, None)
        if value is not None and getattr(value, "__module__", None) == module.name:
            return module.name
    raise LookupError(name)


def _by_module(modules: dict[str, str]) -> dict[str, list[str]]:
    by_module = defaultdict(list)
    for word, module in modules.items():
        by_module[module.removeprefix("strat.measures.")].append(word)
    return {module: sorted(words) for module, words in sorted(by_module.items())}


def _table(name: str, what: str, words: dict[str, list[str]]) -> str:
    lines = [f"{name} = {{  # {what}"]
    for module, each in words.items():
        line = f'    "{module}": "{" ".join(each)}",'
        if len(line) <= 120:
            lines.append(line)
            continue
        lines += [f'    "{module}": (', *(f'        "{part} "' for part in wrap(" ".join(each), 105)), "    ),"]
    return "\n".join([*lines, "}", ""])


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
