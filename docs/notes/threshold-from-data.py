import strat

score = [0.9, 0.8, 0.7, 0.35, 0.6, 0.4, 0.3, 0.2, 0.1, 0.2]
probes, gallery = list("abcdeabcde"), list("abcdebcdea")
verification = strat.recognition.verification_of_trials(similarity=score, probes=probes, gallery=gallery)
raised = verification.zero_fmr()
silent = verification.fnmr_at(0.4)
