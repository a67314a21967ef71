"""What can go wrong, said with the argument, the value and the way out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

NUMPY_SCALAR = re.compile(r"\bnp\.(?:bool|str_|float\d+|u?int\d+)\(([^()]*)\)|\bnp\.(True|False)_")


LINE_BREAK = re.compile(r"\s*\n\s*")
LONG_WORD = re.compile(r"\S{200,}")
LONGEST = 1000  # characters in a message


class StratError(ValueError):
    """An error in the data, the design or the arguments, explained in one sentence.

    Values are written as in plain Python, whichever library they come from.

    Parameters
    ----------
    message
        The sentence, for what is wrong with data, a file or a machine.
    argument
        The argument that it is about, if it is about one; :meth:`about` makes the sentence from it.

    Attributes
    ----------
    argument
        The argument to correct, for programs that have a field or an option for it; None: data, a file, a machine.

    Examples
    --------
    >>> error = StratError.about("level", "must lie below 1, got np.float64(2.0).")
    >>> print(error, error.argument)
    `level` must lie below 1, got 2.0. level
    >>> StratError("`a.csv` must have at least one row, got none.").argument is None
    True
    """

    argument: str | None

    def __init__(self, message: str = "", *, argument: str | None = None) -> None:
        super().__init__(_sentence(NUMPY_SCALAR.sub(lambda match: match[1] or match[2] or "", message)))
        self.argument = argument

    @classmethod
    def about(cls, argument: str, predicate: str) -> StratError:
        """An error about an argument: "`argument` must be …, got VALUE; way out."."""
        space = "" if predicate[:1] in ",:;" else " "
        return cls(f"`{argument}`{space}{predicate}", argument=argument)

    def spelled(self, names: Mapping[str, str], *, argument: str | None = None) -> StratError:
        """The same error with arguments spelled as a command line has them; `argument` is the one to correct instead.

        A sentence about data keeps its words: a column may be called as an argument is.

        >>> error = StratError.about("positive", "must name a class; for example positive='a', or nested=True.")
        >>> print(error.spelled({"positive": "--positive", "nested": "--nested"}))
        `--positive` must name a class; for example --positive 'a', or --nested.
        """
        message = str(self)
        for name, option in names.items():
            if self.argument is not None:
                message = message.replace(f"`{name}`", f"`{option}`")
            message = re.sub(rf"\b{name}=True\b", option, message)
            message = re.sub(rf"\b{name}=", f"{option} ", message)
            message = re.sub(rf" \(command line: {option}[^)]*\)", "", message)
        return StratError(message, argument=argument or self.argument)

    def continued(self, clause: str) -> StratError:
        """The same error with a further clause at the end of its sentence.

        >>> print(StratError.about("score", "must be numbers, got 'a'.").continued("; is it the truth?"))
        `score` must be numbers, got 'a'; is it the truth?
        """
        return StratError(str(self).rstrip(".") + clause, argument=self.argument)


def _sentence(message: str) -> str:
    """`message` on one line and short enough to read, whatever value it quotes."""
    if len(message) < 200 and "\n" not in message:
        return message
    line = LONG_WORD.sub(lambda match: short(match[0]), LINE_BREAK.sub(" ", message))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 200]}…{line[-199:]}"


class StratWarning(UserWarning):
    """A caution where no result can carry a note: bare numbers, a slower kernel, a test runner that shows warnings."""


def some(values: Iterable[object], most: int = 5) -> str:
    """The first few values for an error message, with a count of the rest.

    >>> some(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    items = list(values)
    shown = ", ".join(short(repr(plain(v))) for v in items[:most])
    rest = len(items) - most
    return f"{shown} and {rest} more" if rest > 0 else shown


def short(text: str, most: int = 120) -> str:
    """`text`, or its beginning and end if it is longer than a message should be.

    >>> short("x" * 200, most=9)
    'xxxx…xxxx'
    """
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


def visible(text: str) -> str:
    r"""`text` on one line, with what a terminal would act on spelled out.

    >>> visible("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def drawable(text: object) -> str:
    r"""`text` as a label of a picture: control characters spelled out, dollar signs as they are and no formula.

    >>> print(drawable("$10 to $30"))
    \$10 to \$30
    """
    return visible(str(text)).replace("$", r"\$")


def plain(value: object) -> Any:
    """The Python value behind a NumPy scalar, so that messages read `3` and not `np.int64(3)`."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", None) == 0 else value


def near(name: str, options: Sequence[str] | Mapping[str, str], *, listed: str = "") -> str:
    """A hint that ends an error about an unknown name: names that may be meant, or else what there is.

    `listed` says where all of them are listed, if they are too many to say; a mapping says how each is written.

    >>> near("presicted", ["truth", "predicted"]), near("truth", ["guess"])
    ("did you mean 'predicted'?", "there are 'guess'.")
    >>> near("acuracy", ["accuracy"], listed="dir(strat.measures)")
    "did you mean 'accuracy' (dir(strat.measures) lists all)?"
    """
    written = options if isinstance(options, Mapping) else dict(zip(options, options, strict=True))
    if close := [written[one] for one in close_names(name, list(written))]:
        every = f" ({listed} lists all)" if listed else ""
        return f"did you mean {' or '.join(short(repr(c)) for c in close)}{every}?"
    if listed:
        return f"{listed} lists all."
    return f"there are {some(options, 12)}." if options else "there are none."


def close_names(name: str, options: Sequence[str]) -> list[str]:
    """Up to three options that `name` may be a misspelling or a part of, the nearest first; never a far guess.

    Three signs in ten may differ, in names of two or three signs one that is not the first; or the name is the
    beginning of an option or a word of it. Of these, only options about as near as the nearest one.

    >>> close_names("evalute", ["evaluate", "gate", "votes"]), close_names("Spec", ["specificity", "sensitivity"])
    (['evaluate'], ['specificity'])
    >>> close_names("selection_rate", ["selectivity", "misclassification_rate", "false_negative_rate"])
    []
    """
    wanted = _folded(name)
    cutoff = max(0.5, min(0.7, 1 - 1.01 / max(len(wanted), 1)))
    matcher = difflib.SequenceMatcher(b=wanted, autojunk=False)
    likeness = {}
    for option in options:
        matcher.set_seq1(folded := _folded(option))
        inside = len(wanted) > 2 and (folded.startswith(wanted) or f"_{wanted}_" in f"_{folded}_")
        alike = len(wanted) > 3 or folded[:1] == wanted[:1]
        if inside or (alike and matcher.quick_ratio() >= cutoff and matcher.ratio() >= cutoff):
            likeness[option] = matcher.ratio()
    least = max(likeness.values(), default=0.0) - 0.1
    return sorted((option for option, ratio in likeness.items() if ratio >= least), key=lambda o: -likeness[o])[:3]


def _folded(name: str) -> str:
    """The name without capitals, and with one sign between words."""
    return name.casefold().replace("-", "_").replace(" ", "_")


def one_of(argument: str, value: object, options: Sequence[str]) -> str:
    """`value` if it is among `options`, else an error that names them."""
    if isinstance(value, str) and value in options:
        return value
    raise StratError.about(
        argument, f"must be one of {', '.join(map(repr, options))}, got {short(repr(plain(value)))}."
    )
