import strat


def verification(number):
    people = range(number)
    table = [[(3 if a == b else 0) + a * b * 7 % 5 for a in people] for b in people]
    return strat.recognition.verification(similarity=table, probes=people, gallery=people)


raised = verification(12).eer()
silent = verification(24).eer()
