from pathlib import Path

rows = [(row // 10, row % 2, row % 2 if row // 10 % 2 else 1 - row % 2) for row in range(200)]
Path("table.csv").write_text("patient,truth,predicted\n" + "".join(f"p{p},{y},{guess}\n" for p, y, guess in rows))
raised = "strat chance table.csv --truth truth --predicted predicted"
silent = "strat chance table.csv --truth truth --predicted predicted --independent"
