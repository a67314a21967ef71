"""Programs that a type checker must refuse, at every line that ends in `# wrong`: read by it, never run."""

from __future__ import annotations

import strat
from strat import Design, recognition

table = {"y": [0, 1, 1, 0], "p": [0, 1, 0, 0]}
design = Design.simple_random(n=4)

strat.evaluate(1, nonsense=4)  # wrong
strat.evaluate(table, truth="y", predicted="p", pos_label=1)  # wrong
strat.evaluate(table, truth="y", predicted="p", level="high")  # wrong
strat.evaluate(table, truth="y", predicted="p").acuracy  # wrong
strat.evalute(table)  # wrong
strat.comparson  # wrong
strat.wald(3, 10)  # wrong
strat.compare(table, truth="y", predicted=["p"], seed=1)  # wrong
strat.check(table, truth="y", predictions="p")  # wrong
strat.explain()  # wrong
strat.f1([0, 1])  # wrong
strat.estimate(strat.mean([1.0]), design)  # wrong
strat.estimate(strat.mean([1.0]), on="design")  # wrong
strat.estimate(strat.mean([1.0]), on=design).value.upper()  # wrong
strat.estimate(strat.mean([1.0]), on=design).interval("95 %")  # wrong
strat.bootstrap(design, replicates="many")  # wrong
strat.comparison.mcnemr([0], [0], [0])  # wrong
recognition.ranks(similarities=[[1.0]])  # wrong
strat.planning.rows_for_width(width=0.1, proportions=0.5)  # wrong
strat.estimation.proportions.wilson(0.5, 10, confidence=0.9)  # wrong
