from pathlib import Path

from strat import recognition

lines = ["probe,gallery,score", "a,x,0.9", "a,y,0.2", "b,x,0.1", "b,y,0.8"]
Path("once.csv").write_text("\n".join(lines))
Path("twice.csv").write_text("\n".join([*lines, "a,x,0.9"]))
raised = recognition.read_triples("twice.csv")
silent = recognition.read_triples("once.csv")
