"""Write `deepeval_4.3.1.json`: a test run of DeepEval 4.3.1, which must be installed, with a metric without a model."""

import os
from typing import Any


def main() -> None:
    os.environ |= {"DEEPEVAL_RESULTS_FOLDER": "out", "DEEPEVAL_TELEMETRY_OPT_OUT": "YES"}
    from deepeval import evaluate
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase

    class Exact(BaseMetric):  # whether the output is the expected one
        def __init__(self) -> None:
            self.threshold, self.async_mode = 0.5, False

        def measure(self, case: Any, *args: Any, **options: Any) -> float:
            self.score = float(case.actual_output == case.expected_output)
            self.success = self.score >= 0.5
            return self.score

        async def a_measure(self, case: Any, *args: Any, **options: Any) -> float:
            return self.measure(case)

        def is_successful(self) -> bool:
            return self.success

        @property
        def __name__(self) -> str:
            return "Exact"

    cases = [LLMTestCase(input=f"q{k}", actual_output="a", expected_output="a" if k % 2 else "b") for k in range(6)]
    evaluate(test_cases=cases, metrics=[Exact()], hyperparameters={"model": "tiny"})


if __name__ == "__main__":
    main()
