"""What the library says, call by call; `python tests/record/record.py --write` renews it, and prints what changed.

A stored number stays as it is where the new one agrees to ten digits, so that another computer changes nothing. After
a change of a number the program prints a line for the newest section of CHANGELOG.md, under "Changed results".
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from calls import PARTS
from numbers_of_results import recorded

from facts_of_results import close, differences, leaves

__all__ = ["CHANGELOG", "PARTS", "STORED", "changes", "line_of", "made", "said_in_changelog", "stored"]

HERE = Path(__file__).parent
STORED = HERE / "record.json"
CHANGELOG = HERE.parents[1] / "CHANGELOG.md"
ABSOLUTE = 1e-12
RELATIVE: defaultdict[str, float] = defaultdict(lambda: 1e-10)
RELATIVE["strat.ordinal_logit"] = 1e-8  # where its solver stops, processors differ by 1e-9


def made(part: str) -> dict[str, Any]:
    """What every call of a part says now; one that is refused says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return {name: json.loads(json.dumps(_said(call))) for name, call in PARTS[part].items()}


def _said(call: Callable[[], Any]) -> dict[str, Any]:
    try:
        return recorded(call())
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {error}"}


def stored() -> dict[str, Any]:
    """What every call said when the record was written."""
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Every number or label that differs, as "call: place: one -> other"; a call that came or went is one line."""
    lines = [f"{name}: no longer there" for name in old if name not in new]
    for name, now in new.items():
        if name in old:
            lines += [f"{name}: {line}" for line in differences(old[name], now, RELATIVE[name], ABSOLUTE)]
        else:
            lines.append(f"{name}: new, {sum(1 for _ in leaves(now))} values")
    return lines


def kept(old: Any, new: Any, relative: float) -> Any:
    """The new one, with each number of the old one that it agrees with."""
    if isinstance(new, dict) and isinstance(old, dict):
        return {name: kept(old.get(name), value, relative) for name, value in new.items()}
    if isinstance(new, list) and isinstance(old, list) and len(old) == len(new):
        return [kept(*pair, relative) for pair in zip(old, new, strict=True)]
    plain = not isinstance(new, dict | list) and not isinstance(old, dict | list | None)
    return old if plain and close(old, new, relative, ABSOLUTE) else new


def text(record: dict[str, Any]) -> str:
    """The record as it is stored, a line for each call."""
    lines = [
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        for name, value in record.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def line_of(written: str) -> str:
    """What CHANGELOG says of a record with this text."""
    return f"record {hashlib.sha256(written.encode()).hexdigest()[:8]}"


def said_in_changelog(changelog: str) -> set[str]:
    """The records that the newest section names under "Changed results"."""
    newest = re.split(r"^## ", changelog, flags=re.MULTILINE)[1]
    parts = {part.split("\n", 1)[0].strip(): part for part in re.split(r"^### ", newest, flags=re.MULTILINE)[1:]}
    return set(re.findall(r"\brecord [0-9a-f]{8}\b", parts.get("Changed results", "")))


def write() -> None:
    """Renew the record and print what changed, with the line for CHANGELOG."""
    old, new = stored(), {name: said for part in PARTS for name, said in made(part).items()}
    for line in changes(old, new):
        print(line)
    written = text({name: kept(old.get(name), value, RELATIVE[name]) for name, value in new.items()})
    STORED.write_text(written, encoding="utf-8")
    line = line_of(written)
    if line in said_in_changelog(CHANGELOG.read_text(encoding="utf-8")):
        print(f"{len(new)} calls; nothing to say in CHANGELOG.md")
    else:
        print(f'{len(new)} calls; say in the newest section of CHANGELOG.md, under "Changed results":\n* {line}: …')


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/record/record.py --write")
    write()
