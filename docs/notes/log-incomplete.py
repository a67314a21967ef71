from pathlib import Path

import strat

Path("test.qrels").write_text("q1 0 d1 1\nq2 0 d2 1\nq3 0 d3 1\n")
lines = [f"{query} Q0 {document} 1 1.0 bm25\n" for query, document in (("q1", "d1"), ("q2", "d3"), ("q3", "d3"))]
Path("short.run").write_text("".join(lines[:2]))
Path("whole.run").write_text("".join(lines))
raised = strat.data.read_logs(["test.qrels", "short.run"])
silent = strat.data.read_logs(["test.qrels", "whole.run"])
