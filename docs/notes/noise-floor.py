import strat

probability = [row % 100 / 100 for row in range(400)]
calibrated = [int(row * 37 % 101 < 100 * p) for row, p in enumerate(probability)]
design = strat.Design.simple_random(n=400)
raised = strat.estimate(strat.calibration_error(calibrated, probability), on=design)
silent = strat.estimate(strat.calibration_error([0] * 400, probability), on=design)
