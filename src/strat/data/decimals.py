"""Numbers as spreadsheets and people in many countries write them: decimal commas, percent signs, yes and no."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from strat.base.notes import Note

# patterns that Python, DuckDB and Polars read alike
PATTERNS = {
    "comma": r"^[-+]?[0-9]+,[0-9]+ *%?$",
    "group": r"^[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+ *%?$",  # may also be thousands
    "whole": r"^[-+]?[0-9]+ *%?$",
    "point": r"^[-+]?([0-9]+\.[0-9]*|\.[0-9]+) *%?$",
    "percent": r"%$",
    "true": r"^(?i:true|yes|t|y)$",
    "false": r"^(?i:false|no|f|n)$",
}
# what no spelling below can be without, for every text
_POSSIBLE = re.compile("|".join(f"(?:{PATTERNS[name]})" for name in ("comma", "whole", "percent", "true", "false")))
_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}([ ',.\u00a0\u202f][0-9]{3})+([.,][0-9]+)? *%?")


@dataclass(frozen=True)
class Spelling:
    """How all numbers of a column are written.

    Attributes
    ----------
    comma
        With a decimal comma.
    percent
        With a percent sign; such a number is read as a fraction.
    words
        As yes or no, true or false, or their first letters, which are read as 1 and 0.
    """

    comma: bool = False
    percent: bool = False
    words: bool = False

    def number(self, text: str) -> float:
        """The number that a text spells.

        >>> Spelling(comma=True, percent=True).number("92,5 %")
        0.925
        """
        if self.words:
            return float(re.search(PATTERNS["true"], text) is not None)
        value = float(text.replace(",", ".").rstrip("% ") if self.comma else text.rstrip("% "))
        return value / 100 if self.percent else value

    def note(self, name: str, example: str) -> Note:
        """What a result says of a column that was read so.

        >>> Spelling(comma=True, percent=False).note("score", "0,75")
        "column 'score' is written with decimal commas: '0,75' was read as 0.75"
        """
        names = (("decimal commas", self.comma), ("percent signs", self.percent), ("words for numbers", self.words))
        how = " and ".join(name for name, there in names if there)
        read = f"{example!r} was read as {self.number(example):g}"
        return Note("number-format", f"column {name!r} is written with {how}: {read}")


def spelling_of(counts: Mapping[str, int]) -> Spelling | None:
    """How the numbers are written, from the number of texts (`all`) and of those that fit each pattern.

    None where they are mixed, are no numbers, or where the commas may separate thousands.
    """
    total = counts["all"]
    if not total or counts["percent"] not in (0, total):
        return None
    if counts["true"] + counts["false"] == total:
        return Spelling(words=True)
    percent = counts["percent"] > 0
    if counts["comma"]:
        sure = counts["comma"] > counts["group"] and counts["comma"] + counts["whole"] == total
        return Spelling(comma=True, percent=percent) if sure else None
    return Spelling(percent=True) if percent and counts["whole"] + counts["point"] == total else None


def spelling_of_texts(texts: Iterable[str]) -> Spelling | None:
    """How the numbers in these texts are written.

    >>> spelling_of_texts(["0,75", "1"])
    Spelling(comma=True, percent=False, words=False)
    >>> spelling_of_texts(["1,234"]), spelling_of_texts(["0.5", "0,5"])
    (None, None)
    """
    known = [text.strip() for text in texts]
    if not all(map(_POSSIBLE.search, known)):
        return None
    fits = {name: sum(re.search(pattern, text) is not None for text in known) for name, pattern in PATTERNS.items()}
    return spelling_of({"all": len(known), **fits})


def advice(text: str) -> str | None:
    """How to write a number that can't be read as it is written; None: it looks like no number."""
    if re.fullmatch(PATTERNS["group"][1:-1], text):
        return "thousands or a decimal comma? Write 1234 or 1.234, without the comma"
    if _THOUSANDS.fullmatch(text):
        return "a thousands separator? Write 1234.5 for 1,234.5 or 1.234,5"
    if re.fullmatch(r"[-+]?[0-9.]*,[0-9]+", text):
        return "a decimal comma? Write 0.5 for 0,5, in every row"
    if re.fullmatch(r"[-+]?[0-9]+([.,][0-9]+)?\s*%", text):
        return "a percentage? Write 0.925 for 92.5%, in every row"
    return None
