import strat

truth, guess = [1] * 60, [1] * 54 + [0] * 6  # all six errors are those of the last patient
table = {"truth": truth, "guess": guess, "patient_id": [row // 6 for row in range(60)]}
raised = strat.evaluate(table, truth="truth", predicted="guess", units="patient_id")
rows = {"truth": truth, "guess": guess}
silent = strat.evaluate(rows, truth="truth", predicted="guess")
