from strat import recognition

distance = [[abs(a - b) for a in range(8)] for b in range(8)]
raised = recognition.ranks(similarity=distance, probes=range(8), gallery=range(8))
silent = recognition.ranks(distance=distance, probes=range(8), gallery=range(8))
