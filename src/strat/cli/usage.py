"""What is said of options that a command does not have, or that are given twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from strat.base.errors import near

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

# what to do where several were meant: command and option
SEVERAL = "; strat compare takes one for each system"
AGAIN = {
    ("evaluate", "--predicted"): SEVERAL,
    ("evaluate", "--score"): f"{SEVERAL}, and nri and idi take the old model's risk as --predicted",
    ("check", "--predicted"): "; check one system at a time",
    ("check", "--score"): "; check one system at a time",
    **dict.fromkeys(
        ((command, "--system") for command in ("compare", "gate")),
        "; it names the column of systems in a long table, and columns of systems are --predicted or --score",
    ),
}


def watched(command: Any) -> None:
    """Make the command name the option that was meant, and refuse one that is given twice, which would lose a value."""
    parse, make_parser = command.parse_args, command.make_parser

    def parse_args(ctx: Any, args: list[str]) -> Any:
        try:
            return parse(ctx, args)
        except UsageError as error:
            if hasattr(error, "option_name") and hasattr(error, "possibilities"):  # there is no such option
                names = [name for one in command.params for name in one.opts if name.startswith("--")]
                ctx.fail(f"there is no option {error.option_name}; {meant(error.option_name, names)}")
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
            option, times = parameter.opts[0], order.count(parameter)
            ctx.fail(f"{option} takes one value, and is given {times} times{AGAIN.get((ctx.info_name, option), '')}.")


def meant(unknown: str, options: list[str]) -> str:
    """What to say of an option that there is not: how it is called here, or those that resemble it.

    >>> meant("--y-true", ["--truth", "--score"])
    "did you mean '--truth'?"
    >>> meant("--report", ["--html", "--output"])
    "did you mean '--html'?"
    """
    from strat.base.validate.arguments import ELSEWHERE  # needs NumPy, which `strat --help` does without

    name = unknown.lstrip("-").replace("-", "_")
    known = [f"--{one}" for one in (*OPTIONS.get(name, ()), *ELSEWHERE.get(name, ())) if f"--{one}" in options]
    return f"did you mean {known[0]!r}?" if known else near(unknown, options)
