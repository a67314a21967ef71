"""Files of fields score what they hold: texts, RTTM, TREC, COCO and masks; errors name the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import strat
from strat.base.errors import StratError
from strat.cli.app import app
from strat.measures.register import every
from strat.verbs import compare_files, evaluate_files
from strat.verbs.field_files import measure_of, of_files

REFERENCE = ["the cat sat", "a dog ran far", "it was big", "we saw it"] * 5
FIRST = [text.replace("a ", "the ") if k % 3 else text for k, text in enumerate(REFERENCE)]
SECOND = [text.replace("it", "a big cat") if k % 2 else text for k, text in enumerate(REFERENCE)]
SPEAKER = np.arange(20) // 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, lines in (("ref", REFERENCE), ("first", FIRST), ("second", SECOND)):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
        named = [f"{line} (s{SPEAKER[k]}-{k:02})" for k, line in enumerate(lines)]
        (tmp_path / f"{name}.trn").write_text("\n".join(named if name == "ref" else named[::-1]))
    (tmp_path / "about.csv").write_text("speaker\n" + "\n".join(f"s{k}" for k in SPEAKER) + "\n")
    return tmp_path


@pytest.mark.parametrize("metric", ["wer", "cer", "chrf++", "rougeL", "token_f1"])
def test_texts(folder: Path, metric: str) -> None:
    table = {"r": REFERENCE, "h": FIRST, "u": SPEAKER}
    expected = strat.evaluate(table, truth="r", predicted="h", units="u", metrics=metric)[metric.lower()]
    lines = evaluate_files(folder / "ref.txt", folder / "first.txt", metrics=metric, about=folder / "about.csv",
                           units="speaker")  # fmt: skip
    named = evaluate_files(folder / "ref.trn", folder / "first.trn", metrics=metric, units="speaker")
    for result in (lines, named):
        assert result[metric.lower()].value == pytest.approx(expected.value, abs=1e-12)
        assert result[metric.lower()].se == pytest.approx(expected.se, abs=1e-12)


def test_two_systems_are_paired_and_the_lower_error_is_better(folder: Path) -> None:
    board = compare_files(folder / "ref.trn", [folder / "second.trn", folder / "first.trn"], metrics="wer",
                          units="speaker")  # fmt: skip
    table = {"r": REFERENCE, "first": FIRST, "second": SECOND, "u": SPEAKER}
    expected = strat.compare(table, truth="r", predicted=["second", "first"], units="u", metrics="wer")
    assert list(board.systems) == list(expected.systems) == ["first", "second"]
    ours, theirs = (one.difference("second", "first") for one in (board, expected))
    assert (ours.value, ours.se) == pytest.approx((theirs.value, theirs.se), abs=1e-12)


def test_groups_take_their_own_rows(folder: Path) -> None:
    result = evaluate_files(folder / "ref.trn", folder / "first.trn", metrics="wer", by="speaker")
    own = [strat.wer(REFERENCE[a : a + 4], FIRST[a : a + 4]).value() for a in range(0, 20, 4)]
    values = [float(one.value) for one in result.groups["wer"].each.values()]
    assert values == pytest.approx([float(v) for v in own], abs=1e-12)
    assert result.groups["wer"].worst().value == max(values)


OF_FILES = [str(one) for one in every() if one.files and one.name != "panoptic_quality"]


@pytest.mark.parametrize("name", OF_FILES)
def test_which_way_is_better_is_what_the_statistic_says(name: str) -> None:
    measure = measure_of(name)
    masks = [np.array([[1, 0]]), np.array([[1, 1]])]
    turns = [[(0.0, 9.0, "A")], [(0.0, 8.0, "A"), (8.0, 9.0, "B")]]
    runs = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}
    sides = {"texts": ["a b", "c d"], "masks": masks, "turns": turns, "runs": runs, "boxes": _coco()}[
        measure.files or ""
    ]
    if measure.files == "boxes":
        pytest.importorskip("pycocotools")
    statistic = of_files(measure, *(sides if measure.files == "boxes" else (sides, sides)))
    assert statistic.higher_is_better is measure.higher_is_better


def test_turns(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    sides: list[list[Any]] = []
    for name, late in (("ref", 0.0), ("hyp", 0.7)):
        turns = [(r, 3.0 * k + late * rng.random(), "AB"[k % 2]) for r in range(8) for k in range(5)]
        kept = [turn for turn in turns if name == "ref" or turn[0] != 7]  # nobody was found in the last recording
        lines = [f"SPEAKER rec{r} 1 {start:.3f} 3.000 <NA> <NA> {who} <NA> <NA>" for r, start, who in kept]
        (tmp_path / f"{name}.rttm").write_text("SPKR-INFO rec0 1\n" + "\n".join(lines))
        sides.append([[(round(s, 3), round(s, 3) + 3.0, w) for q, s, w in kept if q == r] for r in range(8)])
    names = ["der", "der@0.25", "der_missed", "der_false_alarm", "der_confusion"]
    result = evaluate_files(tmp_path / "ref.rttm", tmp_path / "hyp.rttm", metrics=names)
    assert result["der"].value == pytest.approx(float(strat.der(*sides).value()), abs=1e-9)
    assert result["der@0.25"].value == pytest.approx(float(strat.der(*sides, collar=0.25).value()), abs=1e-9)
    assert sum(result[name].value for name in names[2:]) == pytest.approx(result["der"].value)


def test_runs(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(12)} for i in range(9)}
    run = {q: {d: float(rng.integers(0, 50)) for d in docs} for q, docs in qrels.items() if q != "q3"}
    (tmp_path / "qrels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q, x in qrels.items() for d, g in x.items()))
    (tmp_path / "a.run").write_text("".join(f"{q} Q0 {d} 1 {s} a\n" for q, x in run.items() for d, s in x.items()))
    result = evaluate_files(tmp_path / "qrels.txt", tmp_path / "a.run", metrics=["nDCG@5", "map,bpref"])
    for name, expected in (
        ("ndcg@5", strat.ndcg(qrels, run, k=5)),
        ("map", strat.mean_average_precision(qrels, run)),
        ("bpref", strat.bpref(qrels, run)),
    ):
        assert result[name].value == pytest.approx(float(expected.value()), abs=1e-12)


def test_masks(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    truth = {f"case{k}": rng.integers(0, 2, (6, 6)) for k in range(10)}
    guess = {name: np.where(rng.random((6, 6)) < 0.8, mask, 1 - mask) for name, mask in truth.items()}
    np.savez(tmp_path / "truth.npz", **truth)
    (tmp_path / "guess").mkdir()
    for name, mask in guess.items():
        np.save(tmp_path / "guess" / f"{name}.npy", mask)
    about = {"patient": [k // 2 for k in range(10)][::-1], "case": [f"case{k}" for k in range(10)][::-1]}
    names = ["dice", "dice_totals", "mIoU", "hd95"]
    result = evaluate_files(tmp_path / "truth.npz", tmp_path / "guess", metrics=names, about=about, units="patient")
    sides = list(truth.values()), list(guess.values())
    for name, expected in (
        ("dice", strat.dice(*sides)),
        ("dice_totals", strat.dice(*sides, average="totals")),
        ("miou", strat.mean_iou(*sides)),
        ("hd95", strat.hausdorff(*sides, percentile=95)),
    ):
        by_patient = strat.estimate(expected, on=strat.Design.clustered(units=np.arange(10) // 2))
        assert (result[name].value, result[name].se) == pytest.approx((by_patient.value, by_patient.se), abs=1e-12)


def _coco() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    rng = np.random.default_rng(4)
    boxes = [[*rng.uniform(0, 50, 2).tolist(), *rng.uniform(10, 40, 2).tolist()] for _ in range(24)]
    objects = [{"id": k + 1, "image_id": k // 2, "category_id": 1 + k % 2, "bbox": box, "area": box[2] * box[3],
                "iscrowd": 0} for k, box in enumerate(boxes)]  # fmt: skip
    results = [{"image_id": k // 2, "category_id": 1 + k % 2, "bbox": [v + rng.normal(0, 3) for v in box],
                "score": float(rng.random())} for k, box in enumerate(boxes)]  # fmt: skip
    sheet = {"images": [{"id": k} for k in range(12)], "categories": [{"id": 1}, {"id": 2}], "annotations": objects}
    return sheet, results


def test_detections(tmp_path: Path) -> None:
    pytest.importorskip("pycocotools")
    truth, results = _coco()
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "boxes.json").write_text(json.dumps(results))
    about = {"image": range(12), "half": ["a"] * 6 + ["b"] * 6}
    result = evaluate_files(
        tmp_path / "truth.json", tmp_path / "boxes.json", metrics=["ap", "ap50"], about=about, by="half"
    )
    assert result["ap"].value == pytest.approx(float(strat.coco_ap(truth, results).value()), abs=1e-12)
    assert result["ap50"].value == pytest.approx(float(strat.coco_ap(truth, results, iou=0.5).value()), abs=1e-12)
    first = {**truth, "images": truth["images"][:6], "annotations": truth["annotations"][:12]}
    own = next(iter(result.groups["ap"].each.values()))
    assert own.value == pytest.approx(float(strat.coco_ap(first, results[:12]).value()), abs=1e-12)


def test_on_the_command_line(folder: Path) -> None:
    paths = [str(folder / f"{name}.trn") for name in ("ref", "first", "second")]
    done = CliRunner().invoke(app, ["score", *paths[:2], "--metric", "wer", "--units", "speaker", "--json"])
    assert done.exit_code == 0, done.output
    expected = evaluate_files(paths[0], paths[1], metrics="wer", units="speaker")["wer"].value
    assert str(round(expected, 6)) in done.output
    done = CliRunner().invoke(app, ["score", *paths, "--metric", "wer", "--units", "speaker"])
    assert done.exit_code == 0, done.output
    assert "first" in done.output


def test_a_design_of_the_columns_beside_the_files(folder: Path) -> None:
    about = {"speaker": SPEAKER, "room": np.arange(20) % 4, "w": np.arange(20) + 1.0}
    paths = [folder / f"{name}.txt" for name in ("ref", "first", "second")]
    crossed = strat.Sampling(crossed=["speaker", "room"])
    table = {"r": REFERENCE, "first": FIRST, "second": SECOND, **about}
    result = evaluate_files(paths[0], paths[1], metrics="wer", about=about, design=crossed)
    expected = strat.evaluate(table, truth="r", predicted="first", metrics="wer", design=crossed)
    assert result.design == expected.design
    assert (result["wer"].value, result["wer"].se) == pytest.approx((expected["wer"].value, expected["wer"].se))
    weighted = strat.Sampling(units="speaker", weights="w")
    board = compare_files(paths[0], paths[1:], metrics="wer", about=about, design=weighted)
    other = strat.compare(table, truth="r", predicted=["first", "second"], metrics="wer", design=weighted)
    assert board.difference("first", "second").se == pytest.approx(other.difference("first", "second").se)
    with pytest.raises(StratError, match="`units` must be left out beside `design`"):
        evaluate_files(paths[0], paths[1], metrics="wer", about=about, units="speaker", design=crossed)


def test_the_design_on_the_command_line(folder: Path) -> None:
    (folder / "rooms.csv").write_text("speaker,room\n" + "\n".join(f"s{k},{i % 4}" for i, k in enumerate(SPEAKER)))
    words = ["score", *(str(folder / f"{name}.txt") for name in ("ref", "first")), "--metric", "wer"]
    about = ["--about", str(folder / "rooms.csv")]
    done = CliRunner().invoke(app, [*words, *about, "--crossed", "speaker,room"])
    assert done.exit_code == 0, done.output
    assert "crossed: 20 rows in 5 levels of 'speaker' × 4 levels of 'room'" in done.output
    done = CliRunner().invoke(app, [*words, *about, "--crossed", "speaker"])
    assert "`--crossed` must name two to" in str(done.exception or done.output)


def test_lines_count_from_one_as_in_an_editor(folder: Path) -> None:
    lines = np.arange(20, 0, -1)
    about = {"line": lines, "speaker": SPEAKER[::-1]}
    paths = folder / "ref.txt", folder / "first.txt"
    joined = evaluate_files(*paths, metrics="wer", about=about, units="speaker")["wer"]
    in_order = evaluate_files(*paths, metrics="wer", about={"speaker": SPEAKER}, units="speaker")["wer"]
    assert (joined.value, joined.se) == (in_order.value, in_order.se)
    with pytest.raises(StratError, match="must have a row for each line, got no row for 20"):
        evaluate_files(*paths, metrics="wer", about={"line": np.arange(20), "speaker": SPEAKER}, units="speaker")


CASES = {
    "measure": ("ref.txt", "first.txt", {"metrics": "foo"}, r"`metrics` must be measures of files, got 'foo'"),
    "number": ("ref.txt", "first.txt", {"metrics": "wer@3"}, r"got 'wer@3'; a number follows some, as in 'ndcg@10'"),
    "kinds": ("ref.txt", "first.txt", {"metrics": ["wer", "der"]}, r"must take one kind of file, got 'wer', 'der'"),
    "lines": ("ref.txt", "about.csv", {"metrics": "wer"}, r"about.csv` must have as many lines as `.*ref.txt` \(20\)"),
    "absent": ("none.txt", "first.txt", {"metrics": "wer"}, r"none.txt` can't be read"),
    "turns": ("ref.txt", "first.txt", {"metrics": "der"}, r"ref.txt` must have lines that start with SPEAKER"),
    "about": ("ref.txt", "first.txt", {"metrics": "wer", "about": {"u": [1]}}, r"`about` must have a column 'line'"),
    "join": (
        "ref.trn",
        "first.trn",
        {"metrics": "wer", "about": {"utterance": ["s0-00"], "u": [1]}},
        r"`about` must have a row for each utterance, got no row for 's0-01'",
    ),
    "trn": ("ref.trn", "first.txt", {"metrics": "wer"}, r"first.txt`, line 1, must be words and a new utterance"),
    "coco": ("ref.txt", "first.txt", {"metrics": "coco_ap"}, r"ref.txt` must be JSON"),
    "masks": ("ref.txt", "first.txt", {"metrics": "dice"}, r"`reference` must be a whole file of NumPy arrays"),
}


@pytest.mark.parametrize("name", list(CASES))
def test_refused_with_a_reason(folder: Path, name: str) -> None:
    left, right, asked, message = CASES[name]
    with pytest.raises(StratError, match=message):
        evaluate_files(folder / left, folder / right, **asked)


def test_parts_of_coco_must_name_images(tmp_path: Path) -> None:
    truth, results = _coco()
    for name, given in (("truth", {**truth, "annotations": [{"id": 1}]}), ("boxes", results)):
        (tmp_path / f"{name}.json").write_text(json.dumps(given))
    with pytest.raises(StratError, match="must hold COCO's annotations, each with a whole number 'image_id'"):
        evaluate_files(tmp_path / "truth.json", tmp_path / "boxes.json", metrics="ap")


def test_one_system_is_not_compared(folder: Path) -> None:
    with pytest.raises(StratError, match="`hypotheses` must be two files or more, got 1; use evaluate_files"):
        compare_files(folder / "ref.txt", [folder / "first.txt"], metrics="wer")
    with pytest.raises(StratError, match="`hypotheses` must be different files"):
        compare_files(folder / "ref.txt", [folder / "first.txt"] * 2, metrics="wer")
