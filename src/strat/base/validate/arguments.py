"""Public functions check the kinds of their arguments before they run, and say which keyword was meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, update_wrapper, wraps
from inspect import Parameter, Signature, signature
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

from strat.base.errors import close_names
from strat.base.validate.argument_kinds import Check, checks_of, same_order, shown, unmasked

__all__ = ["checked", "same_order", "shown", "unmasked", "with_hints"]

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)
# keywords of other libraries, and what they are called here
ELSEWHERE = {
    **dict.fromkeys(("cluster", "clusters", "cluster_col", "group", "groups", "psu", "unit"), ("units", "groups")),
    **dict.fromkeys(("grp", "groupby", "group_by", "subgroup", "subgroups", "slice", "slices"), ("by",)),
    **dict.fromkeys(("metric", "metrics", "scoring"), ("metrics", "scoring")),
    **dict.fromkeys(("value", "values", "y"), ("score",)),
    **dict.fromkeys(("pos_label", "positive_class"), ("positive",)),
    **dict.fromkeys(("y_true", "label", "labels", "target", "actual"), ("truth",)),
    **dict.fromkeys(("y_pred", "prediction", "predictions", "pred"), ("predicted",)),
    **dict.fromkeys(("y_prob", "y_proba", "y_score", "probability"), ("score",)),
    "proba": ("score", "probability"),
    **dict.fromkeys(("sample_weight", "weight"), ("weights",)),
    **dict.fromkeys(("seed", "random_state"), ("rng",)),
    **dict.fromkeys(("sampling", "survey_design"), ("design",)),
    **dict.fromkeys(("n", "number"), ("size",)),
    **dict.fromkeys(("n_splits", "folds", "k"), ("cv", "folds")),
    **dict.fromkeys(("alpha", "confidence", "confidence_level", "conf_level"), ("level",)),
    **dict.fromkeys(("stratum", "stratify"), ("strata",)),
    **dict.fromkeys(("fpc", "population_size", "N"), ("population",)),
    **dict.fromkeys(("probabilities", "propensity"), ("probability",)),
    **dict.fromkeys(("factors", "random_effects"), ("crossed",)),
}


# arguments that are values of their own, and what belongs in them
PARTS = {
    "design": (
        "strat.Sampling",
        (
            *("population", "fpc", "crossed", "kinds", "order", "differences", "start", "stages"),
            *("collapse_by", "replicate_weights", "scale", "mse"),
        ),
    ),
    "proxy": ("strat.Proxy", ("probability", "label_strata", "estimator", "calibrate")),
}
# keywords that make another function of this one
OTHER_CALLS = {
    ("brr", "fay"): "strat.fay(design, rho=0.3)",
    ("brr", "rho"): "strat.fay(design, rho=0.3)",
    ("fay", "fay"): "strat.fay(design, rho=0.3)",
}


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, which then gets numbers, flags, seeds, columns and our own classes as annotated, or is not called.

    Numbers, whole numbers, flags and seeds become plain Python values, so that a small NumPy type never overflows
    within. What is raised within goes on as it is: it is ours, or comes from a function that the caller gave.

    >>> import numpy as np
    >>> @checked
    ... def half(n: "int") -> "float":
    ...     return n / 2
    >>> half(np.int8(6))
    3.0
    >>> half("six")
    Traceback (most recent call last):
    ...
    strat.base.errors.StratError: `n` must be a number, got 'six'.
    >>> half(m=6)
    Traceback (most recent call last):
    ...
    TypeError: half() got an unexpected keyword argument 'm'
    """
    parameters, scope, in_order = signature(function), function.__globals__, same_order
    each = parameters.parameters.values()
    simple = all(one.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY) for one in each)
    placed = [one.name for one in each if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
    required, known = {one.name for one in each if one.default is Parameter.empty}, {one.name for one in each}

    @cache
    def checks() -> dict[str, Check]:
        return checks_of(parameters, scope)

    def wrong(args: Any, named: Mapping[str, Any]) -> TypeError:
        return TypeError(_wrong_call(function, parameters, args, named))

    def call(*args: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        if simple:  # what `bind` does, at a tenth of its price
            given = {**dict(zip(placed, args, strict=False)), **named}
            if len(given) != len(args) + len(named) or not required <= given.keys() <= known:
                raise wrong(args, named) from None
        else:
            try:
                bound = parameters.bind(*args, **named)
            except TypeError:
                raise wrong(args, named) from None
            given = bound.arguments
        in_order(given)
        for name, check in checks().items():
            if name in given:
                given[name] = check(name, given[name])
        args, named = ((), given) if simple else (bound.args, bound.kwargs)
        return function(*args, **named)

    # in the module of the function, where documentation tools and pickle look for it
    outer = FunctionType(call.__code__, function.__globals__, function.__name__, None, call.__closure__)
    return cast(Callable[P, R], update_wrapper(outer, function))


def with_hints(cls: C) -> C:
    """The class, whose constructor says which keyword was meant, or which ones there are.

    >>> @with_hints
    ... class Box:
    ...     def __init__(self, *, width: int = 1, height: int = 1) -> None: ...
    >>> Box(widht=2)
    Traceback (most recent call last):
    ...
    TypeError: Box.__init__() got an unexpected keyword argument 'widht'; did you mean 'width'?
    >>> Box(colour=2)
    Traceback (most recent call last):
    ...
    TypeError: Box.__init__() got an unexpected keyword argument 'colour'; there are width, height
    """
    construct = cls.__init__  # type: ignore[misc]
    parameters = signature(construct)

    @wraps(construct)
    def __init__(self: Any, *args: Any, **named: Any) -> None:
        try:
            parameters.bind(self, *args, **named)
        except TypeError:
            raise TypeError(_wrong_call(construct, parameters, (self, *args), named, listed=True)) from None
        construct(self, *args, **named)

    cls.__init__ = __init__  # type: ignore[misc]
    return cls


def _wrong_call(
    function: Callable[..., Any], parameters: Signature, args: Any, named: Mapping[str, Any], *, listed: bool = False
) -> str:
    """What Python says of such a call, and the keyword that was meant, or else, if `listed`, all that there are."""
    try:
        function(*args, **named)  # never runs: its arguments do not bind
    except TypeError as error:
        message = str(error).partition(". Did you mean")[0]
    unknown = next((name for name in named if name not in parameters.parameters), None)
    if unknown is None:
        return message + _named_only(parameters, args, named)
    if line := OTHER_CALLS.get((function.__name__, unknown)):
        return f"{message}; type {line}"
    names = [name for name in parameters.parameters if name not in {"self", "cls", *named}]
    return message + (_meant(unknown, names) or (f"; there are {', '.join(names)}" if listed else ""))


def _named_only(parameters: Signature, args: Any, named: Mapping[str, Any]) -> str:
    """A hint at arguments that have to be named, where more than the others were given without a name."""
    each = parameters.parameters.values()
    placed = sum(parameter.kind <= Parameter.POSITIONAL_OR_KEYWORD for parameter in each)
    if len(args) <= placed:
        return ""
    free = [one.name for one in each if one.kind is Parameter.KEYWORD_ONLY and one.name not in named]
    return f"; name the others: {', '.join(f'{name}=…' for name in free[: len(args) - placed])}" if free else ""


def _meant(unknown: str, names: Sequence[str]) -> str:
    """A hint at the parameter that goes by another name elsewhere, or has nearly this one."""
    for argument, (value, fields) in PARTS.items():
        if argument in names and unknown in fields:
            return f"; it is part of {argument}={value}({'population' if unknown == 'fpc' else unknown}=…)"
    known = [name for name in ELSEWHERE.get(unknown, ()) if name in names]
    close = known[:1] or close_names(unknown, names)
    return f"; did you mean {close[0]!r}?" if close else ""
