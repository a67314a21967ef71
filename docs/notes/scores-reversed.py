import strat

distance = [[abs(a - b) for a in range(8)] for b in range(8)]
raised = strat.recognition.ranks(similarity=distance, probes=range(8), gallery=range(8))
silent = strat.recognition.ranks(distance=distance, probes=range(8), gallery=range(8))
