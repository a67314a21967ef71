import strat

qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
raised = strat.measures.ndcg(qrels, {"q1": {"d1": 0.9, "d2": 0.9}, "q2": {"d1": 0.4, "d2": 0.3}})
silent = strat.measures.ndcg(qrels, {"q1": {"d1": 0.9, "d2": 0.1}, "q2": {"d1": 0.4, "d2": 0.3}})
