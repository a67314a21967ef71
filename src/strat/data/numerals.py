"""When cells of text files are truth values or numbers: one rule, in SQL for all rows, in Python for distinct cells.

A column is numbers only if every cell is a plain decimal numeral and no number is spelled in two ways, so that ids and
labels which differ as text never become one: `1e3` is not `1000`, `0x1F` not `31`, `1.10` not `1.1`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

KINDS = ("BOOLEAN", "BIGINT", "HUGEINT", "BIGNUM", "DOUBLE")
DIGITS = 15  # significant digits that a float keeps apart, whatever they are

WHOLE = r"-?[1-9][0-9]*|0"
DECIMAL = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?"
ZERO = r"-0(\.0+)?"  # another spelling of zero


def looks(value: str) -> list[str]:
    """SQL that is true where all cells that are there are of each of the `KINDS`, from the narrowest to the widest."""
    whole = [f"try_cast({value} as {kind})::varchar = {value}" for kind in KINDS[1:4]]
    each = [f"lower({value}) in ('true', 'false')", *(f"coalesce({test}, false)" for test in whole)]
    there = f"filter (where {value} is not null)"
    return [*(f"coalesce(bool_and({test}) {there}, false)" for test in each), _decimals(value, there)]


def _decimals(value: str, there: str) -> str:
    """SQL that is true where all cells are decimal numerals, each number spelled in one way."""
    plain = f"bool_and(regexp_full_match({value}, '{DECIMAL}') and not regexp_full_match({value}, '{ZERO}')) {there}"
    number = f"try_cast({value} as double)::varchar"
    digits = f"length(regexp_replace({value}, '[-.]', '', 'g'))"
    short = f"({digits} <= {DIGITS} and not regexp_matches({value}, '[.][0-9]*0$'))"
    shortest = f"bool_and({value} = {number} or {value} || '.0' = {number} or {short}) {there}"
    one_form = f"not (bool_or({value} like '%.0') and bool_or({value} not like '%.%'))"
    places = f"length({value}) - coalesce(nullif(strpos({value}, '.'), 0), length({value}))"
    fixed = f"min({places}) = max({places}) and max({digits}) <= {DIGITS}"
    return f"coalesce({plain} and (({shortest} and {one_form}) or ({fixed})), false)"


def kind_of(texts: Sequence[str]) -> str | None:
    """Which of the `KINDS` the distinct cells of a column are: BOOLEAN, BIGNUM for whole numbers, DOUBLE; None: text.

    >>> kind_of(["1", "20"]), kind_of(["0.5", "1"]), kind_of(["True", "false"])
    ('BIGNUM', 'DOUBLE', 'BOOLEAN')
    >>> [kind_of(texts) for texts in (["1e3", "1"], ["01", "1"], ["1.1", "1.10"], ["0.5", "9007199254740993"])]
    [None, None, None, None]
    """
    if not texts:
        return None
    if all(text.lower() in ("true", "false") for text in texts):
        return "BOOLEAN"
    if all(re.fullmatch(WHOLE, text) for text in texts):
        return "BIGNUM"
    return "DOUBLE" if _are_decimals(texts) else None


def _are_decimals(texts: Sequence[str]) -> bool:
    if not all(re.fullmatch(DECIMAL, text) and not re.fullmatch(ZERO, text) for text in texts):
        return False
    most = max(map(_digits, texts))
    shortest = all(repr(float(text)) in (text, f"{text}.0") or _short(text) for text in texts)
    if shortest and not (any(text.endswith(".0") for text in texts) and not all("." in text for text in texts)):
        return True
    return len({len(text.partition(".")[2]) for text in texts}) == 1 and most <= DIGITS


def _short(text: str) -> bool:
    return _digits(text) <= DIGITS and re.search(r"[.][0-9]*0$", text) is None


def _digits(text: str) -> int:
    return len(text) - text.count("-") - text.count(".")
