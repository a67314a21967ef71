"""Comparisons of models and studies of readers as content of a page."""

from __future__ import annotations

from itertools import combinations

from strat.base.text import counted
from strat.comparison.readers import COLUMNS, ReaderStudy
from strat.show.render import Sheet, jsonable
from strat.show.report.model import Answer, Grid, Mark, Section, Text, Told
from strat.show.report.wording import stop
from strat.verbs.model_verdicts import ModelComparison


def of_models(result: ModelComparison, name: str = "") -> Told:
    """Which model is best and how many of the others differ from it, with every test of every pair."""
    sheet = result.table()
    grid = Grid(sheet, "Tests of each pair of models, by the recommended test and by the others")
    section = Section(name or "Models", (grid, Text(tuple(sheet.notes), "How it was tested, and what it cost")))
    facts = (
        ("Splits", result.protocol),
        ("Design of the test rows", result.sampling.summary),
        ("Practical equivalence", f"differences up to {result.rope:g}, for the posterior probabilities alone"),
    )
    answer = Answer(stop(_best(result)))
    return Told(answer, (section,), facts, notes=tuple(result.all_notes()), data=jsonable(dict(sheet.data or {})))


def _best(result: ModelComparison) -> str:
    """The best model by the first measure, and what the corrected tests say of the others."""
    metric, best = next(iter(result.metrics)), result.best()
    adjusted = result.pvalues()
    pairs = [pair for pair in combinations(result.models, 2) if best in pair]
    differing = sum(adjusted[pair] < 1.0 - result.level for pair in pairs)
    verdict = "no other is shown to differ from it"
    if differing:
        verdict = (
            f"it differs from {differing} of the {counted(len(pairs), 'other')}" if len(pairs) > 1 else "they differ"
        )
    return (
        f"{best} has the best mean {metric} of {len(result.models)} models, {result.mean(best):.4g}; {verdict} "
        f"(corrected for {counted(len(adjusted), 'pair')})"
    )


def of_readers(result: ReaderStudy, name: str = "") -> Told:
    """The readers' average AUC of each treatment, and the differences, with the AUC of each reader."""
    every = (*result.values, *result.differences)
    lines = [one.to_dict() for one in every]
    header = ("treatment", "AUC", "se", "df", "95 % low", "95 % high", "p")
    values = Sheet("", header, [[line["name"], *(line[key] for key in COLUMNS)] for line in lines])
    marks = tuple(Mark(line["value"], line["low"], line["high"]) for line in lines[: len(result.values)])
    differences = Sheet("", ("difference", *header[1:]), values.rows[len(marks) :])
    averages = Grid(Sheet("", header, values.rows[: len(marks)]), "AUC, averaged over readers", marks)
    by_reader = Sheet("", ("reader", *map(str, result.treatments)), [
        [reader, *column] for reader, column in zip(result.readers, result.auc.T.tolist(), strict=True)
    ])  # fmt: skip
    grids = [averages]
    grids += [Grid(differences, "Differences of these averages")] if result.differences else []
    section = Section(name or "Reader study", (*grids, Grid(by_reader, "AUC of each reader")))
    readers, cases = counted(len(result.readers), "reader"), counted(result.cases, "case")
    facts = (
        ("Design", f"crossed: each of {readers} rated each of {cases}; both were sampled"),
        ("Target of inference", "readers and cases like these"),
    )
    method = f"The variance is that of {METHODS[result.method]}, with Hillis's degrees of freedom."
    answer = Answer(stop(str((*result.differences, *result.values)[0])), f"AUC, averaged over {readers}.")
    return Told(answer, (section,), facts, (method,), data=jsonable(result.to_dict()))


METHODS = {"obuchowski-rockette": "Obuchowski and Rockette (1995)", "u-statistic": "Gallas (2006)"}
