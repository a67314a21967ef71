import strat

table = {"right": ([1] * 19 + [0]) * 12, "passage": [i // 20 for i in range(240)]}
asked = {"score": "right", "metrics": "mean", "units": "passage", "higher_is_better": True}
raised = strat.gate(table, **asked, floor=0.9)
silent = strat.gate(table, **asked, floor=0.8)
