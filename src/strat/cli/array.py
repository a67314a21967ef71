"""`strat array`: make an orthogonal array, check one, or show a finite field."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from strat.algebra import Field, OrthogonalArray, is_balanced, is_fully_balanced, is_orthogonal, orthogonal_array
from strat.algebra import field as finite_field
from strat.base.errors import StratError
from strat.base.files import write_integers_csv, write_npy
from strat.base.limits import LIMITS
from strat.base.text import counted
from strat.base.validate.columns import load
from strat.cli.options import leave_out
from strat.cli.output import JSON, Sheet, emit

SCHEMA = "strat/array/1"

FILE = typer.Argument(None, help="Check this array (.csv or .npy) instead of making one.")
OUT = typer.Option(None, help="Write the symbols, or the powers of a field's generator, to this .csv or .npy file.")

command = typer.Typer(add_completion=False)


@command.command()
def array(
    ctx: typer.Context,
    file: Path | None = FILE,
    levels: int = typer.Option(2, help="Number of symbols: a prime power."),
    columns: int | None = typer.Option(None, help="Number of columns, such as the number of strata."),
    construction: str | None = typer.Option(
        None, help="rotation, rao-hamming, hadamard or difference scheme; the fewest runs by default."
    ),
    out: Path | None = OUT,
    check: bool = typer.Option(False, "--check", help="Check the array however large it is."),
    field: int | None = typer.Option(None, help="Show the finite field of this order instead."),
    modulus: str | None = typer.Option(
        None, help="With --field: its modulus, as comma-separated coefficients, the constant first."
    ),
    as_json: bool = JSON,
) -> None:
    """Make and check an orthogonal array or a Hadamard matrix.

    strat array --levels 3 --columns 40 --out array.csv

    strat array array.csv

    strat array --field 9 --out powers.csv

    An array that is checked and is not orthogonal ends with exit code 1.
    """
    asked = sum(wish is not None for wish in (file, columns, field))
    if asked != 1:
        raise StratError(
            f"`strat array` must have one of a FILE to check, `--columns` and `--field`, got {asked} of them."
        )
    if field is not None:
        leave_out(ctx, "levels", "construction", "check", why="with --field, which makes no array")
    else:
        leave_out(ctx, "modulus", why="without --field")
    if file is not None:
        leave_out(ctx, "levels", "construction", "out", why="with a FILE, which is only checked")
    if out is not None and out.suffix.lower() not in (".csv", ".npy"):
        raise StratError(f"`--out` must end in .csv or .npy, got {str(out)!r}.")
    if field is not None:
        f = finite_field(field, modulus=None if modulus is None else _coefficients(modulus))
        sheet = _field_sheet(f)
        _write(f.listing(), out)
    elif file is not None:
        sheet = _array_sheet(_read(file), f"read from {file.name}", check=True)
    else:
        built = orthogonal_array(levels, columns or 0, construction=construction)
        sheet = _array_sheet(built, built.construction, check=check or built.symbols.size <= LIMITS.checked_symbols)
        _write(built.symbols, out)
    emit(sheet, as_json=as_json)
    if file is not None and not sheet.data["orthogonal"]:
        raise StratError(_refusal(file, sheet.data))


def _coefficients(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise StratError(
            f"`--modulus` must be whole numbers, comma-separated, such as 2,1,1 for x^2 + x + 2, got {text!r}."
        ) from None


def _refusal(file: Path, data: Mapping[str, Any]) -> str:
    """One sentence for scripts, whose exit code is 1: what is wrong with the array that was checked."""
    but = "; the columns are balanced against each other, but some column is not" if data["balanced"] else ""
    return (
        f"`file` must hold an orthogonal array of strength 2, got {file.name!r}, where not every two columns hold "
        f"each pair of symbols equally often{but}."
    )


def _write(symbols: NDArray[Any], out: Path | None) -> None:
    """The rows as a file that appears whole or not at all."""
    if out is None:
        return
    (write_integers_csv if out.suffix.lower() == ".csv" else write_npy)(out, symbols)


def _read(path: Path) -> NDArray[Any]:
    try:
        if path.suffix.lower() == ".npy":
            return _symbols(next(iter(load("file", path).values())), path)
        if path.stat().st_size == 0:
            raise ValueError
        return _symbols(np.loadtxt(path, delimiter=",", ndmin=2), path)
    except OSError as error:
        raise StratError.about(
            "file", f"must be an array that can be read, got {str(path)!r} ({error.strerror})."
        ) from None
    except StratError:
        raise
    except ValueError:
        raise StratError.about(
            "file", f"must hold whole numbers, one run per line, comma-separated, got {str(path)!r}."
        ) from None


def _symbols(values: NDArray[Any], path: Path) -> NDArray[Any]:
    if values.ndim != 2 or values.dtype.kind not in "iufb" or not (np.abs(values) < 2.0**31).all():
        raise StratError.about("file", f"must hold a table of whole numbers below 2^31, got {str(path)!r} without one.")
    return values


def _array_sheet(given: OrthogonalArray | NDArray[Any], how: str, *, check: bool) -> Sheet:
    symbols = given.symbols if isinstance(given, OrthogonalArray) else given
    facts: dict[str, Any] = {"orthogonal": None, "balanced": None, "fully_balanced": None}
    if check:
        facts["orthogonal"] = is_orthogonal(given)
        facts["balanced"] = facts["orthogonal"] or is_balanced(given)
        facts["fully_balanced"] = facts["orthogonal"] or is_fully_balanced(given)
    levels = given.levels if isinstance(given, OrthogonalArray) else len(np.unique(given))
    data = {"runs": len(symbols), "columns": symbols.shape[1], "levels": levels, "construction": how, **facts}
    words = {True: "yes", False: "no", None: "by construction (use --check)"}
    rows = [(name.replace("_", " "), words[value] if name in facts else value) for name, value in data.items()]
    runs, columns = counted(len(symbols), "run", ""), counted(symbols.shape[1], "column", "")
    title = f"{runs} × {columns}, {counted(levels, 'level', '')}"
    return Sheet(SCHEMA, ("property", "value"), rows, title=title, data=data)


def _field_sheet(f: Field) -> Sheet:
    data = {
        "order": f.order,
        "characteristic": f.characteristic,
        "degree": f.degree,
        "modulus": list(f.modulus),
        "primitive": f.primitive,
    }
    rows = [
        ("order", f"{f.order} = {f.characteristic}^{f.degree}"),
        ("modulus", polynomial(f.modulus)),
        ("generator", f"{f.primitive} = {polynomial(tuple(f.digits(f.primitive)))}, of order {f.order - 1}"),
    ]
    return Sheet(SCHEMA, ("property", "value"), rows, title=f"GF({f.order})", data=data)


def polynomial(coefficients: tuple[int, ...]) -> str:
    """A polynomial as people write it, from its coefficients, the constant first.

    >>> polynomial((2, 1, 0, 1))
    'x^3 + x + 2'
    """
    terms = []
    for power, c in reversed(list(enumerate(coefficients))):
        name = "" if power == 0 else "x" if power == 1 else f"x^{power}"
        if c:
            terms.append(name if c == 1 and name else f"{c}{name}")
    return " + ".join(terms) or "0"
