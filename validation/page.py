"""The pages: one self-contained HTML report and one Markdown page, both from the stored results alone."""

from __future__ import annotations

import html
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .counting import GOAL, verdict
from .held_out_page import HeldOutGrid
from .run import CLOSE, GRIDS, RESULTS, ROOT, load

TEMPLATES = Path(__file__).with_name("templates")
HTML = ROOT / "docs" / "_static" / "validation.html"
MARKDOWN = ROOT / "docs" / "validation.md"
RIVAL = "rival: "
OTHER_AIM = ("for the other target", "winner, naive", "winner, corrected", "pointwise interval", "each pair alone")
CANDIDATES = (
    "default, effective df", "default, kurtosis df", "exact, effective df", "leverage", "leverage, effective df",
    "exact below 5 errors",
    "exact below 10 errors", "edge by rows", "edge, one-sided", "Woodruff by t", "Woodruff by logit",
    "Woodruff by exact", "log", "linearization",
    "no dyadic factor", "no dyadic factor, exact", "default, subjects - 1 df",
)  # fmt: skip
MOST_USELESS = 0.05
USUAL = (
    "rival: Wilson on rows", "rival: DeLong", "rival: row bootstrap", "rival: paired z on rows", "rival: band on rows",
    "rival: max-t on rows", "rival: normal on rows", "rival: order statistics of rows",
)  # fmt: skip
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#767676"  # Okabe and Ito
WORDS = {
    "default": "what `interval()` gives: logit for shares, Fisher's z for correlations, Woodruff for quantiles, "
    "max-t for bands and all pairs, exact where nothing varied",
    "t": "value ± t · se",
    "fisher": "Fisher's z",
    "arcsine": "on the arcsine scale",
    "wilson": "Wilson's with the effective number of rows and Student's t",
    "exact": "Korn and Graubard's: Clopper-Pearson with the effective number of rows",
    "default, satterthwaite df": 'the default with `df="satterthwaite"`',
    "default, effective df": "candidate: the default, degrees of freedom from the units' weights (Bell and McCaffrey)",
    "exact, effective df": "candidate: Korn-Graubard with these degrees of freedom",
    "default, kurtosis df": "candidate: the default, degrees of freedom from the kurtosis of the deviations",
    "leverage": "candidate: deviations of heavy units enlarged by 1 / sqrt(1 − leverage)",
    "leverage, effective df": "candidate: both",
    "exact below 5 errors": "candidate: the default, but exact where fewer than 5 effective errors were seen",
    "exact below 10 errors": "the same with 10",
    "edge by rows": "candidate: where nothing varied, count rows instead of units",
    "edge, one-sided": "candidate: where nothing varied, a one-sided limit",
    "balanced replicates": "the default interval with BRR, or its generalization by contrasts for unequal strata",
    "jackknife": "the default interval with the jackknife of units",
    "bootstrap": "the default interval with the Rao-Wu bootstrap of units",
    "bootstrap percentile": "percentiles of that bootstrap",
    "Woodruff by t": "Woodruff's interval from the straight interval of the share at the quantile, as in R's survey",
    "Woodruff by logit": "candidate: the same from the logit interval",
    "Woodruff by exact": "the same from the exact interval: the default where fewer than ten rows lie beyond",
    "linearization": "candidate: the closed form for a correlation of few units, without the jackknife",
    "default, subjects - 1 df": "candidate: degrees of freedom of subjects instead of pairs of them",
    "no dyadic factor": "candidate: the two-way variance without ((k − 1) / (k − 2))², k subjects",
    "no dyadic factor, exact": "candidate: Korn-Graubard with that",
    "log": "candidate: on the logarithmic scale",
    "Bonferroni": "intervals at the level 1 − 0.05 / number",
    "rival: Wilson on rows": "every row an independent trial",
    "rival: exact on rows": "Clopper-Pearson on rows",
    "rival: normal on rows": "1.96 standard errors of independent rows (lm-evaluation-harness's ± stderr)",
    "rival: row bootstrap": "percentiles of resampled rows",
    "rival: pooled by stratum": "lm-evaluation-harness's pooled standard error of groups, times 1.96",
    "rival: clustered, normal": "inspect-ai's clustered standard error times 1.96, strata ignored",
    "rival: clustered, t": "inspect-ai's ci(cluster=): t with units − 1, strata ignored",
    "rival: clustered Wilson": "inspect-ai's ci_wilson(cluster=): effective rows, at most the rows, t with units − 1",
    "rival: cluster bootstrap": "percentiles of resampled units, strata ignored",
    "rival: DeLong": "DeLong's variance of independent rows, times 1.96",
}


class Lab:
    """Questions that the templates ask of the results."""

    def __init__(self, results: dict[str, Any]) -> None:
        self.results = results
        self.grid: dict[str, Any] = results.get("grid", {})
        self.tests: dict[str, Any] = results.get("tests", {})
        self.nonlinear: dict[str, Any] = results.get("nonlinear", {})
        self.lattice: dict[str, Any] = results.get("lattice", {})
        self.words = WORDS

    # ---- one figure

    def figure(self, scenario: str, method: str = "default") -> dict[str, Any] | None:
        """The figures of a method in a scenario."""
        return self.grid.get(scenario, {}).get("methods", {}).get(method)

    def cover(self, scenario: str, method: str = "default", error: bool = True) -> str:
        """Coverage in words: 94.3 ± 0.5 (one Monte-Carlo error), – where it was not tried."""
        one = self.figure(scenario, method)
        if one is None:
            return "–"
        said = f"{100 * one['coverage']:.1f}"
        return f"{said} ± {100 * one['coverage_mc']:.1f}" if error else said

    def width(self, scenario: str, method: str = "default") -> str:
        """Mean width."""
        one = self.figure(scenario, method)
        return "–" if one is None or one["width"] is None else f"{one['width']:.3g}"

    def state(self, scenario: str, method: str = "default") -> str:
        """holds, short or wide."""
        one = self.figure(scenario, method)
        return "–" if one is None else verdict(one["coverage"], one["coverage_mc"])

    # ---- choices

    def fair(self, scenario: str) -> dict[str, dict[str, Any]]:
        """Methods of the same aim, tried on at least half of the samples, that hardly ever say nothing."""
        one = self.grid[scenario]
        ignores = "weights" in one["family"]  # rivals that know no weights answer another question there
        return {
            name: f
            for name, f in one["methods"].items()
            if name not in OTHER_AIM
            and not (ignores and name.startswith(RIVAL))
            and 2 * f["trials"] >= one["trials"]
            and f["useless"] <= MOST_USELESS
            and f["width"] is not None
        }

    def valid(self, scenario: str) -> dict[str, dict[str, Any]]:
        """Methods that are not too short."""
        return {n: f for n, f in self.fair(scenario).items() if verdict(f["coverage"], f["coverage_mc"]) != "short"}

    def best(self, scenario: str) -> str | None:
        """The valid method with the narrowest intervals."""
        valid = self.valid(scenario)
        return min(valid, key=lambda name: valid[name]["width"], default=None)

    def ratio(self, scenario: str, method: str = "default") -> str:
        """Mean width over that of the best valid method."""
        one, best = self.figure(scenario, method), self.best(scenario)
        if one is None or best is None or one["width"] is None:
            return "–"
        return f"{one['width'] / self.valid(scenario)[best]['width']:.2f}"

    def times(self, scenario: str, method: str) -> str:
        """Mean width over the default's."""
        one, default = self.figure(scenario, method), self.figure(scenario)
        return "–" if one is None or default is None else f"{one['width'] / default['width']:.1f}"

    def main(self, scenario: str) -> str:
        """The default, or what stands for it."""
        return "default" if "default" in self.grid[scenario]["methods"] else "lone: collapse"

    def usual(self, scenario: str) -> str:
        """Coverage of what is usual: rows as independent draws."""
        found = next((name for name in USUAL if self.figure(scenario, name)), None)
        return self.cover(scenario, found, error=False) if found else "–"

    def where(self, state: str) -> list[str]:
        """Scenarios where the default is short, wide or holds."""
        return [name for name in self.grid if self.state(name, self.main(name)) == state]

    def reached(self, scenario: str) -> list[str]:
        """Methods whose coverage is not shown to be outside 94 to 96 %."""
        return [n for n, f in self.fair(scenario).items() if verdict(f["coverage"], f["coverage_mc"]) == "holds"]

    def tried(self, method: str) -> list[str]:
        """Scenarios where a method was tried."""
        return [name for name in self.grid if self.figure(name, method)]

    def mendable(self) -> list[str]:
        """Scenarios where the default is not within 94 to 96 %, and another of our methods or candidates is."""
        wrong = self.where("short") + self.where("wide")
        return [name for name in wrong if any(not m.startswith(RIVAL) for m in self.reached(name))]

    def hopeless(self) -> list[str]:
        """Scenarios where no method reaches 94 to 96 %."""
        return [name for name in self.grid if not self.reached(name)]

    def score(self, method: str, scenarios: Iterable[str] | None = None) -> dict[str, Any]:
        """How often a method holds over scenarios where it was tried, and its mean width over the best valid one."""
        names = [n for n in (self.grid if scenarios is None else scenarios) if self.figure(n, method)]
        states = [self.state(n, method) for n in names]
        ratios = [float(r) for n in names if (r := self.ratio(n, method)) != "–"]
        return {
            "scenarios": len(names),
            **{state: states.count(state) for state in ("holds", "short", "wide")},
            "ratio": f"{sum(ratios) / len(ratios):.2f}" if ratios else "–",
            "worst": min((self.figure(n, method)["coverage"] for n in names), default=None),  # type: ignore[index]
        }

    def warned(self, scenario: str) -> str:
        """In how many samples the estimate itself said that its interval may be too short, in percent."""
        return f"{100 * self.grid[scenario].get('warned', 0.0):.0f}"

    def unwarned(self) -> list[str]:
        """Scenarios where the default is short and the estimate says so in less than half of the samples."""
        return [name for name in self.where("short") if self.grid[name].get("warned", 0.0) < 0.5]

    def families(self) -> dict[str, list[str]]:
        """Scenarios by the heading they stand under."""
        made: dict[str, list[str]] = {}
        for name, one in self.grid.items():
            made.setdefault(one["family"], []).append(name)
        return made

    def shares(self) -> list[str]:
        """Scenarios of a single share."""
        return [n for n, one in self.grid.items() if one["family"].startswith("accuracy") or n.startswith("rank 1")]

    def unequal(self) -> list[str]:
        """Scenarios with units of unequal weight."""
        return [n for n in self.grid if self.figure(n, "default, effective df")]

    def kind(self, method: str) -> str:
        """ours, candidate or rival."""
        return "rival" if method.startswith(RIVAL) else "candidate" if method in CANDIDATES else "ours"

    # ---- non-linear statistics

    def variants(self) -> list[dict[str, Any]]:
        """Each way to a variance, over all statistics and designs where it was tried."""
        found: dict[str, list[dict[str, Any]]] = {}
        for case in self.nonlinear.values():
            for name, one in case["methods"].items():
                found.setdefault(name, []).append(one)
        return [self._variant(name, ones) for name, ones in found.items()]

    def pairs(self) -> list[dict[str, Any]]:
        """The same, over designs of two units a stratum alone, where every variant of BRR exists."""
        found: dict[str, list[dict[str, Any]]] = {}
        for case in self.nonlinear.values():
            if case["design"].endswith("of 2"):
                for name, one in case["methods"].items():
                    found.setdefault(name, []).append(one)
        return [self._variant(name, ones) for name, ones in found.items()]

    def _variant(self, name: str, ones: list[dict[str, Any]]) -> dict[str, Any]:
        ratios = [one["variance_ratio"] for one in ones if one["variance_ratio"] is not None]
        cvs = [one["variance_cv"] for one in ones if one["variance_cv"] is not None]
        covers = [one["coverage"] for one in ones]
        trials = [one["trials"] for one in ones]
        n = sum(trials)
        mean = sum(c * t for c, t in zip(covers, trials, strict=True)) / n
        return {
            "name": name,
            "cases": len(ones),
            "coverage": mean,
            "error": (mean * (1 - mean) / n) ** 0.5,
            "least": min(covers),
            "ratio": sum(ratios) / len(ratios) if ratios else None,
            "low": min(ratios, default=None),
            "high": max(ratios, default=None),
            "cv": sum(cvs) / len(cvs) if cvs else None,
            "none": max(one["useless"] for one in ones),
        }


def picture(lab: Lab) -> str:
    """Coverage of the default, of the effective degrees of freedom and of independent rows, as an SVG drawing."""
    left, right, line, least = 300, 760, 15, 0.80
    rows = list(lab.grid)
    height = line * (len(rows) + len(lab.families())) + 40

    def x(share: float) -> float:
        return left + (max(share, least) - least) / (1 - least) * (right - left)

    strip = x(GOAL[1]) - x(GOAL[0])
    parts = [f'<rect x="{x(GOAL[0]):.1f}" y="0" width="{strip:.1f}" height="{height - 24}" fill="#e6f2ea"/>']
    for share in (0.8, 0.85, 0.9, 0.95, 1.0):
        said = f"{share:.0%}" if share > least else "≤ 80%"
        parts.append(f'<text x="{x(share):.1f}" y="{height - 6}" text-anchor="middle">{said}</text>')
        parts.append(f'<line x1="{x(share):.1f}" x2="{x(share):.1f}" y1="0" y2="{height - 24}" stroke="#ddd"/>')
    y = 14.0
    for family, names in lab.families().items():
        parts.append(f'<text x="4" y="{y + 4:.0f}" font-weight="bold">{html.escape(family)}</text>')
        y += line
        for name in names:
            parts.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{html.escape(name[:52])}</text>')
            parts += _marks(lab, name, x, y)
            y += line
    title = "<title>Coverage of nominal 95 % intervals in every scenario</title>"
    frame = f'<svg viewBox="0 0 {right + 20} {height}" role="img" font-size="10.5" font-family="sans-serif">'
    return frame + title + "".join(parts) + "</svg>"


def _marks(lab: Lab, name: str, x: Any, y: float) -> list[str]:
    made = []
    rows = next((rival for rival in USUAL if lab.figure(name, rival)), None)
    if rows:
        at = x(lab.figure(name, rows)["coverage"])  # type: ignore[index]
        made.append(f'<path d="M{at - 3:.1f} {y - 3}l6 6m0 -6l-6 6" stroke="{ORANGE}" stroke-width="1.6"/>')
    better = lab.figure(name, "default, effective df")
    if better:
        at = x(better["coverage"])
        made.append(
            f'<path d="M{at:.1f} {y - 5}l4.5 5l-4.5 5l-4.5 -5z" fill="none" stroke="{GREEN}" stroke-width="1.5"/>'
        )
    one = lab.figure(name, lab.main(name))
    if one:
        a, b = (x(min(one["coverage"] + k * one["coverage_mc"], 1.0)) for k in (-2, 2))
        made.append(f'<line x1="{a:.1f}" x2="{b:.1f}" y1="{y}" y2="{y}" stroke="{BLUE}"/>')
        made.append(f'<circle cx="{x(one["coverage"]):.1f}" cy="{y}" r="3.4" fill="{BLUE}"/>')
    return made


def held_out_table(grid: str, path: Path) -> str:
    """The second or the third grid as a table for the screen."""
    return HeldOutGrid(load(path), grid).table()


def write_pages(
    results: Path = RESULTS,
    *,
    second: Path = GRIDS["second"],
    third: Path = GRIDS["third"],
    page: Path = HTML,
    markdown: Path = MARKDOWN,
) -> list[Path]:
    """Render both pages; what they say comes from the results, word for word."""
    import jinja2

    lab = Lab(load(results))
    grids = {
        name: HeldOutGrid(load(path), "third" if name == "third" else "second")
        for name, path in {"second": second, "close": CLOSE, "third": third}.items()
    }
    for path, name in ((page, "page.html"), (markdown, "page.md")):
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
            autoescape=name.endswith("html"),
            keep_trailing_newline=True,
        )
        environment.filters["pct"] = lambda v: "–" if v is None else f"{100 * v:.1f}"
        environment.filters["two"] = lambda v: "–" if v is None else f"{v:.2f}"
        drawn = picture(lab)
        text = environment.get_template(name).render(
            lab=lab, r=lab.results, **grids, picture=drawn, goal=GOAL, verdict=verdict
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [page, markdown]
