"""What a grid that no default was chosen on says: the verdicts, the narrowest method that holds, who was warned."""

from __future__ import annotations

from typing import Any

from . import run
from .counting import verdict
from .held_out.procedures import IGNORES_THE_CHOICE
from .held_out.shapes import SHAPES

LEAST = 0.93  # what every default should cover, two Monte-Carlo errors allowed
WIDEST = 1.15  # mean width over the narrowest method that holds
WARNED = 2 / 3  # of the missing samples
MOST_USELESS = 0.05
RIVAL = "rival: "
OF_INDEPENDENT_ROWS = ("rival: Wilson on rows", "rival: PPI++")  # ignore units, and are no rivals where there are some


class HeldOutGrid:
    """Questions asked of the results of the second or the third grid."""

    def __init__(self, results: dict[str, Any], part: str = "second") -> None:
        self.results = results
        self.part = part
        self.grid: dict[str, Any] = results.get(part, {})

    def __len__(self) -> int:
        """Number of situations."""
        return len(self.grid)

    @property
    def samples(self) -> str:
        """How many samples a situation has, from the fewest to the most."""
        numbers = sorted({one["trials"] for one in self.grid.values()})
        return " to ".join(f"{n:,}" for n in (numbers[0], numbers[-1])[: len(numbers)])

    @property
    def later(self) -> list[str]:
        """Situations that were drawn with a later state of the code than the whole, which their entry names."""
        return [
            name for name, one in self.grid.items() if one.get("fingerprint", self.state_of_code) != self.state_of_code
        ]

    @property
    def state_of_code(self) -> str:
        """Fingerprint of the sources that the whole was drawn with."""
        return str(self.results.get("fingerprint", ""))

    def missing(self) -> list[str]:
        """Situations without stored figures."""
        return [name for name in run.names(self.part) if name not in self.grid]

    def default(self, name: str) -> dict[str, Any]:
        """The figures of the default."""
        found: dict[str, Any] = self.grid[name]["methods"]["default"]
        return found

    def state(self, name: str) -> str:
        """holds, short or wide: whether 94 to 96 % is ruled out."""
        one = self.default(name)
        return verdict(one["coverage"], one["coverage_mc"])

    def cover(self, name: str) -> str:
        """Coverage in percent, ± one Monte-Carlo error."""
        one = self.default(name)
        return f"{100 * one['coverage']:.1f} ± {100 * one['coverage_mc']:.1f}"

    def reaches(self, name: str) -> bool:
        """Whether the default covers at least 93 %, two Monte-Carlo errors allowed."""
        return _reaches(self.default(name))

    def best(self, name: str, *, any_method: bool = False) -> str | None:
        """The narrowest method that holds: see `holds`; or any that covers at least 93 % here."""
        methods = {method: one for method, one in self.grid[name]["methods"].items() if _useful(one)}
        rivals = [method for method in methods if any_method or self.holds(name, method)]
        return min(rivals, key=lambda method: methods[method]["width"], default=None)

    def holds(self, name: str, method: str) -> bool:
        """Whether a method does not ignore what the situation is about, and covers 93 % however its units differ."""
        ignores_units = method in OF_INDEPENDENT_ROWS and not self.grid[name].get("independent", False)
        if ignores_units or method == IGNORES_THE_CHOICE:
            return False
        return all(_reaches(self.grid[other]["methods"][method]) for other in self.alike(name))

    def alike(self, name: str) -> list[str]:
        """Situations of the same layout, in which units differ in other ways, and this one."""
        layout, _, shape = name.rpartition(", ")
        others = [f"{layout}, {other}" for other in SHAPES] if shape in SHAPES else [name]
        return [other for other in others if other in self.grid]

    def width(self, name: str, *, any_method: bool = False) -> str:
        """Mean width over that of the narrowest method that holds."""
        best = self.best(name, any_method=any_method)
        if best is None or self.default(name)["width"] is None or self.default(name)["width"] > 1e6:
            return "–"
        return f"{self.default(name)['width'] / self.grid[name]['methods'][best]['width']:.2f}"

    def warned_misses(self, name: str) -> float | None:
        """In which share of the samples that miss the truth the estimate said that its interval may be short."""
        one = self.grid[name]
        return one["warned_misses"] / one["misses"] if one["misses"] else None

    def warned(self, name: str) -> str:
        """The same in percent, with that of all samples."""
        share = self.warned_misses(name)
        return f"{'–' if share is None else f'{100 * share:.0f}'} / {100 * self.grid[name]['warned']:.0f}"

    @property
    def _heading(self) -> str:
        """Of the column on notes: each of them where they were counted one by one."""
        return "warned of misses / samples %" if self.part == "second" else "notes: % of misses / of hits"

    def notes(self, name: str) -> str:
        """Of each note that an interval may be short, in how many percent of the misses and of the hits it stands."""
        one = self.grid[name]
        if self.part == "second":
            return self.warned(name)
        shares = [
            " / ".join(f"{100 * k / n:.0f}" if n else "–" for k, n in zip(counts, of, strict=True)) + f" {code}"
            for of in [(one["misses"], one["trials"] - one["misses"])]
            for code, counts in one["notes"].items()
        ]
        return ", ".join(shares) or "–"

    def tails(self, name: str) -> str:
        """In how many percent of the samples the truth lies above and below the interval."""
        one = self.default(name)
        return " / ".join(f"{100 * one[side]:.1f}" for side in ("below", "above"))

    def where(self, state: str) -> list[str]:
        """Situations where the default holds, is short or wide."""
        return [name for name in self.grid if self.state(name) == state]

    def below(self) -> list[str]:
        """Situations where the default covers less than 93 %."""
        return [name for name in self.grid if not self.reaches(name)]

    def beaten(self) -> list[str]:
        """Situations where the default covers less than 93 % and another method does not."""
        return [name for name in self.below() if any(not m.startswith(RIVAL) for m in [self.best(name) or RIVAL])]

    def unwarned(self) -> list[str]:
        """Situations below 93 % where fewer than two thirds of the misses are warned of."""
        return [name for name in self.below() if (self.warned_misses(name) or 0.0) < WARNED]

    def too_wide(self, *, any_method: bool = False) -> list[str]:
        """Situations where the default is more than 1.15 times as wide as the narrowest that holds."""
        widths = {name: self.width(name, any_method=any_method) for name in self.grid}
        return [name for name, width in widths.items() if width != "–" and float(width) > WIDEST]

    def families(self) -> dict[str, list[str]]:
        """Situations by the heading they stand under."""
        found: dict[str, list[str]] = {}
        for name, one in self.grid.items():
            found.setdefault(one["family"], []).append(name)
        return found

    def summary(self) -> str:
        """One sentence with all counts."""
        states = {state: len(self.where(state)) for state in ("holds", "short", "wide")}
        return (
            f"{len(self)} situations: holds in {states['holds']}, short in {states['short']}, "
            f"wide in {states['wide']}; "
            f"below 93 % in {len(self.below())}, of which {len(self.beaten())} where another method tried is not and "
            f"{len(self.unwarned())} with fewer than two thirds of the misses warned of; more than 1.15 times the "
            f"narrowest in {len(self.too_wide())}"
        )

    def table(self) -> str:
        """All situations as a Markdown table."""
        head = "| situation | default | | truth above / below % | width over narrowest | narrowest |"
        lines = [f"{head} {self._heading} |", "| --- | ---: | --- | ---: | ---: | --- | ---: |"]
        for family, names in self.families().items():
            lines.append(f"| **{family}** | | | | | | |")
            lines += [
                f"| {name} | {self.cover(name)} | {self.state(name)} | {self.tails(name)} | {self.width(name)} | "
                f"{self.best(name) or '–'} | {self.notes(name)} |"
                for name in names
            ]
        return "\n".join([*lines, "", self.summary() if self.grid else "nothing stored"])


def _useful(one: dict[str, Any]) -> bool:
    return bool(_reaches(one) and one["useless"] <= MOST_USELESS and one["width"] is not None)


def _reaches(one: dict[str, Any]) -> bool:
    return bool(one["coverage"] + 2 * one["coverage_mc"] >= LEAST)
