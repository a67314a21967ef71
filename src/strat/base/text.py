"""Words that several outputs share: counted nouns, numbers, small tables, and the positive class."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

IRREGULAR = {
    "aircraft": "aircraft",
    "analysis": "analyses",
    "axis": "axes",
    "bacterium": "bacteria",
    "basis": "bases",
    "calf": "calves",
    "child": "children",
    "corpus": "corpora",
    "criterion": "criteria",
    "degree of freedom": "degrees of freedom",
    "diagnosis": "diagnoses",
    "fish": "fish",
    "foot": "feet",
    "half": "halves",
    "hypothesis": "hypotheses",
    "index": "indices",
    "leaf": "leaves",
    "life": "lives",
    "man": "men",
    "matrix": "matrices",
    "mouse": "mice",
    "person": "people",
    "quiz": "quizzes",
    "series": "series",
    "sheep": "sheep",
    "species": "species",
    "stratum": "strata",
    "thesis": "theses",
    "tooth": "teeth",
    "woman": "women",
}
SIBILANT = re.compile(r"(s|x|z|ch|sh)$")
KEY = re.compile(r"[ _-]?(?<![a-zA-Z])(id|ids|no|nr|num|number|name|code|key|label|index|idx|uid|uuid)$", re.IGNORECASE)
WORD = re.compile(r"[a-z]*[aeiouy][a-z]*")
# what was done, of what kind, what has no plural, or an abbreviation
NO_NOUN = re.compile(r"(ed|ing|ly|id|ous|ful|\bdata|\bnews|\bactive|\bcorrect|\bwho|\bwhat|\bwhich|\b[ps]su)$")
NOUNS = frozenset({"assembly", "bed", "building", "family", "grid", "kid", "meeting", "painting", "recording", "seed"})


class Noun(NamedTuple):
    """What something is called: one of it, several, and the column that is called otherwise."""

    one: str
    many: str
    column: str = ""

    def counted(self, number: float) -> str:
        """A number of them; a column whose name is no word is quoted.

        >>> Noun("patient", "patients").counted(1), Noun("cluster", "clusters", "PATNO").counted(1200)
        ('1 patient', "1,200 clusters ('PATNO')")
        """
        quoted = f" ({self.column!r})" if self.column else ""
        return f"{number:,} {self.one if number == 1 else self.many}{quoted}"


def plural(number: float, noun: str) -> str:
    """`noun` (or words that end in it) as it follows this number.

    >>> plural(1, "row"), plural(2, "lone stratum"), plural(0, "mated probe"), plural(1.5, "degree of freedom")
    ('row', 'lone strata', 'mated probes', 'degrees of freedom')
    >>> plural(2, "query"), plural(2, "class"), plural(2, "person"), plural(2, "human")
    ('queries', 'classes', 'people', 'humans')
    """
    if number == 1:
        return noun
    ending = next((one for one in IRREGULAR if noun == one or noun.endswith(f" {one}")), None)
    if ending is not None:
        return noun.removesuffix(ending) + IRREGULAR[ending]
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if SIBILANT.search(noun) else f"{noun}s"


def singular(word: str) -> str:
    """The noun of which this is the plural, or the word itself.

    >>> [singular(word) for word in ("strata", "queries", "classes", "images", "patient", "status", "glass")]
    ['stratum', 'query', 'class', 'image', 'patient', 'status', 'glass']
    """
    several = {many: one for one, many in IRREGULAR.items()}
    if word in several or word in IRREGULAR or not re.search(r"[^ius]s$", word):
        return several.get(word, word)
    guesses = (f"{word[:-3]}y" if word.endswith("ies") else "", word[:-2] if word.endswith("es") else "", word[:-1])
    return next((one for one in guesses if one and plural(2, one) == word), word)


def noun_of(column: str, otherwise: str) -> Noun:
    """What one of the things that a column names is called; `otherwise` where its name is no plain word.

    >>> noun_of("patient_id", "cluster"), noun_of("Hospitals", "stratum")
    (Noun(one='patient', many='patients', column=''), Noun(one='hospital', many='hospitals', column=''))
    >>> noun_of("PATNO", "cluster").counted(12), noun_of("pid", "cluster").counted(1)
    ("12 clusters ('PATNO')", "1 cluster ('pid')")
    >>> noun_of("family", "cluster").many, noun_of("diagnosis", "cluster").many, noun_of("data", "cluster").many
    ('families', 'diagnoses', 'clusters')
    """
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column)
    words = re.split(r"[ _-]+", KEY.sub("", split))
    if all(word[1:].islower() and WORD.fullmatch(word.lower()) and len(word) > 2 for word in words):
        *before, last = (word.lower() for word in words)
        noun = " ".join([*before, singular(last)])
        if last in NOUNS or not NO_NOUN.search(last):
            return Noun(noun, plural(2, noun))
    return Noun(otherwise, plural(2, otherwise), column)


def counted(number: float, noun: str, form: str = ",") -> str:
    """A number, by default with commas between thousands, and its noun.

    >>> counted(1, "unit"), counted(1200, "unit"), counted(1.0, "degree of freedom", "g")
    ('1 unit', '1,200 units', '1 degree of freedom')
    """
    return f"{number:{form}} {plural(number, noun)}"


def class_named(positive: object) -> str:
    """The class that a measure looks at, as every output names it.

    >>> class_named("cancer"), class_named(1)
    ('positive class: cancer', 'positive class: 1')
    """
    return f"positive class: {positive}"


def of_class(positive: object) -> str:
    """The same in brackets after the name of a measure; nothing for a measure that looks at all classes.

    >>> "recall" + of_class("cancer"), "accuracy" + of_class(None)
    ('recall (positive class: cancer)', 'accuracy')
    """
    return "" if positive is None else f" ({class_named(positive)})"


def places(se: float) -> int:
    """Decimals that show two figures of a standard error.

    >>> places(0.0194), places(12.0)
    (3, 0)
    """
    if not math.isfinite(se) or se <= 0:
        return 4
    return min(max(1 - math.floor(math.log10(se)), 0), 8)


def number(value: float, decimals: int) -> str:
    """`value` with a true minus sign.

    >>> number(-0.0633, 3)
    '−0.063'
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:,.{decimals}f}"
    return text.replace("-", "" if not text.strip("-0.,") else "−")


def figure(value: Any) -> str:
    """A value as results print it: four decimals, or four digits where that shows too little or too much.

    >>> figure(0.5), figure(0.00012345), figure(123456.0)
    ('0.5000', '0.0001234', '1.235e+05')
    """
    x = float(value)
    return f"{x:.4f}" if x == 0 or 1e-3 <= abs(x) < 1e4 else f"{x:.4g}"


def cell(value: Any) -> str:
    """A cell of a printed table."""
    return figure(value) if isinstance(value, float) else str(value)


def table_lines(columns: Mapping[str, Sequence[Any]], most: int) -> list[str]:
    """The lines of a table of columns of one length: its head, the first rows, and how many more there are.

    >>> for line in table_lines({"class": ["a", "b", "c"], "value": [0.5, 1.0, 0.0]}, most=2):
    ...     print(line)
    class   value
        a  0.5000
        b  1.0000
    … 1 more
    """
    rows = list(zip(*columns.values(), strict=True))
    cells = [list(columns), *([cell(value) for value in row] for row in rows[:most])]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in cells]
    return lines + [f"… {len(rows) - most:,} more"] * (len(rows) > most)
