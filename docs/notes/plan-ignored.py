import strat

plan = strat.Plan(population="stratified clusters")
rows = strat.Design.simple_random(n=8)
as_planned = strat.Design.clustered(
    ["ann", "ann", "bob", "bob", "cy", "cy", "dee", "dee"], strata=[1, 1, 1, 1, 2, 2, 2, 2]
)
minutes = strat.mean([3, 4, 6, 5, 4, 4, 7, 6])
raised = strat.estimate(minutes, on=rows.with_plan(plan))
silent = strat.estimate(minutes, on=as_planned.with_plan(plan))
