"""Counted nouns: one row, two rows."""

from __future__ import annotations

IRREGULAR = {
    "class": "classes",
    "degree of freedom": "degrees of freedom",
    "stratum": "strata",
}


def plural(number: float, noun: str) -> str:
    """`noun` (or words that end in it) as it follows this number.

    >>> plural(1, "row"), plural(2, "lone stratum"), plural(0, "mated probe"), plural(1.5, "degree of freedom")
    ('row', 'lone strata', 'mated probes', 'degrees of freedom')
    """
    if number == 1:
        return noun
    ending = next((one for one in IRREGULAR if noun.endswith(one)), None)
    return f"{noun}s" if ending is None else noun.removesuffix(ending) + IRREGULAR[ending]


def counted(number: float, noun: str, form: str = ",") -> str:
    """A number, by default with commas between thousands, and its noun.

    >>> counted(1, "unit"), counted(1200, "unit"), counted(1.0, "degree of freedom", "g")
    ('1 unit', '1,200 units', '1 degree of freedom')
    """
    return f"{number:{form}} {plural(number, noun)}"
