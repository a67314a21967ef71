"""What an entry is: something that a source prints, and how to compute it here."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from strat.base.errors import StratError

Printed = float | str | None
APART = ("not printed", "other data", "generated data")
SEEN, NOT_SEEN = "seen here too", "not seen here"
IN_GENERATED = {SEEN: "so in generated data", NOT_SEEN: "not so in generated data"}
KINDS = {
    5: "scan",
    10: "trap",
    28: "open",
    29: "scan",
    39: "open",
    45: "trap",
    47: "trap",
}  # all other numbers of the list are errata
TELLING = 0.1  # share of a value above which a tolerance is too wide to call it reproduced
ROUNDING = 1e-6  # the same for a value of zero
CERTAIN = 2.0  # standard errors of a simulation that a verdict must stay clear of its tolerance


@dataclass(frozen=True)
class Setting:
    """What an entry may use.

    Attributes
    ----------
    data
        Folder of the shared data files; None where there is none.
    slow
        Whether simulations are repeated often.
    absent
        The shared files that an entry asked for in vain: what it shows instead is generated.
    """

    data: Path | None = None
    slow: bool = False
    absent: set[str] = field(default_factory=set, compare=False)

    def file(self, name: str) -> Path | None:
        """The shared file of that name, if it is there."""
        folders = [] if self.data is None else [self.data, self.data / "data"]
        found = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if found is None:
            self.absent.add(name)
        return found

    def times(self, quick: int, slow: int) -> int:
        """How often to repeat."""
        return slow if self.slow else quick


@dataclass(frozen=True)
class Value:
    """A value of a source beside ours.

    Attributes
    ----------
    what
        What is computed.
    printed
        What the source prints, as a number or in words; None where it prints nothing that can be compared.
    ours
        What the library computes.
    within
        Largest difference that counts as agreement; 0 asks for equality.
    derived
        What follows from a formula or a definition of the source that prints no such value.
    erratum
        Number in the list of errata, where the source is wrong.
    right
        What ours must be for the erratum to stand, as the list says; anything else differs, the print too.
    right_within
        Largest difference from `right`; 0 asks for equality.
    holds
        Whether they agree, where that is not a matter of one difference (claims); `rule` says when.
    rule
        The tolerance in words, where `within` does not say it.
    noise
        Standard error of ours where it is simulated: a verdict must be clear of it.
    width
        Half of the range that counts as agreement, where `rule` gives it in words.
    note
        Why, or how sure.
    other_data
        Whether the source's claim is looked at on other data than its own: seen or not, that is no error.
    generated
        Whether these data are generated, so that the answer says nothing about the source's kind of data.

    Examples
    --------
    >>> Value("p", 0.0085, 0.0084896, within=5e-5).verdict
    'agrees'
    >>> Value("the Wilcoxon column head", 0.1, 0.05, erratum=22, right=0.05).verdict
    'erratum 22'
    >>> Value("the Wilcoxon column head", 0.1, 0.02, erratum=22, right=0.05).verdict
    'differs'
    >>> Value("(1) by hand", None, 0.25, derived=0.25).verdict
    'derived'
    >>> Value("coverage", 0.95, 0.925, within=0.03, noise=0.011).verdict
    'undecided'
    >>> Value("average of ten", 17.08, 20.14, within=10.0).verdict  # ten draws can't say more
    'compatible'
    """

    what: str
    printed: Printed
    ours: Any
    within: float = 0.0
    derived: Printed = None
    erratum: int | None = None
    right: Printed = None
    right_within: float = 0.0
    holds: bool | None = None
    rule: str = ""
    noise: float = 0.0
    width: float = 0.0
    note: str = ""
    other_data: bool = False
    generated: bool = False

    def __post_init__(self) -> None:
        """An erratum excuses one value, which is stated."""
        if (self.erratum is None) != (self.right is None):
            raise StratError.about(
                "right", f"must come with an `erratum`, and only then, got {self.right!r} and {self.erratum!r}."
            )

    @property
    def as_printed(self) -> str:
        """What the source prints, with the digits that it prints but for final zeros."""
        return (
            ""
            if self.printed is None
            else f"{self.printed:.10g}"
            if isinstance(self.printed, float)
            else str(self.printed)
        )

    @property
    def compared(self) -> Printed:
        """What ours is compared with: the printed value, else the derived one."""
        return self.derived if self.printed is None else self.printed

    @property
    def tolerance(self) -> str:
        """When ours counts as the same, in words."""
        if self.rule or self.compared is None:
            return self.rule
        return f"± {self.within:.2g}" if self.within else "equal"

    @property
    def clear(self) -> bool:
        """Whether the noise of a simulation can't turn the verdict round."""
        if not self.noise or isinstance(self.compared, str) or self.compared is None:
            return True
        return abs(abs(self.compared - self.ours) - self.within) > CERTAIN * self.noise

    @property
    def agrees(self) -> bool:
        """Whether ours is what is printed or follows."""
        if self.holds is not None:
            return self.holds
        if isinstance(self.compared, str) or isinstance(self.ours, str):
            return self.compared == self.ours
        return self.compared is not None and math.isclose(self.compared, self.ours, rel_tol=0.0, abs_tol=self.within)

    @property
    def is_right(self) -> bool:
        """Whether ours is what the erratum says."""
        if isinstance(self.right, str) or isinstance(self.ours, str):
            return self.right == self.ours
        return self.right is not None and math.isclose(self.right, self.ours, rel_tol=0.0, abs_tol=self.right_within)

    @property
    def telling(self) -> bool:
        """Whether the tolerance is narrow beside the value, so that agreement says something."""
        if isinstance(self.compared, str) or self.compared is None:
            return True
        return max(self.within, self.width) <= (TELLING * abs(self.compared) or ROUNDING)

    @property
    def verdict(self) -> str:
        """Agrees, compatible, derived, undecided, differs, or the kind and number of the erratum (open 28).

        Compatible is what agrees within a tolerance so wide that it says little, derived what agrees with a value that
        follows from the source and is not printed there. What is not compared is not printed, or a claim that is
        looked at on other data, or on generated data.
        """
        if self.other_data:
            return "generated data" if self.generated else "other data"
        if self.compared is None:
            return "not printed"
        if not self.clear:
            return "undecided"
        if self.erratum is not None and not self.is_right and (self.telling or not self.agrees):
            return "differs"  # a print that is wrong is not agreed with
        if self.agrees and not self.telling:
            return "compatible"
        if self.agrees:
            return "derived" if self.printed is None else "agrees"
        return "differs" if self.erratum is None else f"{KINDS.get(self.erratum, 'erratum')} {self.erratum}"


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
        words = ("undecided", "agrees", "derived", "compatible", "other data", "generated data")
        return next((word for word in words if word in said), "shown")

    @property
    def count(self) -> str:
        """How many of the printed values agree, or how many claims are seen on other data."""
        printed = [v for v in self.found.values if v.printed is not None and v.verdict not in APART]
        same = sum(v.verdict == "agrees" for v in printed)
        if printed:
            return f"{same} of {len(printed)}"
        claims = [v.ours == SEEN for v in self.found.values if v.verdict == "other data"]
        return f"{sum(claims)} of {len(claims)} seen" if claims else ""

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        values = [
            {
                "what": v.what,
                "printed": v.printed,
                "derived": v.derived,
                "right": v.right,
                "ours": v.ours,
                "tolerance": v.tolerance,
                "verdict": v.verdict,
                "note": v.note,
            }
            for v in self.found.values
        ]
        head = {"id": self.entry.id, "where": self.entry.where, "title": self.entry.title, "verdict": self.verdict}
        return head | {"skipped": self.skipped, "values": values, "notes": list(self.found.notes)}


def reproduce(entry: Entry, setting: Setting | None = None) -> Reproduced:
    """The entry computed now, or skipped with the reason."""
    setting = replace(setting or Setting(), absent=set())
    if entry.needs and setting.file(entry.needs) is None:
        return Reproduced(entry, Found(()), f"needs {entry.needs}: name its folder with --data or STRAT_SHARED")
    start = time.perf_counter()
    found = entry.make(setting)
    if setting.absent:
        found = replace(found, values=tuple(_generated(v) for v in found.values))
    return Reproduced(entry, found, seconds=time.perf_counter() - start)


def _generated(value: Value) -> Value:
    """A claim that was looked at on generated data, in words that nobody takes for those on real data."""
    if not value.other_data:
        return value
    return replace(value, ours=IN_GENERATED.get(value.ours, value.ours), generated=True)


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
    from strat.base.errors import near

    return near(name, [*dict.fromkeys(e.id.split("/")[0] for e in entries), *(e.id for e in entries)])
