import pyarrow
from pyarrow import parquet

import strat
from strat.base.limits import changed

people = ["ann", "bob", "cy", "dee"] * 5
table = {"probe_subject": people, "gallery_subject": sorted(people), "score": [row % 7 for row in range(20)]}
parquet.write_table(pyarrow.table(table), "scores.parquet")
with changed(streamed_pairs=10):  # instead of 16 million, those of 4,096 subjects
    raised = strat.recognition.verification_of_file("scores.parquet").eer()
silent = strat.recognition.verification_of_file("scores.parquet").eer()
