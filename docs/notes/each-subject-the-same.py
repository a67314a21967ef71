import strat

people = range(21)
who = [0] * 60 + [one for one in people if one] * 2  # one of them has most probes
scores = [[2 * (a == b and row % 5 > 0) + (a == (b + 1) % 21) for a in people] for row, b in enumerate(who)]
ranks = strat.recognition.ranks(similarity=scores, probes=who, gallery=people)
raised = strat.recognition.match_curve(ranks, at=[1]).of()
silent = strat.recognition.match_curve(ranks, at=[1], average="subjects").of()
