import strat

old = {"item": [1, 2, 3, 4], "score": [1, 0, 1, 0]}
new = {"item": [1, 2, 3, 5, 6], "score": [1, 1, 0, 1, 1]}
same = {"item": [1, 2, 3, 4], "score": [1, 1, 0, 1]}
names = {"items": "item", "score": "score", "unmatched": "common"}
raised = strat.compare({"old": old, "new": new}, **names)
silent = strat.compare({"old": old, "new": same}, **names)
