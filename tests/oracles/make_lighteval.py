"""Write `lighteval_0.13.0/`: two tasks run by lighteval 0.13.0 with its own dummy model.

It ran with huggingface_hub 0.36, transformers 4.57, datasets 4.0 and xxhash 3.5: newer ones fail in it. Its files are
called `details/<model>/<time>/details_<task>_<time>.parquet`; they are kept under names that any file system allows.
"""

import json
import os
import sys
from pathlib import Path
from types import ModuleType

FOLDER, OUTPUT = Path("lighteval_0.13.0"), Path("out")
NAMES = ("pick", "write")
TASK = """
from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc


def prompt(line, task_name=None):
    choices = [" a", " b", " c"]
    place = choices.index(" " + line["answer"])
    more = {"passage": line["passage"]}
    return Doc(task_name=task_name, query=line["question"], choices=choices, gold_index=place, specific=more)


TASKS_TABLE = [
    LightevalTaskConfig(
        name=name, prompt_function=prompt, hf_repo="data", hf_subset=name, hf_avail_splits=["test"],
        evaluation_splits=["test"], metrics=metrics, generation_size=5, stop_sequence=[],
    )
    for name, metrics in (("pick", [Metrics.loglikelihood_acc]), ("write", [Metrics.exact_match]))
]
"""


def main() -> None:
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HOME": "home"}
    for name in NAMES:
        Path("data", name).mkdir(parents=True, exist_ok=True)
        lines = [{"question": f"{name} {k}", "answer": "abc"[k % 3], "passage": f"p{k // 4}"} for k in range(12)]
        Path("data", name, "test.jsonl").write_text("\n".join(map(json.dumps, lines)))
    files = "".join(
        f"- config_name: {name}\n  data_files:\n  - split: test\n    path: {name}/test.jsonl\n" for name in NAMES
    )
    Path("data", "README.md").write_text(f"---\nconfigs:\n{files}---\n")
    Path("quiz.py").write_text(TASK)
    downloads = ModuleType(
        "lighteval.tasks.tasks.tiny_benchmarks"
    )  # asks a server for a file as soon as it is imported
    downloads.TASKS_TABLE = []
    sys.modules[downloads.__name__] = downloads
    from lighteval.logging.evaluation_tracker import EvaluationTracker
    from lighteval.models.dummy.dummy_model import DummyModelConfig
    from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters

    for model, seed in (("tiny/one", 1), ("tiny/two", 2)):
        pipeline = Pipeline(
            tasks="pick|0,write|0",
            pipeline_parameters=PipelineParameters(
                launcher_type=ParallelismManager.NONE, custom_tasks_directory="quiz.py"
            ),
            evaluation_tracker=EvaluationTracker(output_dir=str(OUTPUT), save_details=True),
            model_config=DummyModelConfig(model_name=model, seed=seed),
        )
        pipeline.evaluate()
        pipeline.save_and_push_results()
        for name in NAMES:
            (details,) = (OUTPUT / "details" / model).glob(f"*/details_{name}*.parquet")
            kept = FOLDER / model.split("/")[1] / f"{name}.parquet"
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(details.read_bytes())


if __name__ == "__main__":
    main()
