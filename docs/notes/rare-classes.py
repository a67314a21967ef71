import strat

sizes = [60, 30, 15] + [1, 2] * 15  # rows of 33 classes
label = [k for k, size in enumerate(sizes) for _ in range(size)]
guess = [(7 * row + k) % 33 if row % 3 == 0 else k for row, k in enumerate(label)]
raised = strat.estimate(strat.f1(label, guess, average="macro"), on=strat.Design.simple_random(n=len(label)))
often = [k % 5 for k in range(len(label))]  # five classes of 30 rows
said = [(k + row % 3) % 5 for row, k in enumerate(often)]
silent = strat.estimate(strat.f1(often, said, average="macro"), on=strat.Design.simple_random(n=len(label)))
