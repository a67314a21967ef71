from pathlib import Path

import strat

lines = ["probe,gallery,score", "a,x,0.9", "a,y,0.2", "b,x,0.1", "b,y,0.8"]
Path("once.csv").write_text("\n".join(lines))
Path("twice.csv").write_text("\n".join([*lines, "a,x,0.9"]))
raised = strat.recognition.read_triples("twice.csv")
silent = strat.recognition.read_triples("once.csv")
