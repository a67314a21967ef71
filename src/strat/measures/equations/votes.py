"""Votes on pairs: win rates, and strengths by the Bradley-Terry model with ties, the side's effect and covariates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from strat.base.errors import StratError, one_of, some
from strat.base.validate.argument_kinds import Columns
from strat.base.validate.arguments import checked
from strat.base.validate.columns import LARGEST, Array, Codes, encode, equal, labels_of, numbers, same_length
from strat.measures.base import Axis, Rows, Statistic
from strat.measures.equations.solver import Equation, as_statistic
from strat.measures.quotients import quotient

TIES = ("half", "davidson")
TIE = "tie"
LEFT = "left side"


@checked
def bradley_terry(
    left: ArrayLike,
    right: ArrayLike,
    winner: ArrayLike,
    *,
    ties: str = "half",
    home: bool = False,
    covariates: Columns | None = None,
) -> Statistic:
    """The strength of each system, in log odds around a mean of zero, from votes on pairs.

    P(left wins) = 1 / (1 + exp(−d)), d = strength of the left system minus that of the right one (Bradley and Terry
    1952). The intervals are those of the design: say who was drawn (prompts, workers), not only how many votes.

    Parameters
    ----------
    left, right
        The two systems of each vote.
    winner
        "left", "right" or "tie"; or the winner's name, with "tie" for a tie.
    ties
        "half": a tie is half a win for each, as arenas count it; "davidson": ties have a parameter of their own
        (Davidson 1970).
    home
        Whether the left side has an effect of its own.
    covariates
        Named columns, left minus right (of length, say), whose effect is taken out: a dictionary, or a data frame.

    Examples
    --------
    Two systems, three wins to one: strengths half of log 3 either side.

    >>> strengths = bradley_terry(["a", "a", "b", "a"], ["b", "b", "a", "b"], ["left", "left", "right", "right"])
    >>> dict(zip(strengths.axes[0].labels, strengths.value().round(4).tolist()))
    {'a': 0.5493, 'b': -0.5493}
    """
    one_of("ties", ties, TIES)
    first, second, systems = _systems(left, right)
    result = _results(left, right, winner)
    extra = _covariates(covariates, len(result))
    names = [*([LEFT] if home else []), *extra]
    taken = [name for name in (*names, TIE) if name in systems]
    if taken:
        raise StratError.about(
            "left", f"and `right` must name systems, got {some(taken)}, which is a term of the model."
        )
    votes, codes = _distinct(first, second, result, list(extra.values()), systems, home)
    votes.check_connected(result[result >= 0].size)
    tied = ties == "davidson" and bool((votes.result == 0.5).any())
    labels = (*systems, *names, *([TIE] if tied else []))
    axis = Axis("parameter" if len(labels) > len(systems) else "system", labels)
    model = Davidson(votes) if tied else votes
    start = np.zeros(len(labels))
    one = Equation("Bradley-Terry strength", model.scores, model.slope, start)
    return as_statistic(one, codes, len(votes.result), (axis,), sparse=True, higher_is_better=True)


@checked
def win_rate(left: ArrayLike, right: ArrayLike, winner: ArrayLike) -> Statistic:
    """The share of its votes that each system won, with ties as half a win, as arenas count it.

    Unlike a strength (`bradley_terry`) it depends on whom a system was compared with. The usual unit is the prompt.

    Parameters
    ----------
    left, right, winner
        As for `bradley_terry`.

    Examples
    --------
    >>> rates = win_rate(["a", "a", "b", "a"], ["b", "b", "a", "b"], ["left", "tie", "right", "right"])
    >>> dict(zip(rates.axes[0].labels, rates.value().tolist()))
    {'a': 0.625, 'b': 0.375}
    """
    first, second, systems = _systems(left, right)
    outcome = np.rint(2 * _results(left, right, winner)).astype(np.int64)  # half wins of the left side
    m = len(systems)
    halves = np.array([0.0, 0.5, 1.0])

    def of_system(totals: Array) -> tuple[Array, Array]:
        """Half wins of each system, from its left and from its right side, and its votes."""
        votes = totals.reshape(*totals.shape[:-1], 2, m, 3).sum(axis=-3)
        return votes @ halves, votes.sum(axis=-1)

    def gradient(totals: Array) -> Array:
        won, all_votes = of_system(totals)
        each = quotient(halves - quotient(won, all_votes)[:, None], all_votes[:, None])  # systems × outcomes
        slopes = np.zeros((2, m, 3, m))
        slopes[:, np.arange(m), :, np.arange(m)] = each[:, None]
        return slopes.reshape(-1, m)

    sides = (Rows(3 * first + outcome, None, 3 * m), Rows(3 * second + 2 - outcome, None, 3 * m))
    return Statistic(
        "win rate",
        sides,
        lambda totals: quotient(*of_system(totals)),
        gradient,
        (Axis("system", systems),),
        "logit",
        (0.0, 1.0),
        proportion=True,
        views=tuple((first == i) | (second == i) for i in range(m)),
        base=lambda totals: of_system(totals)[1],
        graded=bool((outcome == 1).any()),
        higher_is_better=True,
    )


@dataclass(frozen=True, eq=False)
class Votes:
    """Distinct votes as lines of a linear predictor, with ties as half a win.

    Attributes
    ----------
    terms
        Lines × parameters, sparse: 1 for the left system, −1 for the right one, then the side and the covariates.
    result
        1 where left won, 0 where right did, ½ for a tie.
    first, second
        The systems of each line.
    systems
        Their names.
    """

    terms: Any
    result: Array
    first: Codes
    second: Codes
    systems: tuple[Any, ...]

    def scores(self, theta: Array) -> Any:
        """(y − p) z: lines × parameters, sparse."""
        d = self.terms @ theta
        residual = self.result * scipy.special.expit(-d) - (1.0 - self.result) * scipy.special.expit(d)
        return _scaled(residual, self.terms)

    def slope(self, theta: Array, weights: Array) -> Array:
        """−Σ w p (1 − p) z zᵀ, with the mean strength held at zero."""
        d = self.terms @ theta
        v = weights * scipy.special.expit(d) * scipy.special.expit(-d)
        return self.anchored(-(self.terms.T @ _scaled(v, self.terms)).toarray())

    def anchored(self, slope: Array) -> Array:
        """The Jacobian with a term that fixes the mean strength, along which no vote says anything."""
        m = len(self.systems)
        pinned = slope.copy()
        pinned[:m, :m] -= np.abs(np.diag(slope)[:m]).mean() / m
        return pinned

    def check_connected(self, rows: int) -> None:
        """Refuse systems that won or lost every comparison with the others: their strength is infinite."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        m = len(self.systems)
        if m < 2 or not rows:
            raise StratError.about("left", f"and `right` must name at least two systems, got {m}.")
        won, lost = self.result > 0, self.result < 1
        start = np.concatenate([self.first[won], self.second[lost]])
        stop = np.concatenate([self.second[won], self.first[lost]])
        graph = coo_array((np.ones(len(start)), (start, stop)), shape=(m, m))
        number, part = connected_components(graph, directed=True, connection="strong")
        if number > 1:
            sizes = np.bincount(part)
            outside = [self.systems[k] for k in np.flatnonzero(part != int(sizes.argmax()))]
            raise StratError.about(
                "winner",
                f"must connect all systems by wins both ways, got {some(outside, 5)} that always won, always "
                "lost or were never compared with the others, so that their strength is infinite; remove such systems.",
            )


@dataclass(frozen=True, eq=False)
class Davidson:
    """The same votes with a parameter for ties: P(tie) is proportional to ν times the root of both strengths."""

    votes: Votes

    def _shares(self, theta: Array) -> tuple[Array, Array, Array]:
        d = self.votes.terms @ theta[:-1]
        logs = np.stack([d / 2, -d / 2, np.full(len(d), theta[-1])])
        win, loss, tie = scipy.special.softmax(logs, axis=0)
        return win, loss, tie

    def scores(self, theta: Array) -> Any:
        """Derivatives of log P by strengths, side, covariates and log ν."""
        from scipy.sparse import csr_array, hstack

        win, loss, tie = self._shares(theta)
        y = self.votes.result
        by_terms = _scaled((y - 0.5) - (win - loss) / 2.0, self.votes.terms)
        return hstack([by_terms, csr_array(((y == 0.5) - tie)[:, None])], format="csr")

    def slope(self, theta: Array, weights: Array) -> Array:
        """Minus the covariance of the sufficient statistics."""
        win, loss, tie = self._shares(theta)
        z = self.votes.terms
        v = weights * ((win + loss) - (win - loss) ** 2) / 4.0
        mixed = z.T @ (weights * (win - loss) * tie / 2.0)
        p = z.shape[1]
        slope = np.empty((p + 1, p + 1))
        slope[:p, :p] = self.votes.anchored(-(z.T @ _scaled(v, z)).toarray())
        slope[:p, p] = slope[p, :p] = mixed
        slope[p, p] = -float(weights @ (tie * (1.0 - tie)))
        return slope


def _scaled(factors: Array, terms: Any) -> Any:
    """Each line of a sparse matrix times its factor."""
    from scipy.sparse import csr_array

    data = terms.data * np.repeat(factors, np.diff(terms.indptr))
    return csr_array((data, terms.indices, terms.indptr), shape=terms.shape)


def _systems(left: ArrayLike, right: ArrayLike) -> tuple[Codes, Codes, tuple[Any, ...]]:
    """The systems of each vote as numbers, and their names."""
    first, second = encode("left", left), encode("right", right)
    same_length(left=first[0], right=second[0])
    if first[1].dtype.kind != second[1].dtype.kind:
        raise StratError.about("right", "must have names of the type of `left`; make both text or both numbers.")
    names = np.unique(np.concatenate([first[1], second[1]]))
    one = np.searchsorted(names, first[1])[first[0]]
    other = np.searchsorted(names, second[1])[second[0]]
    if (one == other).any():
        raise StratError.about(
            "right", f"must differ from `left` in every vote, got {int((one == other).sum())} of a system on itself."
        )
    return one, other, tuple(names.tolist())


def _results(left: ArrayLike, right: ArrayLike, winner: ArrayLike) -> Array:
    """1 where left won, 0 where right did, ½ for a tie."""
    codes, labels = encode("winner", winner)
    same_length(left=np.asarray(left), winner=codes)
    words = {"left": 1.0, "right": 0.0, TIE: 0.5}
    known = [words.get(str(label), np.nan) for label in labels.tolist()]
    if set(map(str, labels.tolist())) <= set(words):
        return np.array(known)[codes]
    who = labels[codes]
    result = np.where(np.array([str(label) == TIE for label in labels.tolist()])[codes], 0.5, np.nan)
    result = np.where(equal(who, labels_of("left", left)), 1.0, result)
    result = np.where(equal(who, labels_of("right", right)), 0.0, result)
    unknown = np.unique(codes[np.isnan(result)])
    if len(unknown):
        raise StratError.about(
            "winner",
            "must be 'left', 'right' or 'tie', or name one of the two systems, got "
            f"{some(labels[unknown].tolist(), 3)}.",
        )
    return result


def _covariates(covariates: Columns | None, rows: int) -> dict[str, Array]:
    columns = {}
    for name, column in ({} if covariates is None else covariates).items():
        argument = f"covariates[{str(name)!r}]"
        columns[str(name)] = numbers(argument, column, most=LARGEST, axes=1)
        same_length(left=range(rows), **{argument: columns[str(name)]})
    return columns


def _distinct(
    first: Codes, second: Codes, result: Array, extra: list[Array], systems: tuple[Any, ...], home: bool
) -> tuple[Votes, Codes]:
    """The distinct votes, and which of them each row is."""
    from scipy.sparse import csr_array

    m = len(systems)
    key = (first * m + second) * 3 + np.rint(2 * result).astype(np.int64)
    if extra:
        lines, codes = np.unique(np.column_stack([key, *extra]), axis=0, return_inverse=True)
    else:
        codes, distinct = encode("left", key)
        lines = distinct[:, None].astype(float)
    pair, outcome = np.divmod(lines[:, 0].astype(np.int64), 3)
    one, other = np.divmod(pair, m)
    n = len(lines)
    more = np.hstack([np.ones((n, 1))] * home + [lines[:, 1:]])
    width = 2 + more.shape[1]
    columns = np.column_stack([one, other, *(np.full(n, m + j) for j in range(more.shape[1]))])
    values = np.column_stack([np.ones(n), -np.ones(n), more])
    terms = csr_array((values.ravel(), columns.ravel(), np.arange(n + 1) * width), shape=(n, m + more.shape[1]))
    terms.sum_duplicates()  # sorted once: matrices made of it share its places
    return Votes(terms, outcome / 2.0, one, other, systems), codes.reshape(-1)
