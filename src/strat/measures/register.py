"""The register of measures: one record for each, entered where its function is defined.

Whatever knows measures by name reads it: `metrics=` of every verb, scorers of models, the files of fields, hints, the
help and the reference page. `strat.measures.index`, which is generated from it, says which module has which word, so
that one word imports one module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import import_module
from inspect import Parameter, signature
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import numpy as np

from strat.base.elsewhere import LINES
from strat.base.errors import StratError, close_names, near, some
from strat.base.notes import read_on_command_line
from strat.base.validate.arguments import shown
from strat.base.validate.columns import Codes, encode
from strat.measures import index
from strat.measures.base import Statistic
from strat.measures.positive import positive_of
from strat.measures.quotients import share_slopes

Columns = Mapping[str, Any]  # by role; "positive" is the class to look at, "labels" are all that there are
Build = Callable[[Columns], Statistic]
Groups = tuple[Codes | None, tuple[Statistic, ...]]  # for each row the statistic that its group takes (None: the only)
Function = TypeVar("Function", bound=Callable[..., Statistic])
LABELS, SCORES, THREE = ("truth", "predicted"), ("truth", "score"), ("truth", "predicted", "score")
TRIES = ("score", "items")
RUNS = ("qrels", "run")
UNBOUNDED = (-np.inf, np.inf)
ROLES = ("truth", "predicted", "score", "items")  # of the columns of a table
FILES = ("runs", "turns", "boxes", "masks")  # of fields, which hold what no table does
AVERAGES = ("macro", "micro", "weighted")
AUTO = "auto"  # of the positive class where there are two classes, else macro
NOTHING: Mapping[str, Any] = MappingProxyType({})
NUMBER = re.compile(r"(?P<stem>.+?(?:@|\^))(?:(?P<argument>[a-z]+)=)?(?P<number>[0-9]*\.?[0-9]+)")
PERCENTILE = re.compile(r"^p([0-9]{2})$")  # p95: the latency that 95 of 100 do not exceed
WORD = re.compile(r"[^\W\dA-Z][^A-Z\s@]*[@^]?|[a-z][a-z0-9_:+−-]*")
CLASS = re.compile(r"(.+)\[(.+)\]")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Measure:
    """All that any part of the library knows of a measure.

    Attributes
    ----------
    name
        Its one name in files and tests; one that ends in "@" or "^" takes a number behind it.
    function
        The function that makes its statistic, which anybody can call.
    needs
        The roles of the columns that it is made of, in the order of the function's arguments; "items" goes by name.
        Roles that no table has ("qrels", "run") are what the files of a field hold.
    also
        The words of other trades and tools.
    reads
        What the function takes: labels as they are, numbers, texts, a pair of ratings for each row, or a matrix.
    of
        What a unit of it is: a row; an item, whose repeats it is made of; or a pair of rows, which it compares.
    at, at_also
        The argument that the number behind "@" sets, and other names for it, as in "fnmr@fmr=0.001".
    averaged
        Whether it is a share of each class, which is averaged or had for each.
    unit, bounds
        What its value is counted in, and where it can lie.
    higher_is_better
        Whether a larger value is a better one; None: the best value lies between, or that depends on what is counted.
    looks_at
        Of a share of rows, which rows these are: "all", those of a true class ("positive", "negative"), or those that
        are "called positive" or "called negative".
    mixes_classes
        Whether it holds for classes in the proportions of the sample.
    symmetric
        Whether it is the same whichever of two classes is the positive one.
    of_totals
        Whether it is a function of totals, so that systems can be compared by it.
    files
        What `strat score` reads it from: "texts", "runs", "turns", "boxes" or "masks"; none: no files of its own.
    reference
        Where it is defined.
    given
        The arguments of the function that the word sets.
    make
        From the columns of a table to the statistic, where that is not the function of these columns.
    together
        From the columns of all rows to a statistic whose function takes the totals of each of many groups, or to
        several. None: see `shared`.
    own
        Whether it is somebody's own, of which nothing is known: it may count rows.
    word
        What was asked for, which is what is shown.
    """

    name: str
    function: Callable[..., Statistic]
    needs: tuple[str, ...]
    also: tuple[str, ...] = ()
    reads: Literal["labels", "numbers", "texts", "pairs", "matrix"] = "labels"
    of: Literal["row", "item", "pair"] = "row"
    at: str | None = None
    at_also: tuple[str, ...] = ()
    averaged: bool = False
    unit: str = "share"
    bounds: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool | None = True
    looks_at: str = ""
    mixes_classes: bool = False
    symmetric: bool = False
    of_totals: bool = True
    files: str | None = None
    reference: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    make: Callable[..., Statistic] | None = None
    together: Callable[[Measure, Columns], Groups] | None = None
    own: bool = False
    word: str = ""

    def __str__(self) -> str:
        """The one spelling of the measure, its average, number and class, which `named` reads back."""
        average, number = self.given.get("average"), self.given.get(self.at or "")
        head = f"{average}_" if average in AVERAGES and self.averaged else ""
        tail = "" if number is None else f"{number:g}" if self.name[-1] in "@^" else f"@{number:g}"
        return f"{head}{self.name}{tail}" + (f"[{self.given['positive']}]" if "positive" in self.given else "")

    def __repr__(self) -> str:
        """The spelling: a list of measures is read as one of names."""
        return str(self)

    @cached_property
    def arguments(self) -> Mapping[str, Parameter]:
        """The arguments of its function."""
        return signature(self.function).parameters

    @property
    def call(self) -> str:
        """How its function is called, with the arguments that it must have."""
        needed = [name for name, one in self.arguments.items() if one.default is Parameter.empty]
        words = [f"{name}={name}" if self.arguments[name].kind is Parameter.KEYWORD_ONLY else name for name in needed]
        return f"strat.measures.{self.function.__name__}({', '.join(words)})"

    @property
    def needs_number(self) -> bool:
        """Whether it is none without the number behind "@"."""
        if self.at is None or self.at in self.given:
            return False
        return self.name[-1] in "@^" or self.arguments[self.at].default is Parameter.empty

    @property
    def of_tables(self) -> bool:
        """Whether the columns of a table say all that it needs."""
        return set(self.needs) <= set(ROLES) and self.reads != "matrix"

    @property
    def looks_at_one_class(self) -> bool:
        """Whether it asks which class is the positive one."""
        return "positive" in self.arguments and "positive" not in self.given and not self._averaged_already

    @property
    def upwards(self) -> bool:
        """Whether systems are ranked with the larger value first."""
        return self.higher_is_better is not False

    @property
    def takes_average(self) -> bool:
        """Whether it is averaged over classes in a way that its word does not say."""
        return self.averaged and not self._averaged_already

    @property
    def _averaged_already(self) -> bool:
        """Whether its word says how it is averaged over classes."""
        return self.averaged and "average" in self.given

    @property
    def by_rows(self) -> bool:
        """Whether it looks at rows one by one, so that it can't be made of distinct rows with weights."""
        return self.own or "items" in self.needs or self.reads == "pairs"

    def build(self, columns: Columns) -> Statistic:
        """The statistic of these columns."""
        if self.make is not None:
            return self.make(columns, **self.given)
        data = [self._read(columns[role]) for role in self.needs if role != "items"]
        if self.reads == "pairs":
            data = [[list(pair) for pair in zip(*data, strict=True)]]
        return self.function(*data, **self._given(columns))

    def _read(self, column: Any) -> Any:
        """A column as the function takes it; what a reader took for numbers is text again."""
        values = np.asarray(column)
        if self.reads == "numbers" and values.dtype.kind in "biuf":
            return values.astype(float, copy=False)
        if self.reads in ("pairs", "texts"):
            return values.tolist() if self.reads == "pairs" else [str(value) for value in values.tolist()]
        return column

    def _given(self, columns: Columns) -> dict[str, Any]:
        """The keywords of the function."""
        given = dict(self.given)
        if "items" in self.needs:
            given["items"] = columns["items"]
        if "positive" not in self.arguments or (self.averaged and given.get("average", "binary") != "binary"):
            return given
        positive = given.get("positive", columns.get("positive"))
        if self.needs not in (LABELS, LABELS[1:]):
            return given | {"positive": positive}
        labels = columns.get("labels") or labels_of(*(columns[role] for role in self.needs))
        if self.averaged and positive is None and len(labels) > 2:
            return given | {"average": "macro"}
        return given | {"positive": positive_of(labels, positive)}

    def with_average(self, average: str | None) -> Measure:
        """The same averaged in this way, or (None) one value of each class."""
        return replace(self, given={**self.given, "average": average})


def labels_of(*columns: Any) -> tuple[Any, ...]:
    """The distinct labels of several columns."""
    return tuple(np.unique(np.concatenate([encode("predicted", column)[1] for column in columns])).tolist())


def of_one_class(measure: Measure, columns: Columns) -> Groups:
    """The same statistic of one class for all groups; averages over classes are of those that a group holds."""
    statistic = measure.build(columns)
    return None, () if statistic.positive is None else (statistic,)


def of_classes_there(measure: Measure, columns: Columns) -> Groups:
    """The same, and the macro mean over the classes that a group holds, of a share that is 0 / 0 for no others."""
    statistic = measure.build(columns)
    if statistic.positive is not None:
        return None, (statistic,)
    if measure.given.get("average", "macro") != "macro":
        return None, ()
    given = {**measure.given, "average": "macro", "zero_division": float("nan")}
    return None, (measure.function(columns["truth"], columns["predicted"], **given),)


def one_for_all(measure: Measure, columns: Columns) -> Groups:
    """The same statistic for all groups."""
    return None, (measure.build(columns),)


def shared(measure: Measure, columns: Columns) -> Groups:
    """The statistics that groups share; none where a group's statistic is made of its own rows alone.

    One of ours that is the ratio of two sums over rows is the same in any rows.
    """
    if measure.together is not None:
        return measure.together(measure, columns)
    if measure.own or measure.by_rows or not measure.function.__module__.startswith("strat.measures."):
        return None, ()
    statistic = measure.build(columns)
    return None, (statistic,) if statistic.gradient is share_slopes else ()


_ENTERED: dict[str, Measure] = {}  # by word; what the files of a field hold by kind and word: "masks:dice"


def measure(
    name: str,
    *also: str,
    needs: tuple[str, ...] = LABELS,
    given: Mapping[str, Any] = NOTHING,
    variants: Mapping[str, Mapping[str, Any]] = NOTHING,
    **facts: Any,
) -> Callable[[Function], Function]:
    """Enter the function below in the register of measures; it stays the function that it is.

    Its name is then understood wherever a measure is asked for: by every verb, in hints and in the tables of measures.

    Parameters
    ----------
    name
        What it is called.
    *also
        The words of other trades.
    needs
        The roles of the columns that its arguments are, in their order: "truth", "predicted", "score"; "items" is given
        by name.
    given
        Arguments of the function that the name sets.
    variants
        Other names, and the arguments that each sets instead; synonyms behind a blank.
    **facts
        The other attributes of :class:`strat.measures.Measure`.

    Examples
    --------
    >>> import strat
    >>> @measure("ten_or_more", needs=("score",), reads="numbers")
    ... def ten_or_more(points):
    ...     return strat.mean(points >= 10)
    >>> table = {"points": [3, 12, 15, 9]}
    >>> print(strat.evaluate(table, score="points", metrics="ten_or_more")["ten_or_more"].value)
    0.5
    """
    _check_facts((name, *also), facts)

    def enter(function: Function) -> Function:
        own = not function.__module__.startswith("strat.")
        if own and not set(needs) <= set(ROLES):
            raise StratError.about("needs", f"must be some of {some(ROLES)}, got {some(needs)}.")
        entries: dict[str, Measure] = {}
        for words, arguments in (((name, *also), given), *((text.split(), part) for text, part in variants.items())):
            title = name if facts.get("at") in arguments else words[0]  # the words of a number are spelled by it
            one = Measure(
                name=title, function=function, needs=needs, also=tuple(words[1:]), given=arguments, own=own, **facts
            )
            entries |= dict.fromkeys((f"{one.files}:{word}" if one.files in FILES else word for word in words), one)
        for key, one in entries.items():
            _check_free(key, one)
        _ENTERED.update(entries)  # all of them or none
        return function

    return enter


def _check_facts(words: tuple[Any, ...], facts: Mapping[str, Any]) -> None:
    """Fail for words that no grammar can read, and for facts that no record has."""
    known = {one.name for one in fields(Measure)} - {"name", "function", "needs", "also", "given", "own", "word"}
    wrong = next((word for word in words if not isinstance(word, str) or not WORD.fullmatch(word)), None)
    if wrong is not None:
        raise StratError.about(
            "name", f"must be a word of small letters, as in @strat.measure('youden'), got {shown(wrong)}."
        )
    if unknown := next((fact for fact in facts if fact not in known), None):
        raise StratError.about("facts", f"must be facts of a measure, got {unknown!r}; {near(unknown, sorted(known))}")


def _check_free(key: str, new: Measure) -> None:
    """Refuse a second measure of one name; a cell of a notebook may define its own again."""
    old = _ENTERED.get(key)
    ours = index.MODULES.get(key) if new.own else None
    if ours is not None or (old is not None and _place(old) != _place(new)):
        where = ours or (old and old.function.__module__)
        word = key.rpartition(":")[2]
        raise StratError.about("name", f"must be new, got {word!r}, which is a measure of {where}; take another name.")


def _place(one: Measure) -> tuple[str, str, str]:
    return one.name, one.function.__module__, one.function.__qualname__


def _entered(word: str, files: bool) -> Iterator[Measure]:
    """The records that a word stands for: of tables, and then of the files of fields; with `files` the other way."""
    of_files = [f"{kind}:{word}" for kind in FILES]
    for key in (*of_files, word) if files else (word, *of_files):
        _load(key)
        if key in _ENTERED:
            yield _ENTERED[key]


def _load(*keys: str) -> None:
    """Enter these words, if they are ours, by importing their modules."""
    for key in keys:
        if key not in _ENTERED and key in index.MODULES:
            import_module(index.MODULES[key])


def entered() -> dict[str, Measure]:
    """Every word that is known by now, with its record."""
    return dict(_ENTERED)


def every() -> list[Measure]:
    """Every measure that there is: its name, the words of other trades, what it needs, and which way is better.

    >>> [str(one) for one in every() if "sensitivity" in one.also]
    ['recall']
    """
    _load(*index.MODULES)
    return list(dict.fromkeys(_ENTERED[word] for word in (*index.MODULES, *_ENTERED)))


def spellings() -> dict[str, Measure]:
    """The measures of tables that need no number, and of the averaged ones each average, by their spelling."""
    records = [one for one in every() if one.of_tables and not one.needs_number]
    averaged = [one.with_average(average) for one in records if one.averaged for average in AVERAGES]
    return {str(one): replace(one, word=str(one)) for one in (*records, *averaged)}


def named(word: Any, *, files: bool = False, given: Container[str] = ROLES) -> Measure:
    """The measure that a word of any trade means, such as "macro_f1", "f1:macro", "pass@3" or "recall[cancer]".

    With `files` a word stands for a measure of a field's files first; of an unknown one those are proposed which the
    roles in `given` allow.

    >>> print(named("F1-macro"), named("sensitivity"), named("net_benefit@.20"), named("recall[cancer]"))
    macro_f1 recall net_benefit@0.2 recall[cancer]
    >>> named("sensitivity").word
    'sensitivity'
    """
    key, label = _key_and_class(word)
    record = _found(key, files)
    if record is None:
        raise StratError.about("metrics", f"must be names of measures, got {shown(word)}; {_hint(key, given)}")
    if label is not None and ("positive" not in record.arguments or "average" in record.given):
        problem = f"must name a class only behind measures of one class, got {shown(word)}; write {str(record)!r}."
        raise StratError.about("metrics", problem)
    if record.needs_number:
        example = f"{key.rstrip('@')}{'' if key.endswith('^') else '@'}{3 if record.at == 'k' else 0.1}"
        raise StratError.about("metrics", f"must have a number behind {key!r}, as in {example!r}.")
    if label is None:
        return replace(record, word=key)
    binary = {"average": "binary"} if record.averaged else {}
    return replace(record, word=f"{key}[{label}]", given={**record.given, **binary, "positive": label})


def _key_and_class(word: Any) -> tuple[str, str | None]:
    """A word as it is looked up: small letters, and one sign between words; and the class that it names."""
    text, label = str(word).strip(), None
    if in_class := CLASS.fullmatch(text):
        text, label = in_class.groups()
    return re.sub(r"(?<=.)[- ](?=.)", "_", text.lower()), label


def _found(key: str, files: bool) -> Measure | None:
    """The measure that a key means, with its number or its average."""
    numbered = NUMBER.fullmatch(PERCENTILE.sub(r"latency@0.\1", key))
    return _numbered(numbered, files) if numbered else _averaged(key, files)


def known(word: Any) -> Measure | None:
    """The measure that a word means; None for a name of something else, for which no hint is looked up."""
    if _found(_key_and_class(word)[0], False) is None:
        return None
    try:
        return named(word)
    except StratError:  # without the number or with a class that it should not have
        return None


def spelled(word: str) -> str:
    """The spelling that all words of a measure share; of any other name the name itself."""
    measure = known(word)
    return word if measure is None else str(measure)


def line_for(word: str) -> str | None:
    """How a measure is called that other tools have under this name; None: there is none.

    >>> line_for("f1_score")
    'strat.measures.f1(truth, predicted)'
    """
    for record in _entered(word, files=False):
        return record.call
    return None


def _numbered(parts: re.Match[str], files: bool) -> Measure | None:
    """The measure that a word such as "pass@3" or "fnmr@fmr=0.001" means."""
    stem, value = parts["stem"], float(parts["number"])
    average = _averaged(stem[:-1], files)
    for record in (*_entered(stem, files), *_entered(stem[:-1], files), *([average] if average else ())):
        if record.at is not None and parts["argument"] in (None, record.at, *record.at_also):
            return replace(record, given={**record.given, record.at: int(value) if value.is_integer() else value})
    return None


def _averaged(key: str, files: bool) -> Measure | None:
    """The measure of this name, or the average of one that its name says: "macro_f1", "f1_macro" or "f1:macro"."""
    for record in _entered(key, files):
        return record
    if key.endswith("_score"):  # as scikit-learn calls its functions
        return _averaged(key.removesuffix("_score"), files)
    for average in AVERAGES:
        stem = key.removeprefix(f"{average}_").removesuffix(f"_{average}").removesuffix(f":{average}")
        for record in _entered(stem, files) if stem != key else ():
            return record.with_average(average) if record.averaged else None
    return None


def _hint(key: str, given: Container[str]) -> str:
    """What may be meant by an unknown word: at most three measures that these columns allow."""
    if f"{key}@" in index.MODULES:
        return f"a number belongs behind it, as in '{key}@0.1'."
    if line := LINES.get(f"measures.{key}") or LINES.get(key):
        return "that is a call of Python, not a measure." if read_on_command_line() else f"type {line}."
    if key in index.HOMES:
        return f"it takes other arguments than columns: see strat.measures.{key}."
    every_word, listed = words(), "--help" if read_on_command_line() else "strat.measures.every()"
    possible = [word for word, one in every_word.items() if all(role in given for role in one.needs)]
    return near(key, possible if close_names(key, possible) else list(every_word), listed=listed)


def words() -> dict[str, Measure]:
    """Every word that needs no number, with its measure."""
    every()
    known = {word: one for word, one in _ENTERED.items() if one.of_tables and not one.needs_number}
    averaged = {f"{one.name}_{average}": one for one in known.values() if one.averaged for average in AVERAGES}
    return known | averaged | spellings()
