"""What is said of options that a command does not have, or that are given twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from strat.validate.arguments import ELSEWHERE

UsageError: Any = typer.BadParameter.__base__  # Typer's own or Click's, by its version
# what people type for options that no function has
OPTIONS = {
    **dict.fromkeys(("report", "page"), ("html", "output")),
    **dict.fromkeys(("out", "save", "csv"), ("output", "out")),
    **dict.fromkeys(("figure", "png", "image"), ("plot",)),
    **dict.fromkeys(("measure", "measures", "statistic"), ("metric",)),
    **dict.fromkeys(("model", "models", "systems"), ("system", "predicted")),
    "system": ("predicted",),
    "silent": ("quiet",),
}


def watched(command: Any) -> None:
    """Make the command name the option that was meant, and refuse one that is given twice, which would lose a value."""
    parse, make_parser = command.parse_args, command.make_parser

    def parse_args(ctx: Any, args: list[str]) -> Any:
        try:
            return parse(ctx, args)
        except UsageError as error:
            if hasattr(error, "option_name") and hasattr(error, "possibilities"):  # there is no such option
                known = meant(error.option_name, [name for one in command.params for name in one.opts])
                error.possibilities = known or error.possibilities
            raise

    def parser_that_counts(ctx: Any) -> Any:
        parser = make_parser(ctx)
        read = parser.parse_args

        def read_once(args: list[str]) -> Any:
            values, rest, order = read(args=args)
            _refuse_twice(ctx, order)
            return values, rest, order

        parser.parse_args = read_once
        return parser

    command.parse_args, command.make_parser = parse_args, parser_that_counts


def _refuse_twice(ctx: Any, order: Sequence[Any]) -> None:
    """Fail where an option that holds one value was given several."""
    for parameter in order:
        once = parameter.param_type_name == "option" and not (
            parameter.multiple or parameter.is_flag or parameter.count
        )
        if once and order.count(parameter) > 1:
            times = order.count(parameter)
            ctx.fail(f"{parameter.opts[0]} is given {times} times, and takes one value: {parameter.help}")


def meant(unknown: str, options: list[str]) -> list[str]:
    """The options that the unknown one stands for.

    >>> meant("--y-true", ["--truth", "--score"])
    ['--truth']
    >>> meant("--report", ["--html", "--output"])
    ['--html']
    """
    name = unknown.lstrip("-").replace("-", "_")
    known = [*OPTIONS.get(name, ()), *ELSEWHERE.get(name, ())]
    return [f"--{one}" for one in known if f"--{one}" in options][:1]
