"""Log readers: real logs against values computed by hand, every kind of score, and logs that lie or are cut off."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strat
from strat import StratError
from strat.base.notes import codes_of
from strat.data import read_logs, read_long
from strat.data.untrusted import Limits, json_lines
from strat.verbs import compare, evaluate
from writing_logs import Write, sample, write_zip

# ---- real logs, written by the harnesses themselves


@pytest.mark.parametrize(
    ("folder", "accuracy", "items", "clustered", "stratified"),
    [
        ("logs_eval_a", 2 / 3, 0.057887563583525294, 0.08863600391305174, 0.09770),
        ("logs_json_b", 0.7592592592592594, 0.04899539464934427, 0.07344004751241494, 0.07212),
    ],
)
def test_inspect_logs(
    shared: Path, folder: str, accuracy: float, items: float, clustered: float, stratified: float
) -> None:
    """The harness's own standard errors come out where its design is meant, and ours where strata are added."""
    logs = read_logs(shared / "data/ai-logs" / folder, strata="subject", units="passage")
    assert len(logs) == 108
    assert sorted(set(logs.epoch.tolist())) == [1, 2, 3]
    table = logs.to_table()
    plain = evaluate(table, score="score", items="items")["mean"]
    assert plain.value == pytest.approx(accuracy, rel=1e-12)
    assert plain.se == pytest.approx(items, rel=1e-12)
    assert evaluate(table, score="score", items="items", units="units")["mean"].se == pytest.approx(
        clustered, rel=1e-12
    )
    both = evaluate(table, score="score", items="items", units="units", strata="strata")
    assert both["mean"].se == pytest.approx(stratified, abs=5e-6)
    assert both["mean"].df == 9


def test_lm_eval_folder(shared: Path) -> None:
    """Three tasks by metric, a fourth with two filters; the group's stratified standard error is the harness's."""
    folder = shared / "data/ai-logs/lm_eval"
    logs = read_logs(folder, units="passage_id")
    assert len(logs) == 48
    assert set(logs.strata) == {"demo_algebra", "demo_law", "demo_virology", "demo_gen"}
    assert any("acc (" in note and "exact_match,take_first" in note for note in logs.notes)
    group = read_logs(folder, tasks=["demo_group"])
    found = evaluate(group.to_table(), score="score", strata="strata")
    assert found["mean"].value == 0.25
    assert found["mean"].se == pytest.approx(0.07155872381467047, rel=1e-12)
    means = {str(k): float(v.value) for k, v in found.strata.items()}
    assert means == pytest.approx({"demo_algebra": 3 / 12, "demo_law": 5 / 12, "demo_virology": 1 / 12})
    by_maj = read_logs(folder, tasks=["demo_gen"], metrics="exact_match,maj")
    assert by_maj.score.sum() == 0
    with pytest.raises(StratError, match=r"`tasks` must be tasks or groups.*did you mean 'demo_law'"):
        read_logs(folder, tasks=["demo_lax"])
    with pytest.raises(StratError, match=r"`units` must be a field of the samples, got 'pasage_id'; did you mean"):
        read_logs(folder, units="pasage_id")


def test_two_runs_of_one_model_must_be_told_apart(shared: Path) -> None:
    both = [shared / "data/ai-logs/logs_eval_a", shared / "data/ai-logs/logs_json_b"]
    with pytest.raises(
        StratError, match="each system must have one log per task, got several for 'mockllm/model: demo'"
    ):
        read_logs(both)
    assert read_logs(both, runs="separate").systems == ["mockllm/model #1", "mockllm/model #2"]
    assert read_logs(both, runs="repeat").epoch.max() == 6
    latest = read_logs(both, runs="latest")
    assert latest.score.mean() == pytest.approx(0.7592592592592594)
    found = compare(both, runs="separate", strata="subject", units="passage")
    assert found.difference("mockllm/model #2", "mockllm/model #1").value == pytest.approx(0.7592592592592594 - 2 / 3)


def test_paired_difference_of_real_logs_is_that_of_item_means(shared: Path) -> None:
    both = [shared / "data/ai-logs/logs_eval_a", shared / "data/ai-logs/logs_json_b"]
    logs = read_logs(both, runs="separate", strata="subject", units="passage")
    found = compare(logs)
    items = np.unique(logs.items)
    gap, strata, units = [], [], []
    for item in items:
        one, two = (logs.score[(logs.items == item) & (logs.system == s)].mean() for s in found.systems)
        gap.append(one - two)
        strata.append(logs.strata[logs.items == item][0])
        units.append(logs.units[logs.items == item][0])
    wanted = strat.estimate(strat.mean(gap), on=strat.Design.stratified(strata, units=units))
    made = found.difference(*found.systems)
    assert made.value == pytest.approx(wanted.value, rel=1e-12)
    assert made.se == pytest.approx(wanted.se, rel=1e-9)


def test_swebench_has_a_stratum_of_one_issue(shared: Path) -> None:
    path = shared / "data/swebench_verified_items.csv.gz"
    with pytest.raises(StratError, match="got one in 'pallets/flask'; choose lone='collapse'"):
        compare(path, score="correct", strata="stratum")
    assert "role-not-chosen" in codes_of(compare(path, score="correct").notes)  # nobody named it
    found = compare(path, score="correct", lone="collapse")
    assert len(found.systems) == 24
    assert found.to_dict()["rank"][0] == "1–3"


def test_livecodebench_pairs_systems_by_problem(shared: Path) -> None:
    import polars as pl

    table = pl.read_csv(
        shared / "data/livecodebench_items.csv.gz", schema_overrides={"item": pl.String, "sample": pl.String}
    )
    part = table.filter(pl.col("scenario") == "generation").with_columns(pl.col("pass_at_1_percent") / 100)
    found = compare(part, score="pass_at_1_percent", strata="difficulty")
    assert len(found.systems) == 16
    best = part.filter(pl.col("system") == found.systems[0])["pass_at_1_percent"].mean()
    assert found.estimate.point[0] == pytest.approx(best, rel=1e-12)


# ---- every kind of score


def test_every_kind_of_value(tmp_path: Path, eval_log: Write) -> None:
    values = ["C", "I", "P", "N", 0.25, True, "0.5", "yes"]
    eval_log(tmp_path / "a.eval", [sample(i, v) for i, v in enumerate(values)])
    assert read_logs(tmp_path).score.tolist() == [1, 0, 0.5, 0, 0.25, 1, 0.5, 1]


def test_dictionaries_and_lists_are_measures_of_their_own(tmp_path: Path, eval_log: Write) -> None:
    eval_log(tmp_path / "a.eval", [sample(i, {"style": i, "facts": [1 - i, 0.5]}) for i in (0, 1)])
    logs = read_logs(tmp_path, metrics="match/facts/0")
    assert logs.score.tolist() == [1, 0]
    assert "match/style" in read_logs(tmp_path).notes[0]
    with pytest.raises(StratError, match=r"`metrics` must be one that .* has, got 'match/fact'; did you mean"):
        read_logs(tmp_path, metrics="match/fact")


def test_text_values_are_refused_only_if_they_are_asked_for(tmp_path: Path, eval_log: Write) -> None:
    made = sample("q", "splendid")
    made["scores"]["other"] = {"value": 1}
    eval_log(tmp_path / "a.eval", [made])
    with pytest.raises(
        StratError, match=r"the values of 'match' must be numbers or C, I, P, N, but sample 'q' has 'splendid'"
    ):
        read_logs(tmp_path)
    assert read_logs(tmp_path, metrics="other").score.tolist() == [1]


def test_failed_samples_are_counted_and_never_dropped_silently(tmp_path: Path, eval_log: Write) -> None:
    bad = [
        {"id": "x", "epoch": 1, "error": "boom"},
        {"id": "y", "epoch": 1, "limit": "token"},
        sample("z", math.nan),
    ]
    eval_log(tmp_path / "a.eval", [sample("q", "C"), *bad])
    with pytest.raises(StratError, match=r"3 of 4 have none \(1 error, 1 limit, 1 unscored\); choose failed='zero'"):
        read_logs(tmp_path)
    assert read_logs(tmp_path, failed="drop").score.tolist() == [1]
    zero = read_logs(tmp_path, failed="zero")
    assert zero.score.tolist() == [1, 0, 0, 0]
    assert zero.notes[-1].facts == {"n": 3, "zero": True, "reasons": (("error", 1), ("limit", 1), ("unscored", 1))}


def test_runs_that_ended_early(tmp_path: Path, eval_log: Write) -> None:
    eval_log(tmp_path / "a.eval", [sample("q", "C")], model="a", status="error")
    eval_log(tmp_path / "b.eval", [sample("q", "I")], model="b")
    with pytest.raises(StratError, match=r"must have ended with success, got 'a\.eval \(error, 1 sample\)'"):
        read_logs(tmp_path)
    assert read_logs(tmp_path, incomplete="skip").systems == ["b"]
    assert read_logs(tmp_path, incomplete="keep").systems == ["a", "b"]


def test_a_log_cut_off_mid_run_is_read_from_its_journal(tmp_path: Path) -> None:
    start = {"version": 2, "eval": {"model": "m", "task": "t"}}
    parts = {f"_journal/summaries/{k}.json": json.dumps([sample(k, "C")]).encode() for k in (10, 2)}
    write_zip(tmp_path / "a.eval", {"_journal/start.json": json.dumps(start).encode(), **parts})
    with pytest.raises(StratError, match=r"a\.eval \(started, 2 samples\)"):
        read_logs(tmp_path)
    assert read_logs(tmp_path, incomplete="keep").items.tolist() == ["2", "10"]


def test_stored_and_deflated_members_are_read_too(tmp_path: Path) -> None:
    import zipfile

    header = json.dumps({"status": "success", "eval": {"model": "m", "task": "t"}})
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(tmp_path / "a.eval", "w", method) as archive:
            archive.writestr("header.json", header)
            archive.writestr("summaries.json", json.dumps([sample("q", 1)]))
        assert read_logs(tmp_path).score.tolist() == [1]


# ---- HELM and long tables


def _helm(folder: Path, model: str, rights: list[int]) -> None:
    home = folder / f"mmlu:subject=anatomy,model={model}"
    home.mkdir()
    rows: list[dict[str, Any]] = []
    for i, right in enumerate(rights):
        stats = [
            {"name": {"name": "num_tokens"}, "count": 1, "sum": 9},
            {"name": {"name": "exact_match"}, "count": 1, "sum": right},
        ]
        rows.append({"instance_id": f"id{i}", "train_trial_index": 0, "stats": stats})
        rows.append(
            {"instance_id": f"id{i}", "train_trial_index": 0, "perturbation": {"name": "typos"}, "stats": stats}
        )
    (home / "per_instance_stats.json").write_text(json.dumps(rows))


def test_helm(tmp_path: Path) -> None:
    _helm(tmp_path, "a", [1, 1, 0, 1])
    _helm(tmp_path, "b", [0, 1, 0, 1])
    logs = read_logs(tmp_path)
    assert logs.systems == ["a", "b"]
    assert logs.score[logs.system == "a"].tolist() == [1, 1, 0, 1]
    assert {"copies": 4} in [note.facts for note in logs.notes]
    assert compare(tmp_path).difference("a", "b").value == 0.25


def test_a_long_table(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("model,id,correct,stratum,epoch\nA,1,1,x,1\nA,1,0,x,2\nA,2,1,x,1\nB,1,0,x,1\nB,2,1,x,1\n")
    logs = read_long(path)
    assert logs.systems == ["A", "B"]
    assert compare(path).difference("A", "B").value == pytest.approx(0.25)
    assert compare(tmp_path).systems == ("A", "B")
    with pytest.raises(StratError, match="`score` must name a column of the columns; none is called score or correct"):
        read_long({"system": ["a"], "item": [1], "grade": [1]})


def test_the_same_item_twice(tmp_path: Path, eval_log: Write) -> None:
    with pytest.raises(
        StratError, match=r"each item must be scored once per system and epoch, got q of a again in row 2"
    ):
        read_long({"system": ["a", "b", "a"], "item": ["q", "q", "q"], "score": [1, 1, 1]})
    eval_log(tmp_path / "a.eval", [sample("q", "C"), sample("q", "I")])
    with pytest.raises(StratError, match="got q of m again in row 1"):
        read_logs(tmp_path)


def test_items_that_do_not_match_are_reported() -> None:
    table = {"system": ["a", "a", "a", "b", "b"], "item": [1, 2, 3, 1, 2], "score": [1, 0, 1, 0, 0]}
    found = compare(table, unmatched="common")
    facts = {"case": "lacking", "common": 2, "left": 1, "lacking": (("b", 1),)}
    assert facts in [note.facts for note in found.notes]
    refused = (
        r"1 of 3 items lack some system \(b lacks 1; such items are 3\); choose unmatched='common' \(command line: "
        r"--unmatched common\) to compare on the other 2\."
    )
    for options in ({}, {"unmatched": "error"}):
        with pytest.raises(StratError, match=refused):
            compare(table, **options)
    apart = {"system": ["a", "b"], "item": ["x", "y"], "score": [1, 0]}
    for unmatched in ("error", "common"):
        with pytest.raises(StratError, match=r"such items are 'x', 'y'\); no item is common to all: see whether"):
            compare(apart, unmatched=unmatched)
    with pytest.raises(StratError, match="`strata` must be the same for an item"):
        compare({"system": ["a", "b"], "item": [1, 1], "score": [1, 0], "s": ["x", "y"]}, strata="s")
    with pytest.raises(StratError, match="at least two systems"):
        compare({"system": ["a"], "item": [1], "score": [1]})


def test_documents_that_changed_between_runs(tmp_path: Path) -> None:
    for system, digest in (("a", "1"), ("b", "2")):
        (tmp_path / system).mkdir()
        line = {"doc_id": 0, "filter": "none", "metrics": ["acc"], "acc": 1.0, "doc_hash": digest, "doc": {}}
        (tmp_path / system / "samples_t_2026-01-01T00-00-00.0.jsonl").write_text(json.dumps(line) + "\n")
    with pytest.raises(StratError, match="item 't/0' must be the same document in every log"):
        read_logs(tmp_path)


# ---- hostile and broken


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(StratError, match=r"`source` must hold logs .* without any"):
        read_logs(tmp_path)
    with pytest.raises(StratError, match="must be a file or a folder that exists"):
        read_logs(tmp_path / "none")


def test_paths_that_climb_out_are_refused(tmp_path: Path) -> None:
    header = json.dumps({"status": "success", "eval": {"model": "m"}}).encode()
    write_zip(tmp_path / "a.eval", {"header.json": header, "_journal/summaries/../../../etc/1.json": b"[]"})
    with pytest.raises(StratError, match="must not hold paths that lead out of it"):
        read_logs(tmp_path)


def test_bombs_are_refused_before_they_unpack(tmp_path: Path) -> None:
    bomb = b"[" + b" " * (64 << 20) + b"]"
    header = json.dumps({"status": "success", "eval": {"model": "m"}}).encode()
    write_zip(tmp_path / "a.eval", {"header.json": header, "summaries.json": bomb})
    with pytest.raises(StratError, match="must not unpack to more than 1000 times its size"):
        read_logs(tmp_path)
    with pytest.raises(StratError, match="must unpack to at most 10 bytes"):
        read_logs(tmp_path, limits=Limits(member=10))


def test_a_member_that_lies_about_its_size(tmp_path: Path) -> None:
    write_zip(tmp_path / "a.eval", {"header.json": b"{}" * 5000}, lie=100)
    with pytest.raises(StratError, match="must match its checksum"):
        read_logs(tmp_path)


def test_damaged_archives(tmp_path: Path, eval_log: Write) -> None:
    path = eval_log(tmp_path / "a.eval", [sample("q", "C")])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StratError, match="must be a whole zip archive"):
        read_logs(tmp_path)
    path.write_bytes(whole[:45] + bytes(9) + whole[54:])
    with pytest.raises(StratError, match=r"(can't be unpacked|must match its checksum)"):
        read_logs(tmp_path)
    write_zip(path, {"other.json": b"{}"})
    with pytest.raises(StratError, match=r"must hold header\.json"):
        read_logs(tmp_path)
    write_zip(path, {"header.json": b"{}"}, method=12)
    with pytest.raises(StratError, match="got method 12"):
        read_logs(tmp_path)


def test_json_that_is_cut_off_or_endless(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"version": 2, "status": "success", "eval": {"model": "m"}, "samples": [{"id": 1')
    with pytest.raises(StratError, match=r"a\.json` must be JSON, but line 1.*cut off"):
        read_logs(tmp_path)
    path.write_text('{"version": 2, "status": "", "eval": ' + "[" * 200000)
    with pytest.raises(StratError, match=r"a\.json` must (not nest deeper|be JSON)"):
        read_logs(tmp_path)
    lines = tmp_path / "samples_t_2026-01-01T00-00-00.0.jsonl"
    lines.write_text('{"doc_id": 0}\n{"doc_id": \n')
    path.unlink()
    with pytest.raises(StratError, match=r"jsonl`, line 2, must be one JSON object"):
        read_logs(tmp_path)
    lines.write_text('{"x": 1}\n')
    with pytest.raises(StratError, match=r"line 1, must have a 'doc_id'"):
        read_logs(tmp_path)
    with pytest.raises(StratError, match=r"line 1, must be at most 4 bytes"):
        list(json_lines(lines, most=4))


def test_a_folder_of_logs_is_evaluated_as_the_command_does(
    eval_log: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`strat.evaluate("logs/")` asked for a pattern of CSV files, while `strat evaluate logs/` worked."""
    import strat
    from strat.cli import main

    rows = [sample(f"q{i}", float(i % 3 > 0), epoch=1 + i % 2) for i in range(30)]
    eval_log(tmp_path / "a.eval", rows, model="alpha")
    result = strat.evaluate(tmp_path)
    with pytest.raises(SystemExit):
        main(["evaluate", str(tmp_path), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads(result.to_json())
    assert result["mean"].value == pytest.approx(20 / 30)
    assert strat.evaluate(strat.data.read_logs(tmp_path)).to_json() == result.to_json()
    assert strat.evaluate(tmp_path, metrics="pass@1")["pass@1"].value == pytest.approx(20 / 30)
    with pytest.raises(StratError, match=r"`metrics` must be given where the logs are read, got 'match'"):
        strat.evaluate(strat.data.read_logs(tmp_path), metrics="match")
    eval_log(tmp_path / "b.eval", rows, model="beta")
    with pytest.raises(StratError, match=r"`source` must hold logs of one system, got 2; use `strat compare`"):
        strat.evaluate(tmp_path)
