from pathlib import Path

Path("errors.csv").write_text("data,a,b,c\n1,0.1,0.2,0.3\n2,0.2,0.2,0.2\n3,,0.3,0.4\n4,0.3,0.4,0.5\n5,0.2,0.1,0.3\n")
Path("whole.csv").write_text("data,a,b,c\n1,0.1,0.2,0.3\n2,0.2,0.2,0.2\n3,0.2,0.3,0.4\n4,0.3,0.4,0.5\n5,0.2,0.1,0.3\n")
raised = "strat rank errors.csv --dataset data --lower-is-better --missing drop"
silent = "strat rank whole.csv --dataset data --lower-is-better --missing drop"
