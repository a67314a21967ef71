"""Several protocols side by side, and the pair that bounds the true error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from strat.base.errors import StratError, near
from strat.base.result import Result
from strat.base.validate.arguments import checked, shown
from strat.base.validate.scalars import Rng
from strat.designs import Design
from strat.estimation.frames import frame
from strat.protocols.classic import cross_validation, holdout, repeated_holdout, resubstitution
from strat.protocols.closed_leave_one_out import SingularError
from strat.protocols.keywords import spelled
from strat.protocols.leaving_out import closed_pair, leave_one_out
from strat.protocols.protocol_result import OPTIMISTIC, PESSIMISTIC, ProtocolResult
from strat.protocols.resampling import bootstrap
from strat.protocols.running import task
from strat.show.colours import BLUE, GREEN, ORANGE
from strat.show.figures import new_axes

Runner = Callable[..., ProtocolResult]

PROTOCOLS: Mapping[str, Runner] = {
    "resubstitution": lambda e, X, y, rng, n_jobs, **k: resubstitution(e, X, y, **k),
    "hold-out": lambda e, X, y, rng, n_jobs, **k: holdout(e, X, y, rng=rng, **k),
    "repeated hold-out": lambda e, X, y, **k: repeated_holdout(e, X, y, **k),
    "cross-validation": lambda e, X, y, **k: cross_validation(e, X, y, **k),
    "10 × 10-fold": lambda e, X, y, **k: cross_validation(e, X, y, repeats=10, **k),
    "leave-one-out": lambda e, X, y, rng, **k: leave_one_out(e, X, y, **k),
    "out-of-bag": lambda e, X, y, **k: bootstrap(e, X, y, variant="out-of-bag", **k),
    "optimism": lambda e, X, y, **k: bootstrap(e, X, y, variant="optimism", **k),
    ".632": lambda e, X, y, **k: bootstrap(e, X, y, variant=".632", **k),
    ".632+": lambda e, X, y, **k: bootstrap(e, X, y, variant=".632+", **k),
}
USUAL = ("resubstitution", "hold-out", "repeated hold-out", "cross-validation", "leave-one-out", ".632+")
COLOURS = {OPTIMISTIC: ORANGE, PESSIMISTIC: BLUE}


@dataclass(frozen=True, eq=False, repr=False)
class ProtocolComparison(Result):
    """Results of several protocols for one estimator on the same rows."""

    results: Mapping[str, ProtocolResult]
    reference: float | None = None

    def __getitem__(self, name: str) -> ProtocolResult:
        """The result of one protocol."""
        if name not in self.results:
            raise StratError.about(
                "name", f"must be one of the protocols that were run, got {name!r}; {near(name, list(self.results))}"
            )
        return self.results[name]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns: a line for each protocol."""
        lines = [result.to_dict() for result in self.results.values()]
        return {name: [value for line in lines for value in line[name]] for name in lines[0]}

    def to_frame(self, library: str | None = None) -> Any:
        """A line for each protocol, as a data frame of pandas, Polars or PyArrow (the first that is loaded)."""
        return frame(self.to_dict(), library)

    def __str__(self) -> str:
        """A table in plain text."""
        head = (
            f"{'protocol':28} {'error':>7} {'se':>7} {'95 % interval':>17}  {'bias':15} {'trainings':>9} {'seconds':>8}"
        )
        lines = []
        for r in self.results.values():
            low, high = r.interval()
            lines.append(
                f"{r.protocol:28} {r.error:7.4f} {r.se:7.4f} {low:8.4f} {high:8.4f}  {r.bias:15} "
                f"{len(r.times.fit):9d} {r.times.total:8.3g}"
            )
        return "\n".join([head, *lines])

    def plot(self, ax: Any = None) -> Any:
        """Each protocol's error with its interval; colour tells which way it leans."""
        axes = new_axes(ax)
        for i, r in enumerate(self.results.values()):
            low, high = r.interval()
            colour = COLOURS.get(r.bias, GREEN)
            axes.plot([low, high], [i, i], color=colour, lw=2)
            axes.plot(r.error, i, "o", color=colour)
        for bias, colour in {**COLOURS, "nearly unbiased": GREEN}.items():
            axes.plot([], [], "o-", color=colour, label=bias)
        if self.reference is not None:
            axes.axvline(self.reference, color="#666666", ls="--", label=f"true error {self.reference:.3f}")
        axes.set_yticks(range(len(self.results)), [r.protocol for r in self.results.values()])
        axes.invert_yaxis()
        axes.set(xlabel="error, 95 % interval")
        axes.legend(frameon=False)
        return axes


@spelled
@checked
def compare_protocols(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    protocols: Sequence[str] | Mapping[str, Runner] = USUAL,
    units: ArrayLike | Design | None = None,
    reference: float | None = None,
    rng: Rng = 0,
    n_jobs: int | None = None,
) -> ProtocolComparison:
    """Several protocols for one estimator on the same rows, as a table and a picture.

    Parameters
    ----------
    estimator, X, y, units, rng, n_jobs
        As in `cross_validation`.
    protocols
        Names out of `strat.protocols.PROTOCOLS`, or functions of your own by name; they are called with
        (estimator, X, y, units=, rng=, n_jobs=).
    reference
        The true error where it is known, for the picture.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from strat.datasets import gaussian_classes
    >>> data = gaussian_classes(100, means=[[-1, 0], [1, 0]], rng=1)
    >>> both = compare_protocols(GaussianNB(), data.X, data.y, protocols=["resubstitution", "leave-one-out"])
    >>> both["resubstitution"].error <= both["leave-one-out"].error
    True
    """
    if not isinstance(protocols, Mapping | Sequence) or not all(isinstance(name, str) for name in protocols):
        raise StratError.about("protocols", f"must be a list of names, or functions by name, got {shown(protocols)}.")
    runners = protocols if isinstance(protocols, Mapping) else {name: _named(name) for name in protocols}
    if not all(map(callable, runners.values())):
        raise StratError.about("protocols", f"must be functions by name, got {shown(protocols)}.")
    if not runners:
        raise StratError.about("protocols", "must name at least one protocol, got none.")
    return ProtocolComparison(
        {name: f(estimator, X, y, units=units, rng=rng, n_jobs=n_jobs) for name, f in runners.items()},
        reference,
    )


def _named(name: str) -> Runner:
    if name not in PROTOCOLS:
        raise StratError.about(
            "protocols", f"must be names that exist, got {name!r}; {near(str(name), list(PROTOCOLS))}"
        )
    return PROTOCOLS[name]


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(Result):
    """Resubstitution and leave-one-out of one classifier: below and above the true error on the average.

    The true error here is that of the classifier designed with the true distributions (F&H III): in
    expectation resubstitution falls below it and leave-one-out above. For one data set they can both miss.
    """

    lower: ProtocolResult
    upper: ProtocolResult

    @property
    def gap(self) -> float:
        """Leave-one-out minus resubstitution: the bias that F&H (56) and (62) predict."""
        return self.upper.error - self.lower.error

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """From the lower limit of resubstitution to the upper limit of leave-one-out."""
        return self.lower.interval(level)[0], self.upper.interval(level)[1]

    def _columns(self) -> dict[str, list[Any]]:
        """A line for each of the two protocols."""
        lower, upper = self.lower.to_dict(), self.upper.to_dict()
        return {name: [*lower[name], *upper[name]] for name in lower}

    def __str__(self) -> str:
        """One sentence."""
        return (
            f"true error between {self.lower.error:.4f} (resubstitution) and {self.upper.error:.4f} "
            "(leave-one-out) on the average"
        )


@spelled
@checked
def bounds(
    estimator: Any, X: Any, y: ArrayLike, *, units: ArrayLike | Design | None = None, n_jobs: int | None = None
) -> Bounds:
    """Resubstitution and leave-one-out together, without a training for linear and quadratic discriminants (F&H III-A).

    Examples
    --------
    >>> from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    >>> from strat.datasets import gaussian_classes
    >>> data = gaussian_classes([40, 40], means=[[0] * 8, [0.9] * 8], rng=3)
    >>> pair = bounds(QuadraticDiscriminantAnalysis(), data.X, data.y)
    >>> pair.lower.error < data.bayes_error < pair.upper.error
    True
    """
    try:
        pair = closed_pair(task(estimator, X, y, units))
    except SingularError:
        pair = None
    if pair is not None:
        return Bounds(*pair)
    upper = leave_one_out(estimator, X, y, units=units, n_jobs=n_jobs)
    return Bounds(resubstitution(estimator, X, y, units=units), upper)
