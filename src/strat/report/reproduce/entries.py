"""What an entry is: something that a source prints, and how to compute it here."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strat.errors import StratError

Printed = float | str | None
APART = ("not printed", "other data")
OPEN = (28,)  # differences that nobody has explained, in the list of errata


@dataclass(frozen=True)
class Setting:
    """What an entry may use.

    Attributes
    ----------
    data
        Folder of the shared data files; None where there is none.
    slow
        Whether simulations are repeated often.
    """

    data: Path | None = None
    slow: bool = False

    def file(self, name: str) -> Path | None:
        """The shared file of that name, if it is there."""
        if self.data is None:
            return None
        found = [folder / name for folder in (self.data, self.data / "data") if (folder / name).is_file()]
        return found[0] if found else None

    def times(self, quick: int, slow: int) -> int:
        """How often to repeat."""
        return slow if self.slow else quick


@dataclass(frozen=True)
class Value:
    """One printed value beside ours.

    Attributes
    ----------
    what
        What is computed.
    printed
        What the source prints; None where it prints nothing that can be compared.
    ours
        What the library computes.
    within
        Largest difference that rounding explains; 0 asks for equality.
    erratum
        Number in the list of errata, where the source is wrong.
    holds
        Whether they agree, where that is not a matter of one difference (simulations, claims).
    note
        Why, or how sure.
    other_data
        Whether the source's claim is looked at on other data than its own: seen or not, that is no error.

    Examples
    --------
    >>> Value("p", 0.0085, 0.0084896, within=5e-5).verdict
    'agrees'
    >>> Value("the Wilcoxon column head", 0.1, 0.05, erratum=22).verdict
    'erratum 22'
    """

    what: str
    printed: Printed
    ours: Any
    within: float = 0.0
    erratum: int | None = None
    holds: bool | None = None
    note: str = ""
    other_data: bool = False

    @property
    def agrees(self) -> bool:
        """Whether ours is what is printed."""
        if self.holds is not None:
            return self.holds
        if isinstance(self.printed, str) or isinstance(self.ours, str):
            return self.printed == self.ours
        return self.printed is not None and math.isclose(self.printed, self.ours, rel_tol=0.0, abs_tol=self.within)

    @property
    def verdict(self) -> str:
        """Agrees, not printed, other data, an erratum, an open question, or differs."""
        if self.other_data:
            return "other data"
        if self.printed is None and self.holds is None:
            return "not printed"
        if self.agrees:
            return "agrees"
        if self.erratum is None:
            return "differs"
        return f"open {self.erratum}" if self.erratum in OPEN else f"erratum {self.erratum}"


@dataclass(frozen=True)
class Found:
    """What an entry computes: values, what to know about them, and a picture to draw when somebody looks."""

    values: tuple[Value, ...]
    notes: tuple[str, ...] = ()
    picture: Callable[[], Any] | None = None


@dataclass(frozen=True)
class Entry:
    """A worked example, table, figure or checkable claim of a source.

    Attributes
    ----------
    id
        Source and place, such as ``"kuncheva/1.9"``.
    where
        Where the source has it.
    title
        What it is about.
    make
        Computes it.
    needs
        A shared data file that it can't do without.
    """

    id: str
    where: str
    title: str
    make: Callable[[Setting], Found]
    needs: str = ""


@dataclass(frozen=True)
class Reproduced:
    """An entry with what came out."""

    entry: Entry
    found: Found
    skipped: str = ""
    seconds: float = field(default=0.0, compare=False)

    @property
    def verdict(self) -> str:
        """One word for the entry: what differs, if anything does."""
        if self.skipped:
            return "skipped"
        said = {value.verdict for value in self.found.values}
        if "differs" in said:
            return "differs"
        known = sorted((word for word in said if word[-1].isdigit()), key=lambda word: int(word.split()[1]))
        if known:
            return ", ".join(known)
        return "agrees" if "agrees" in said else "shown"

    @property
    def count(self) -> str:
        """How many of the printed values agree."""
        printed = [value for value in self.found.values if value.verdict not in APART]
        return f"{sum(value.agrees for value in printed)} of {len(printed)}" if printed else ""

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        values = [
            {
                "what": v.what,
                "printed": v.printed,
                "ours": v.ours,
                "verdict": v.verdict,
                "note": v.note,
            }
            for v in self.found.values
        ]
        head = {"id": self.entry.id, "where": self.entry.where, "title": self.entry.title, "verdict": self.verdict}
        return head | {"skipped": self.skipped, "values": values, "notes": list(self.found.notes)}


def reproduce(entry: Entry, setting: Setting | None = None) -> Reproduced:
    """The entry computed now, or skipped with the reason."""
    setting = setting or Setting()
    if entry.needs and setting.file(entry.needs) is None:
        return Reproduced(entry, Found(()), f"needs {entry.needs}: name its folder with --data or STRAT_SHARED")
    start = time.perf_counter()
    found = entry.make(setting)
    return Reproduced(entry, found, seconds=time.perf_counter() - start)


def chosen(entries: Iterable[Entry], ids: Iterable[str]) -> list[Entry]:
    """The entries with these ids, or of these sources; all without any."""
    entries, wanted = list(entries), list(ids)
    if not wanted:
        return entries
    picked: list[Entry] = []
    for name in wanted:
        some = [e for e in entries if e.id == name or e.id.startswith(name.rstrip("/") + "/")]
        if not some:
            raise StratError(f"`ID` must be an entry or a source, got {name!r}; {_near(name, entries)}")
        picked += [e for e in some if e not in picked]
    return picked


def _near(name: str, entries: list[Entry]) -> str:
    from strat.errors import near

    return near(name, [*dict.fromkeys(e.id.split("/")[0] for e in entries), *(e.id for e in entries)])
