import strat

reference, hypothesis = ["the cat sat on the mat"] * 3, ["a cat sat on the mat"] * 3
raised = strat.bleu(reference, hypothesis)
silent = strat.wer(reference, hypothesis)
