"""Every example in the help of every command runs; commands speak with one voice; `--help` is quick.

The files that the examples name are made here from the bundled data and from generators, nothing else.
"""

from __future__ import annotations

import importlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from strat.cli import main
from strat.cli.app import COMMANDS, app
from strat.datasets.example import example, example_path


def commands() -> Iterator[tuple[str, Any]]:
    """Every command and every part of one, with the object that click runs."""
    for name in COMMANDS:
        made = typer.main.get_command(importlib.import_module(f"strat.cli.{name}").command)
        yield name, made
        for part, inner in getattr(made, "commands", {}).items():
            yield f"{name} {part}", inner


def examples() -> list[str]:
    found = []
    for _, command in commands():
        paragraphs = re.split(r"\n\s*\n", command.help or "")
        found += [" ".join(p.split()) for p in paragraphs if p.strip().startswith("strat ")]
    return list(dict.fromkeys(found))


def that_end() -> list[Any]:
    """The examples that end by themselves; `strat open` serves until it is closed (tests/show).

    All sources at once are slow, and so is a check with its full number of samples; tests/reproduce and tests/tables
    run each entry, and checks of fewer samples.
    """
    ending = [line for line in examples() if not line.startswith("strat open")]
    long = [line for line in ending if line.startswith(("strat reproduce", "strat check")) and "--trials" not in line]
    return [pytest.param(line, marks=pytest.mark.slow) if line in long else line for line in ending]


def csv(path: Path, columns: dict[str, Any]) -> None:
    rows = zip(*(np.asarray(v).tolist() for v in columns.values()), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, r)) for r in rows)]) + "\n", encoding="utf-8")


def _only(table: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: table[name] for name in names}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every file that an example names."""
    here = tmp_path_factory.mktemp("examples")
    c = example()
    (here / "predictions.csv").write_bytes(example_path().read_bytes())
    labels = {k: c[k] for k in ("label", "guess", "subject", "passage")}
    _parquet(here / "answers.parquet", labels)
    csv(here / "answers.csv", labels | {"old": c["baseline"], "new": c["guess"]})
    csv(here / "scores.csv", {"correct": c["correct"], "task": c["subject"]})
    worker, prompt = np.divmod(np.arange(60), 10)
    csv(here / "ratings.csv", {"good": (worker * prompt + prompt) % 3 / 2, "worker": worker, "prompt": prompt})
    csv(here / "shots.csv", {"hit": (worker * prompt) % 4 // 3, "subject": worker, "pose": prompt})
    schools = {"pass": (worker + prompt * worker) % 3 // 2, "district": worker, "school": prompt}
    csv(here / "schools.csv", {**schools, "districts": np.full(60, 12), "schools": np.full(60, 20)})
    ill = np.arange(60) // 3 % 4 == 0
    pilot = {
        "label": ill.astype(int),
        "guess": (ill ^ (np.arange(60) % 5 == 0)).astype(int),
        "patient": np.arange(60) // 3,
    }
    pilot |= {"correct": (pilot["label"] == pilot["guess"]).astype(int), "judge": np.arange(60) * 7 % 11 / 11}
    csv(here / "pilot.csv", pilot)
    risk = np.round(0.25 + 0.4 * ill + 0.01 * (np.arange(60) % 7), 2)
    sex = np.array(["f", "m"])[np.arange(60) // 3 % 2]
    csv(
        here / "scans.csv", {"label": np.where(ill, "ill", "well"), "risk": risk, "sex": sex, **_only(pilot, "patient")}
    )
    _judged(here)
    both = {"id": c["item"], "label": c["label"], "subject": c["subject"]}
    csv(here / "old.csv", both | {"guess": c["baseline"]})
    csv(here / "new.csv", both | {"guess": c["guess"]})
    _long(here / "results.csv", c)
    csv(here / "items.csv", {"id": c["item"], "doc_id": c["item"], "subject": c["subject"], "task": c["subject"],
                             "passage": c["passage"]})  # fmt: skip
    _logs(here / "logs", c)
    _tables(here)
    _recognition(here)
    _fields(here)
    _made_by_commands(here)
    return here


def _made_by_commands(here: Path) -> None:
    """What one example writes and another reads: the examples run in any order."""
    with pytest.MonkeyPatch.context() as inside:
        inside.chdir(here)
        for line in (
            "gate old.csv --items id --truth label --predicted guess --save baseline.json",
            "array --levels 3 --columns 40 --out array.csv",
        ):
            with pytest.raises(SystemExit):
                main(shlex.split(line))


def _fields(here: Path) -> None:
    """Files of speech and translation: a reference, and what systems made of it."""
    texts = {"reference": ["the cat sat", "a dog ran far", "it was big", "we saw it"] * 6}
    texts["hypothesis"] = texts["first"] = [
        t.replace("a ", "the ") if k % 3 else t for k, t in enumerate(texts["reference"])
    ]
    texts["second"] = [t.replace("it", "a cat") if k % 2 else t for k, t in enumerate(texts["reference"])]
    for name, lines in texts.items():
        (here / f"{name}.txt").write_text("\n".join(lines))
        named = [f"{line} (s{k // 4}-{k})" for k, line in enumerate(lines)]
        (here / f"{name}.trn").write_text("\n".join(named))
    csv(here / "segments.csv", {"document": np.arange(24) // 3})
    for name, late in (("reference", 0.0), ("hypothesis", 0.4)):
        turns = [
            f"SPEAKER r{k // 4} 1 {k % 4 * 3 + late * (k % 3)} 3 <NA> <NA> {'AB'[k % 2]} <NA> <NA>" for k in range(24)
        ]
        (here / f"{name}.rttm").write_text("\n".join(turns))


def _parquet(path: Path, columns: dict[str, Any]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({k: v.tolist() for k, v in columns.items()}), path)


def _long(path: Path, c: dict[str, Any]) -> None:
    right = [c["correct"], (c["baseline"] == c["label"]).astype(int)]
    n = len(c["item"])
    csv(path, {
        "model": np.repeat(["new", "old"], n), "question": np.tile(c["item"], 2), "correct": np.concatenate(right),
        "subject": np.tile(c["subject"], 2),
    })  # fmt: skip


def _logs(folder: Path, c: dict[str, Any]) -> None:
    """Logs of two systems as inspect-ai writes them."""
    folder.mkdir()
    for model, guess in (("new", "guess"), ("old", "baseline")):
        samples = [
            {"id": int(i), "epoch": 1, "scores": {"match": {"value": "C" if g == t else "I"}}, "metadata": {}}
            for i, g, t in zip(c["item"][:60], c[guess][:60], c["label"][:60], strict=True)
        ]
        log = {
            "version": 2,
            "status": "success",
            "eval": {"task": "claims", "model": model, "created": "2024-01-01T00:00:00+00:00", "run_id": model,
                     "task_id": model, "dataset": {"samples": 60}, "config": {"epochs": 1}},
            "results": {"total_samples": 60, "completed_samples": 60, "scores": []},
            "samples": samples,
        }  # fmt: skip
        (folder / f"{model}.json").write_text(json.dumps(log), encoding="utf-8")


def _judged(here: Path) -> None:
    """Answers with a judge's score in every row and a label in some, and votes on pairs."""
    rng = np.random.default_rng(3)
    human = rng.random(300) < 0.6
    judge = np.clip(0.3 + 0.4 * human + 0.1 * rng.standard_normal(300), 0, 1).round(4)
    labels = [int(h) if known else "" for h, known in zip(human, rng.random(300) < 0.4, strict=True)]
    csv(
        here / "judged.csv",
        {"id": np.arange(300), "human": labels, "judge": judge, "conversation": np.arange(300) // 3},
    )
    systems = {"human_a": labels, "human_b": [1 if known != "" else "" for known in labels]}
    systems["human_b"][labels.index(0)] = 0
    csv(
        here / "judged_pairs.csv",
        {**systems, "judge_a": judge, "judge_b": rng.random(300).round(4), "prompt": np.arange(300) // 3},
    )
    pair = np.array([rng.choice(3, 2, replace=False) for _ in range(300)])
    csv(here / "votes.csv", {
        "left": np.array(list("abc"))[pair[:, 0]], "right": np.array(list("abc"))[pair[:, 1]],
        "winner": rng.choice(["left", "right", "tie"], 300), "prompt": np.arange(300) // 10,
        "worker": rng.integers(0, 20, 300),
    })  # fmt: skip


def _tables(here: Path) -> None:
    rng = np.random.default_rng(1)
    (here / "matrix.csv").write_text("40,5\n8,47\n", encoding="utf-8")
    names = [f"set {k}" for k in range(12)]
    skill = {"C1": 0.8, "C2": 0.75, "C3": 0.7}
    values = {k: (v + 0.05 * rng.standard_normal(12)).round(4) for k, v in skill.items()}
    csv(here / "accuracies.csv", {"dataset": names, **values})
    csv(here / "folds.csv", {"a": values["C1"][:10], "b": values["C2"][:10]})
    csv(here / "errors.csv", {"dataset": names, **{k: (1 - v).round(4) for k, v in values.items()}})
    csv(here / "runs.csv", {
        "dataset": np.repeat(names, 3), "classifier": np.tile(list(values), 12),
        "percent_correct": np.column_stack(list(values.values())).ravel(),
    })  # fmt: skip


def _lists_of_trials(here: Path, x: Any, who: Any, first: Any) -> None:
    """The same embeddings as arrays with labels, and their scores as lists."""
    for name, use, labels in (("probes", ~first, "who"), ("gallery", first, "whom")):
        np.save(here / f"{name}.npy", x[use])
        (here / f"{labels}.txt").write_text("\n".join(map(str, who[use])))
    i, j = np.triu_indices(len(who), 1)
    score, mated = (x[i] * x[j]).sum(axis=1), who[i] == who[j]
    names = [f"id{w}/{k}.wav" for k, w in enumerate(who)]
    lines = [f"{int(m)} {names[a]} {names[b]}" for m, a, b in zip(mated, i, j, strict=True)]
    (here / "trials.txt").write_text("\n".join(lines))
    for name, values in (
        ("a", score),
        ("b", score + np.sin(i)),
        ("genuine", score[mated]),
        ("impostor", score[~mated]),
    ):
        (here / f"{name}.txt").write_text("\n".join(map(str, values)))


def _recognition(here: Path) -> None:
    rng = np.random.default_rng(2)
    who = np.repeat(np.arange(20), 4)
    x = rng.normal(size=(20, 8))[who] + 0.5 * rng.normal(size=(80, 8))
    first = np.arange(80) % 4 == 0
    np.savez(here / "all.npz", embeddings=x, subject=who)
    np.savez(here / "gallery.npz", embeddings=x[first], subject=who[first])
    np.savez(here / "probes.npz", embeddings=x[~first], subject=who[~first])
    scores = x[~first][:20] @ x[first].T
    both = {"face_g": scores, "face_c": scores + 0.1 * np.sin(np.arange(scores.size)).reshape(scores.shape)}
    np.savez(here / "scores.npz", **both, probes=who[~first][:20], gallery=who[first])
    np.savez(here / "query.npz", embeddings=x[~first], subject=who[~first])
    np.savetxt(here / "q.txt", np.ones((~first).sum()), fmt="%d")
    np.savetxt(here / "g.txt", np.zeros(first.sum()), fmt="%d")
    _lists_of_trials(here, x, who, first)


@pytest.mark.parametrize("line", that_end())
def test_the_example_runs(
    line: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    matplotlib.use("agg")
    monkeypatch.chdir(folder)
    for made in ("report.html", "strat-demo.html"):
        (folder / made).unlink(missing_ok=True)
    if "--copy" in line:
        line = line.replace("predictions.csv", "copied.csv")
    program, *arguments = shlex.split(line)
    assert program == "strat"
    with pytest.raises(SystemExit) as end:
        main(arguments)
    said = capsys.readouterr()
    answers = (0, None, 3, 4) if arguments[0] == "gate" else (0, None)  # a gate's answer is its exit code
    assert end.value.code in answers, said.err
    assert said.out or "--output" in arguments or "--copy" in arguments
    if "--json" in arguments:
        assert json.loads(said.out)["schema"].startswith("strat/")


def test_every_command_has_an_example() -> None:
    lines = examples()
    for name in COMMANDS:
        assert any(line.startswith(f"strat {name}") for line in lines), name


def test_every_command_can_answer_in_json() -> None:
    for name, command in commands():
        if not getattr(command, "commands", None):
            assert any("--json" in getattr(p, "opts", ()) for p in command.params), name


def test_options_of_one_name_have_one_form() -> None:
    """A switch is a switch and a value a value in every command."""
    kinds: dict[str, set[bool]] = {}
    for _, command in commands():
        for p in command.params:
            for option in getattr(p, "opts", ()):
                kinds.setdefault(option, set()).add(bool(getattr(p, "is_flag", False)))
    several = {option for option, forms in kinds.items() if len(forms) > 1}
    # Friedman's correction or a rule for tied probes; the bundled data or a folder of data.
    assert several <= {"--ties", "--data"}


def test_a_wrong_column_offers_the_near_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["evaluate", str(folder / "predictions.csv"), "--truth", "lable", "--predicted", "guess"])
    assert end.value.code == 1
    assert "did you mean 'label'" in capsys.readouterr().err


def test_exit_codes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, code in (
        (["--help"], 0),
        (["--version"], 0),
        (["evaluate", str(folder / "nothing.csv"), "--truth", "a", "--predicted", "b"], 1),
        (["evaluate"], 2),
        (["nonsense"], 2),
        (["demo", "--nonsense"], 2),
    ):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        said = capsys.readouterr()
        assert (end.value.code or 0) == code, arguments
        assert "Traceback" not in said.err


def test_an_unknown_command_offers_the_near_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["evalute"])
    assert "evaluate" in capsys.readouterr().err


def test_an_interrupt_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(SystemExit) as end:
        main(["demo"])
    assert end.value.code == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_help_and_version_load_neither_numpy_nor_the_library(words: list[str]) -> None:
    """Both answer at once, and with the very text that the whole program gives."""
    code = (
        "import sys\nfrom strat.cli import main\n"
        f"try:\n    main({words})\nexcept SystemExit:\n    pass\n"
        "own = {name for name in sys.modules if name.startswith('strat.')}\n"
        "light = ('strat.cli', 'strat.base.errors', 'strat.base.notes')\n"
        "heavy = {'numpy', 'scipy', 'narwhals', 'duckdb', 'pydantic.types', 'rich'} & set(sys.modules)\n"
        "heavy |= {name for name in own - {'strat.base', 'strat.base.notes'} if not name.startswith(light)}\n"
        "sys.stderr.write(' '.join(sorted(heavy)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    own = CliRunner().invoke(app, words, prog_name="-c").output  # the program is called -c here
    assert done.stdout.split() == own.split()


def test_the_list_of_commands_is_what_each_says_of_itself() -> None:
    """`strat --help` imports no command, so that the first lines of their helps stand in a table, too."""
    parents = {name: " ".join((command.help or "").split("\n\n")[0].split()) for name, command in commands()}
    assert {name: parents[name] for name in COMMANDS} == COMMANDS
