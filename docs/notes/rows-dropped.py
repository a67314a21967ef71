import strat

table = {"label": ["a", "b", "NA", "a"] * 5, "guess": ["a", "b", "b", "b"] * 5}
whole = {name: [one for one in values if one != "NA"] for name, values in table.items() if name == "guess"}
raised = strat.compare(table, truth="label", predicted=["guess", "label"], missing="drop")
silent = strat.compare({**whole, "label": whole["guess"]}, truth="label", predicted=["guess", "label"], missing="drop")
