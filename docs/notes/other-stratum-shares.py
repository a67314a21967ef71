import strat

old, new = strat.mean([5, 7] * 20), strat.mean([4, 7] * 20)
even = strat.Design.stratified(strata=["day", "night"] * 20)
uneven = strat.Design.stratified(strata=["day"] * 30 + ["night"] * 10)
raised = strat.comparison.unpaired(new, old, on_a=even, on_b=uneven, higher_is_better=True)
same = uneven.reweighted({"day": 0.5, "night": 0.5})
silent = strat.comparison.unpaired(new, old, on_a=even, on_b=same, higher_is_better=True)
