"""Files of further harnesses, by the packages themselves or in documented layouts: what is read, named and refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from strat.base.errors import StratError
from strat.base.notes import codes_of
from strat.data import read_logs
from strat.verbs import compare, evaluation_records, gate

Text = str | bytes
ORACLES = Path(__file__).parents[1] / "oracles"  # files that the packages themselves wrote


def put(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def scores(table: Any) -> dict[tuple[str, str, int], float]:
    epochs = np.ones(len(table), int) if table.epoch is None else table.epoch
    return {
        (str(s), str(i), int(e)): float(v)
        for s, i, e, v in zip(table.system, table.items, epochs, table.score, strict=True)
    }


# ---- promptfoo


def sample(provider: str, question: str, success: bool, **more: Any) -> dict[str, Any]:
    return {
        "provider": {"id": provider, "label": ""}, "prompt": {"raw": "{{q}}", "label": "{{q}}"}, "promptIdx": 0,
        "testCase": {"vars": {"q": question}, "metadata": {"topic": question[0]}}, "vars": {"q": question},
        "success": success, "score": float(success), "namedScores": {"style": 0.5}, "cost": 0.01, "latencyMs": 20,
        "response": {"output": "x", "tokenUsage": {"total": 12}}, "failureReason": 0 if success else 1, **more,
    }  # fmt: skip


def promptfoo(samples: list[dict[str, Any]]) -> dict[str, Any]:
    return {"evalId": "eval-x", "results": {"version": 3, "timestamp": "2026-01-01", "prompts": [], "results": samples}}


def test_promptfoo_has_a_system_for_each_provider_and_repeats(tmp_path: Path) -> None:
    samples = [sample(p, q, p == "a") for _ in range(2) for q in ("one", "two") for p in ("a", "b")]
    path = put(tmp_path, "output.json", promptfoo(samples))
    table = read_logs(path)
    assert table.systems == ["a", "b"]
    assert len(table) == 8
    assert sorted(set(table.epoch.tolist())) == [1, 2]  # type: ignore[union-attr]
    assert scores(table)[("a", '{"q": "one"}', 2)] == 1.0
    assert set(read_logs(path, metrics="cost").score) == {0.01}
    assert set(read_logs(path, metrics="tokens").score) == {12.0}
    assert set(read_logs(path, metrics="style").score) == {0.5}
    assert read_logs(path, units="topic").units.tolist()[:2] == ["o", "t"]  # type: ignore[union-attr]
    board = compare(path, metrics="pass^2")
    assert dict(zip(board.systems, board.estimate.point.tolist(), strict=True)) == {"a": 1.0, "b": 0.0}


def test_of_what_is_spent_less_is_better(tmp_path: Path) -> None:
    samples = [
        sample(p, f"{k}", True, cost=(0.01 if p == "cheap" else 0.02) * (1 + k % 3))
        for k in range(30)
        for p in ("cheap", "dear")
    ]
    path = put(tmp_path, "output.json", promptfoo(samples))
    board = compare(path, metrics=["success", "cost"])
    assert board["success"].many.higher_is_better
    assert board["cost"].systems == ("cheap", "dear")
    assert board["cost"].estimate.name == "mean cost"
    low, high = board["cost"].estimate.interval()
    assert (np.asarray(low) > 0).all()
    assert np.allclose(low * high, board["cost"].estimate.point ** 2)  # symmetric on the log scale
    assert gate(path, metrics="cost", baseline="cheap", candidate="dear", margin=0.001).answer == "worse"
    assert gate(path, metrics="cost", baseline="dear", candidate="cheap", margin=0.001).answer == "not worse"


def test_promptfoo_with_several_prompts_names_them(tmp_path: Path) -> None:
    prompts = [{"prompt": {"label": name, "raw": name}} for name in ("short", "long")]
    samples = [sample("a", q, True) | prompt for prompt in prompts for q in ("one", "two")]
    assert read_logs(put(tmp_path, "o.json", promptfoo(samples))).systems == ["a [long]", "a [short]"]


def test_promptfoo_errors_are_no_failures(tmp_path: Path) -> None:
    samples = [sample("a", "one", True), sample("a", "two", False, failureReason=2, error="timeout", score=0)]
    path = put(tmp_path, "o.json", promptfoo(samples))
    with pytest.raises(StratError, match="every sample must have a score, but 1 of 2 have none \\(1 error\\)"):
        read_logs(path)
    assert read_logs(path, failed="zero").score.tolist() == [1.0, 0.0]


def test_what_promptfoo_itself_writes() -> None:
    path = ORACLES / "promptfoo_0.121.20.json"
    with pytest.raises(StratError, match=r"2 of 16 have none \(2 error\)"):
        read_logs(path)
    table = read_logs(path, metrics="exact", units="decade", failed="zero")
    assert table.systems == ["large", "small"]
    found = scores(table)
    assert {key: value for key, value in found.items() if key[0] == "small"} == {
        ("small", f'{{"n": {n}}}', k): 1.0 if n % 2 else float(k == 2) for n in (1, 3, 6, 7) for k in (1, 2)
    }
    assert found[("large", '{"n": 7}', 1)] == 0.0
    assert table.units is not None
    assert set(table.units.tolist()) == {"d0", "d1"}
    tokens = scores(read_logs(path, metrics="tokens", failed="drop"))
    assert tokens[("large", '{"n": 6}', 2)] == 16.0


# ---- DeepEval


def test_deepeval_has_a_measure_for_each_metric(tmp_path: Path) -> None:
    case = {"name": "t0", "input": "What?", "actualOutput": "x", "success": True, "tokenCost": 0.2,
            "metricsData": [{"name": "Answer Relevancy", "score": 0.9, "success": True, "threshold": 0.5}],
            "metadata": {"topic": "a"}}  # fmt: skip
    content = {"testCases": [case, case | {"input": "Why?", "success": False}], "conversationalTestCases": [],
               "hyperparameters": {"model": "small"}, "testPassed": 1, "testFailed": 1}  # fmt: skip
    path = put(tmp_path, "run.json", content)
    assert scores(read_logs(path)) == {("small", "What?", 1): 1.0, ("small", "Why?", 1): 0.0}
    assert read_logs(path, metrics="Answer Relevancy").score.tolist() == [0.9, 0.9]
    assert read_logs(put(tmp_path, "b.json", {"testRunData": content}), units="topic").units.tolist() == ["a", "a"]  # type: ignore[union-attr]


def test_what_deepeval_itself_writes() -> None:
    table = read_logs(ORACLES / "deepeval_4.3.1.json", metrics="Exact")
    assert table.systems == ["tiny"]
    assert dict(zip(table.items.tolist(), table.score.tolist(), strict=True)) == {
        f"q{k}": float(k % 2) for k in range(6)
    }


# ---- τ-bench


def test_tau_bench_trials_are_repeats(tmp_path: Path) -> None:
    rows = [
        {"task_id": t, "reward": float((t + k) % 2), "info": {}, "traj": [], "trial": k}
        for t in range(3)
        for k in range(2)
    ]
    table = read_logs(put(tmp_path, "gpt-airline.json", rows))
    assert scores(table)[("gpt-airline", "1", 1)] == 1.0
    assert scores(table)[("gpt-airline", "1", 2)] == 0.0
    second = {
        "timestamp": "t", "info": {"agent_info": {"llm": "big"}, "environment_info": {"domain": "retail"}},
        "tasks": [], "simulations": [{"task_id": "7", "trial": 0, "reward_info": {"reward": 1.0}, "agent_cost": 0.3}],
    }  # fmt: skip
    path = put(tmp_path, "two/sim.json", second)
    assert scores(read_logs(path)) == {("big", "7", 1): 1.0}
    assert read_logs(path, metrics="cost").score.tolist() == [0.3]


@pytest.mark.shared
def test_tau_bench_gives_the_published_figures(shared: Path, tmp_path: Path) -> None:
    """The shared numbers written as trajectories: pass^4 = 0.200, as published."""
    import csv

    import strat

    with (shared / "data/fields/taubench_airline_gpt4o.csv").open() as file:
        lines = list(csv.DictReader(file))
    rows = [
        {"task_id": r["task"], "reward": float(r["reward"]), "info": {}, "traj": [], "trial": int(r["trial"])}
        for r in lines
    ]
    table = read_logs(put(tmp_path, "gpt-4o.json", rows)).to_table()
    result = strat.evaluate(table, score="score", items="items", metrics="pass^4")
    assert round(float(result["pass^4"].value), 3) == 0.2


# ---- SWE-bench


def report(resolved: list[str], submitted: list[str], absent: list[str]) -> dict[str, Any]:
    return {
        "total_instances": len(submitted) + len(absent), "submitted_instances": len(submitted),
        "completed_instances": len(submitted), "resolved_instances": len(resolved), "completed_ids": submitted,
        "incomplete_ids": absent, "empty_patch_ids": [], "submitted_ids": submitted, "resolved_ids": resolved,
        "unresolved_ids": [i for i in submitted if i not in resolved], "error_ids": [], "schema_version": 2,
    }  # fmt: skip


def test_swebench_reports(tmp_path: Path) -> None:
    ids = ["django__django-1", "django__django-2", "sympy__sympy-3"]
    path = put(tmp_path, "model.run.json", report(ids[:1], ids, []))
    table = read_logs(path, strata="repository")
    assert scores(table) == {
        ("model.run", ids[0], 1): 1.0,
        ("model.run", ids[1], 1): 0.0,
        ("model.run", ids[2], 1): 0.0,
    }
    assert table.strata.tolist() == ["django/django", "django/django", "sympy/sympy"]  # type: ignore[union-attr]
    partial = put(tmp_path, "other.run.json", report(ids[:1], ids[:2], ids[2:]))
    with pytest.raises(StratError, match="1 not submitted"):
        read_logs(partial)
    assert read_logs(partial, failed="zero").score.sum() == 1.0


def test_swebench_submissions_and_instances(tmp_path: Path) -> None:
    put(tmp_path, "a/results/results.json", {"no_generation": ["x__x-9"], "no_logs": [], "resolved": ["x__x-1"]})
    put(tmp_path, "b/results/results.json", {"no_generation": [], "no_logs": [], "resolved": ["x__x-1", "x__x-2"]})
    table = read_logs(tmp_path)
    assert len(table) == 6
    assert scores(table)[("a", "x__x-2", 1)] == 0.0
    assert "outcomes-only" in codes_of(table.notes)
    for instance, resolved in (("x__x-1", True), ("x__x-2", False)):
        content = {instance: {"patch_is_None": False, "patch_exists": True, "resolved": resolved}}
        put(tmp_path, f"logs/run/model/{instance}/report.json", content)
    assert scores(read_logs(tmp_path / "logs")) == {("model", "x__x-1", 1): 1.0, ("model", "x__x-2", 1): 0.0}


# ---- OpenAI evals, lighteval, MTEB, MLflow


def test_openai_evals(tmp_path: Path) -> None:
    lines = [
        {"spec": {"completion_fns": ["gpt-x"], "eval_name": "coqa.dev", "created_at": "2026"}},
        {"run_id": "1", "event_id": 0, "sample_id": "coqa.dev.0", "type": "sampling", "data": {"prompt": "?"}},
        {"run_id": "1", "event_id": 1, "sample_id": "coqa.dev.0", "type": "match", "data": {"correct": True}},
        {"run_id": "1", "event_id": 2, "sample_id": "coqa.dev.1", "type": "match", "data": {"correct": False}},
        {"final_report": {"accuracy": 0.5}},
    ]
    path = put(tmp_path, "run.jsonl", "\n".join(map(json.dumps, lines)))
    assert scores(read_logs(path)) == {("gpt-x", "coqa.dev.0", 1): 1.0, ("gpt-x", "coqa.dev.1", 1): 0.0}


def test_lighteval_details(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{"doc": {"id": str(k), "query": "?", "task_name": "gsm8k"}, "metric": {"extractive_match": float(k % 2)},
             "model_response": {"text": ["x"]}} for k in range(4)]  # fmt: skip
    path = (
        tmp_path
        / "details/org/model/2026-01-01T00-00-00.000000/details_lighteval|gsm8k|0_2026-01-01T00-00-00.000000.parquet"
    )
    path.parent.mkdir(parents=True)
    parquet.write_table(pa.Table.from_pylist(rows), path)
    table = read_logs(tmp_path)
    assert table.systems == ["org/model"]
    assert table.score.tolist() == [0.0, 1.0, 0.0, 1.0]
    path.write_bytes(b"PAR1 cut off")
    with pytest.raises(StratError, match="can't be read as Parquet"):
        read_logs(tmp_path)


def test_what_lighteval_itself_writes(tmp_path: Path) -> None:
    time = "2026-11-18T06-47-35.193977"
    for model in ("one", "two"):
        for task in ("pick", "write"):
            written = (ORACLES / "lighteval_0.13.0" / model / f"{task}.parquet").read_bytes()
            put(tmp_path, f"details/tiny/{model}/{time}/details_{task}|0_{time}.parquet", written)
    table = read_logs(tmp_path, units="passage")
    assert table.systems == ["tiny/one", "tiny/two"]
    assert len(table) == 48
    assert {"measures": (("acc", "pick|0"), ("em", "write|0"))} in [note.facts for note in table.notes]
    own = table.system == "tiny/one"
    picked = np.char.startswith(table.items[own].astype(str), "pick")
    assert table.score[own][picked].mean() == 0.25  # what lighteval itself printed
    assert table.score[own][~picked].mean() == 0.0
    assert table.units is not None
    assert len(set(table.units.tolist())) == 3


def test_what_mteb_itself_writes() -> None:
    table = read_logs(ORACLES / "mteb_2.26.24")
    assert table.systems == ["mteb/baseline-random-encoder"]
    assert dict(zip(table.items.tolist(), table.score.tolist(), strict=True)) == {
        "MockMultilingualClassificationTask/test/eng": 1.0,
        "MockMultilingualClassificationTask/test/fra": 1.0,
        "MockSTSTask/test/default": -1.0,
    }
    assert read_logs(ORACLES / "mteb_2.26.24" / "MockSTSTask.json", metrics="pearson").score.tolist() == [-1.0]


def test_mteb_results(tmp_path: Path) -> None:
    for model, value in (("a", 0.5), ("b", 0.6)):
        folder = f"{model}/rev"
        put(tmp_path, f"{folder}/model_meta.json", {"name": f"org/{model}"})
        for task in ("Banking77", "STS12"):
            score = {"hf_subset": "default", "languages": ["eng"], "main_score": value, "accuracy": value}
            put(tmp_path, f"{folder}/{task}.json", {"dataset_revision": "x", "task_name": task, "mteb_version": "2",
                                                    "scores": {"test": [score]}})  # fmt: skip
    table = read_logs(tmp_path)
    assert table.systems == ["org/a", "org/b"]
    assert scores(table)[("org/a", "STS12/test/default", 1)] == 0.5


def test_mlflow_tables(tmp_path: Path) -> None:
    content = {"columns": ["inputs", "outputs", "exact_match/v1/score", "topic"],
               "data": [["q1", "x", 1, "a"], ["q2", "y", 0, "b"]]}  # fmt: skip
    path = put(tmp_path, "model/eval_results_table.json", content)
    assert scores(read_logs(path)) == {("model", "q1", 1): 1.0, ("model", "q2", 1): 0.0}
    put(tmp_path, "model/eval_results_table.json", {"columns": ["inputs"], "data": []})
    with pytest.raises(StratError, match="must have a column that ends in '/score', got inputs"):
        read_logs(path)


# ---- JUnit XML

SUITE = """<?xml version="1.0"?><testsuites><testsuite name="pytest" tests="4">
<testcase classname="tests.test_a" name="test_one" time="0.5"/>
<testcase classname="tests.test_a" name="test_two" time="0.1"><failure message="no">&lt;x&gt;</failure></testcase>
<testcase classname="tests.test_a" name="test_three" time="0.1"><error message="no"/></testcase>
{more}</testsuite></testsuites>"""


def test_junit_reports(tmp_path: Path) -> None:
    path = put(tmp_path, "night1.xml", SUITE.format(more=""))
    table = read_logs(path)
    assert table.score.tolist() == [1.0, 0.0, 0.0]
    assert table.items[0] == "tests.test_a::test_one"
    skipped = put(tmp_path, "night2.xml", SUITE.format(more='<testcase classname="c" name="n"><skipped/></testcase>'))
    with pytest.raises(StratError, match="1 skipped"):
        read_logs(skipped)
    assert len(read_logs(skipped, failed="drop")) == 3
    named = read_logs(
        [path, put(tmp_path, "night3.xml", SUITE.format(more=""))], name=["suite", "suite"], runs="repeat"
    )
    assert named.epoch.tolist() == [1, 1, 1, 2, 2, 2]  # type: ignore[union-attr]


def test_what_pytest_itself_writes(tmp_path: Path) -> None:
    import subprocess
    import sys

    put(tmp_path, "test_it.py", "def test_yes(): pass\n\ndef test_no(): assert 0\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=out.xml", "test_it.py"]
    subprocess.run(command, cwd=tmp_path, check=False, capture_output=True)
    assert scores(read_logs(tmp_path / "out.xml")) == {
        ("out", "test_it::test_yes", 1): 1.0,
        ("out", "test_it::test_no", 1): 0.0,
    }


@pytest.mark.parametrize(
    "prologue",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE x SYSTEM "file:///etc/passwd">',
        "<!DOCTYPE x>",
    ],
)
def test_a_document_type_is_refused_before_anything_grows(tmp_path: Path, prologue: str) -> None:
    path = put(tmp_path, "bomb.xml", f'{prologue}<testsuite><testcase name="n"/></testsuite>')
    with pytest.raises(StratError, match="must have no document type or entities"):
        read_logs(path)


def test_broken_xml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StratError, match=r"must be XML: .*cut off"):
        read_logs(put(tmp_path, "a.xml", "<testsuite><testcase name='n'>"))
    with pytest.raises(StratError, match="must nest at most 50 elements deep"):
        read_logs(put(tmp_path, "a.xml", "<testsuite>" + "<a>" * 60 + "</a>" * 60 + "</testsuite>"))
    with pytest.raises(StratError, match="must give each test a name"):
        read_logs(put(tmp_path, "a.xml", "<testsuite><testcase/></testsuite>"))


# ---- TREC


def runs_and_qrels(folder: Path) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    rng = np.random.default_rng(0)
    judged = {f"t{t}": {f"d{d}": int(rng.integers(0, 3)) for d in range(30)} for t in range(8)}
    ranked = {t: {f"d{d}": float(rng.integers(0, 12)) / 4 for d in rng.permutation(40)[:25]} for t in judged}
    put(folder, "qrels.txt", "\n".join(f"{t} 0 {d} {g}" for t, docs in judged.items() for d, g in docs.items()))
    lines = [f"{t} Q0 {d} {k} {s} bm25" for t, docs in ranked.items() for k, (d, s) in enumerate(docs.items())]
    put(folder, "bm25.run", "\n".join(lines))
    return judged, ranked


def test_trec_runs_score_as_trec_eval_does(tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    judged, ranked = runs_and_qrels(tmp_path)
    names = {"ap": "map", "ndcg@10": "ndcg_cut_10", "ndcg": "ndcg", "P@10": "P_10", "rr": "recip_rank"}
    theirs = pytrec_eval.RelevanceEvaluator(judged, set(names.values())).evaluate(ranked)
    for measure, name in names.items():
        table = read_logs(tmp_path, metrics=measure)
        assert table.systems == ["bm25"]
        for topic, value in zip(table.items.tolist(), table.score.tolist(), strict=True):
            assert value == pytest.approx(theirs[topic][name], abs=1e-9), (measure, topic)


def test_trec_topics_without_documents_score_zero_and_are_said(tmp_path: Path) -> None:
    runs_and_qrels(tmp_path)
    path = tmp_path / "bm25.run"
    path.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith("t3 ")))
    table = read_logs(tmp_path)
    assert dict(zip(table.items.tolist(), table.score.tolist(), strict=True))["t3"] == 0.0
    assert any(note.facts.get("absent") == 1 and note.facts["of"] == 8 for note in table.notes)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("bm25.run", "t1 Q0 d1", "line 1, must have topic, Q0, document, rank, score, run"),
        ("bm25.run", "t1 Q0 d1 1 x bm25", "line 1, must have a score, got 'x'"),
        ("bm25.run", "t1 Q0 d1 1 2.0 b\nt1 Q0 d1 2 1.0 b", "line 2: document 'd1' comes twice for topic 't1'"),
        ("bm25.run", "z Q0 d1 1 2.0 b", "must rank documents for topics of the qrels, got none in common"),
        ("qrels.txt", "t1 0 d1 x", "line 1, must end in a grade, got 'x'"),
        ("qrels.txt", "", "must hold at least one judgement"),
        ("more_qrels.txt", "t1 0 d1 1", "must have one file of judgements .*got 'more_qrels.txt', 'qrels.txt'"),
    ],
)
def test_broken_runs_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    runs_and_qrels(tmp_path)
    put(tmp_path, name, text)
    with pytest.raises(StratError, match=message):
        read_logs(tmp_path)


# ---- every_eval_ever


def test_records_are_read_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data = {"A": (rng.random(50) < 0.7).astype(float), "B": (rng.random(50) < 0.5).astype(float)}
    board = compare(data, score=["A", "B"])
    records = evaluation_records(board, evaluation="quiz", timestamp="1700000000", models={"A": "org/a"})
    for system, record in records.items():
        put(tmp_path, f"{system}.json", record)
    table = read_logs(tmp_path)
    assert scores(table) == {("org/a", "quiz", 1): data["A"].mean(), ("B", "quiz", 1): data["B"].mean()}
    details = records["A"]["evaluation_results"][0]["score_details"]["uncertainty"]
    assert details["standard_error"]["value"] == float(board.estimate.at("A").se)
    low, high = board.estimate.at("A").interval(0.95)
    assert (details["confidence_interval"]["lower"], details["confidence_interval"]["upper"]) == (low, high)
    assert details["num_samples"] == 50


def test_samples_of_every_eval_ever(tmp_path: Path) -> None:
    lines = [
        {"schema_version": "0.2.1", "evaluation_id": "quiz/m/1", "model_id": model, "evaluation_name": "quiz",
         "sample_id": f"q{k}", "sample_hash": f"h{k}", "interaction_type": "single_turn",
         "input": {"raw": "?", "reference": []},
         "output": {"raw": ["x"]}, "answer_attribution": [],
         "evaluation": {"score": float(k % 2), "is_correct": bool(k % 2)},
         "token_usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}, "metadata": {"subject": "s"}}
        for model in ("a", "b") for k in range(4)
    ]  # fmt: skip
    path = put(tmp_path, "quiz_samples.jsonl", "\n".join(map(json.dumps, lines)))
    table = read_logs(path)
    assert table.systems == ["a", "b"]
    assert table.score.tolist() == [0.0, 1.0] * 4
    assert read_logs(path, metrics="tokens").score.tolist() == [3.0] * 8


# ---- what is refused anywhere

BROKEN: list[tuple[str, Any, str]] = [
    ("o.json", {"evalId": 1, "results": []}, "must have an object as 'results', got list"),
    ("o.json", {"evalId": 1, "results": {"results": {}}}, "must have a list as 'results.results'"),
    ("o.json", {"evalId": 1, "results": {"results": [3]}}, "must have an object as sample 0"),
    ("o.json", {"testCases": [3]}, "must have an object as test case 0"),
    ("o.json", [{"task_id": 1, "reward": 1.0, "trial": "x"}], "must count trials by whole numbers, got 'x' in entry 0"),
    ("o.json", [{"reward": 1.0, "x": "task_id", "task_id_": 0, "y": '"task_id"'}], "must hold logs|'task_id'"),
    (
        "o.json",
        {"total_instances": 1, "resolved_instances": 1, "resolved_ids": 3},
        "must have a list as 'resolved_ids'",
    ),
    ("o.json", {"mteb_version": 1, "task_name": "x"}, "must have an object as 'scores'"),
    ("eval_results_table.json", {"columns": ["a/score"], "data": [3]}, "must have a list as row 0"),
    ("o.json", {"schema_version": "1", "evaluation_id": "x"}, "must have an object as 'model_info'"),
    (
        "o.jsonl",
        '{"evaluation_id": 1, "sample_id": 2, "evaluation": 3}',
        "must have an object as 'evaluation' of line 1",
    ),
    ("o.jsonl", '{"spec": 3, "completion_fns": 1}', "must have an object as 'spec'"),
    ("o.json", b'{"evalId": 1, "results": {', "must be JSON, but"),
]


@pytest.mark.parametrize("case", range(len(BROKEN)))
def test_broken_files_are_refused(tmp_path: Path, case: int) -> None:
    name, content, message = BROKEN[case]
    with pytest.raises(StratError, match=message):
        read_logs(put(tmp_path, name, content))
