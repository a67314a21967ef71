from pathlib import Path

import strat

lines = ["1 ann/1 ann/2 0.9", "1 bob/1 bob/2 0.8", "0 ann/1 bob/2 0.4", "0 bob/1 cy/1 0.1", "0 ann/2 cy/1 0.2"]
Path("trials.txt").write_text("\n".join(lines))
raised = strat.recognition.read_trials("trials.txt").verification().eer()
silent = strat.recognition.read_trials("trials.txt", pattern="^([a-z]+)/").verification().eer()
