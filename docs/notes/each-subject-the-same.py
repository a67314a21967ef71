from strat import recognition

people = range(21)
who = [0] * 60 + [one for one in people if one] * 2  # one of them has most probes
scores = [[2 * (a == b and row % 5 > 0) + (a == (b + 1) % 21) for a in people] for row, b in enumerate(who)]
ranks = recognition.ranks(similarity=scores, probes=who, gallery=people)
raised = recognition.match_curve(ranks, at=[1]).of()
silent = recognition.match_curve(ranks, at=[1], average="subjects").of()
