import strat

scores = [[9, 2, 1, 3, 2], [1, 8, 3, 2, 1], [3, 1, 7, 2, 3], [2, 3, 1, 9, 1], [0, 0, 0, 0, 0]]
people = ["ann", "bob", "cy", "dee", "eve"]
raised = strat.recognition.ranks(similarity=scores, probes=people, gallery=people)
failed = [name == "eve" for name in people]
silent = strat.recognition.ranks(similarity=scores, probes=people, gallery=people, failed_probes=failed)
