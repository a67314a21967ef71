"""Words that several outputs share: counted nouns, numbers, and the positive class."""

from __future__ import annotations

import math

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
