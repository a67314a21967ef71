"""One column in memory: its labels, what is missing, and its numbers however they are spelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError
from strat.base.notes import Note
from strat.base.validate.columns import EXACT, Codes, encode
from strat.data.decimals import advice, spelling_of_texts

DIGITS = 400  # of a number that is spelled out


@dataclass(frozen=True, eq=False)
class Column:
    """One column in memory.

    Attributes
    ----------
    name
        Its name in the table.
    codes
        Which label each row has; -1 where the value is missing. None for a column of plain numbers.
    labels
        The distinct labels in sorted order (columns with codes), or the values themselves.
    missing
        Which rows have no value; None: all have one.
    marks
        From a mark such as "NA" to the number of rows that are missing because they hold it.
    spelled
        Whether the labels are numbers that neither 64 bits nor a float can hold, written as text.
    notes
        How numbers were read that are written with decimal commas or percent signs.
    """

    name: str
    codes: Codes | None
    labels: NDArray[Any]
    missing: NDArray[np.bool_] | None
    marks: Mapping[str, int] = field(default_factory=dict)
    spelled: bool = False
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.labels if self.codes is None else self.codes)

    @property
    def values(self) -> NDArray[Any]:
        """The values row by row; where one is missing, its place holds any value."""
        return self.labels if self.codes is None else self.labels[self.codes]

    @property
    def lost(self) -> int:
        """How many values are missing."""
        return 0 if self.missing is None else int(self.missing.sum())

    def encoded(self) -> tuple[Codes, NDArray[Any]]:
        """The code of each row (-1: missing) and the labels in sorted order."""
        if self.codes is not None:
            return self.codes, self.labels
        if self.missing is None:
            return encode(self.name, self.labels)
        if self.missing.all():
            return np.full(len(self), -1, np.int64), self.labels[:0]
        codes = np.full(len(self), -1, np.int64)
        codes[~self.missing], labels = encode(self.name, self.labels[~self.missing])
        return codes, labels

    def numbers(self) -> Column:
        """The same column as numbers; text that spells none is an error with the first such row."""
        if self.codes is None and self.labels.dtype.kind in "fiub":
            return replace(self, labels=self.labels.astype(float, copy=False))
        codes, _ = self.encoded()
        parsed, notes = _parsed(self)
        values = np.append(parsed, np.nan)[codes]
        gone = np.isnan(values)
        return Column(self.name, None, values, gone if gone.any() else None, self.marks, notes=notes)

    def spelled_out(self) -> Column:
        """Numbers as text, so that they can be compared with numbers that are spelled already."""
        if self.labels.dtype.kind not in "iuf":
            return self
        codes, labels = self.encoded()
        order, text = encode(self.name, np.array([spelling(v) for v in labels.tolist()]))
        return Column(self.name, np.append(order, -1)[codes], text, self.missing, self.marks, spelled=True)


def alike(columns: Sequence[Column]) -> list[Column]:
    """Columns that are compared with each other, all spelled out where a common type of numbers would round some."""
    whole = [c.labels for c in columns if c.labels.dtype.kind in "iu" and len(c.labels)]
    floats = any(c.labels.dtype.kind == "f" for c in columns)
    kinds = {labels.dtype.kind for labels in whole}
    wide = (floats or len(kinds) > 1) and any(max(-int(v.min()), int(v.max())) > EXACT for v in whole)
    return [c.spelled_out() for c in columns] if wide or any(c.spelled for c in columns) else list(columns)


def all_marks(columns: Iterable[Column]) -> dict[str, int]:
    """How many values of these columns are which mark, the most frequent first."""
    total: Counter[str] = Counter()
    for column in columns:
        total.update(column.marks)
    return dict(total.most_common())


def all_notes(columns: Iterable[Column]) -> tuple[Note, ...]:
    """How the numbers of these columns were read, where that needs saying."""
    return tuple(note for column in columns for note in column.notes)


def listed_marks(marks: Mapping[str, int]) -> str:
    """The marks with their counts, for a sentence.

    >>> listed_marks({"NA": 38, "": 2})
    "'NA' 38, empty 2"
    """
    return ", ".join(f"{mark!r} {count:,}" if mark else f"empty {count:,}" for mark, count in marks.items())


def dropped_note(rows: int, marks: Mapping[str, int]) -> Note:
    """The note on rows that were left out.

    >>> dropped_note(40, {"NA": 38, "": 2})
    '40 rows with missing values are left out: NA (38), empty (2).'
    """
    return Note(
        "rows-dropped", {"rows": rows, "marks": tuple((mark or "empty", number) for mark, number in marks.items())}
    )


def spelling(value: float | Decimal) -> str:
    """A number as text, the same for every type that can hold it.

    >>> spelling(3), spelling(3.0), spelling(Decimal("3.10"))
    ('3', '3', '3.1')
    """
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not exact.is_finite() or abs(exact.adjusted()) > DIGITS:
        return str(exact)
    text = f"{exact:f}" if exact else "0"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _parsed(column: Column) -> tuple[NDArray[np.float64], tuple[Note, ...]]:
    """The number that each label spells, and how they were read if not as Python does."""
    codes, labels = column.encoded()
    values = np.full(len(labels), np.nan)
    for i, label in enumerate(labels):
        try:
            values[i] = float(label)
            if isinstance(label, str) and np.isinf(values[i]) and "inf" not in label.lower():
                raise ValueError(label)  # a number beyond all floats
        except (TypeError, ValueError):
            texts = [str(text).strip() for text in labels.tolist()]
            style = spelling_of_texts(texts)
            if style is None:
                row = int(np.flatnonzero(codes == i)[0])
                raise not_a_number(column.name, label, f" in row {row}") from None
            example = max(text for text in texts if style.words or "," in text or "%" in text)
            return np.array([style.number(text) for text in texts]), (style.note(column.name, example),)
    return values, ()


def not_a_number(name: str, value: object, where: str = "") -> StratError:
    """The error about text in a column of numbers, with what it looks like."""
    way_out = advice(str(value).strip()) or (
        "choose another column, or, if it marks a missing value, name it in `na` (command line: --na)"
    )
    return StratError(f"column `{name}` must be numbers, got {str(value)!r:.60}{where}; {way_out}.")
