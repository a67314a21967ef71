"""The calls of the record, by name: every public function; verbs, designs and the command line at length.

A table of the laws serves for most of them: 96 rows of 24 units in three strata, and two systems.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("", "front")]  # as pytest has them

import numpy as np  # noqa: E402
import public_calls  # noqa: E402

import strat  # noqa: E402
from law_tables import (  # noqa: E402
    BINARY,
    DESIGN_OF,
    DESIGNS,
    GROUPS_OF_MEASURES,
    LABELS,
    MEASURES,
    Data,
    asked_of_all,
    csv_file,
    judged,
    names_of,
    of_all,
    of_one,
    table,
    voted,
)
from strat import Sampling, comparison, datasets, gaussian, planning, recognition  # noqa: E402
from strat.cli import main  # noqa: E402

Calls = dict[str, Callable[[], Any]]
PICTURES = (".plot", ".to_frame", ".render")  # and frames and pages: the numbers of other calls
BOTH: dict[str, Any] = {"units": "unit", "strata": "stratum"}
SYSTEMS: dict[str, Any] = {"truth": "truth", "predicted": ["guess0", "guess1"]}
TWO: dict[str, Any] = {"truth": "binary", "score": ["score0", "score1"], "positive": 1}


@cache
def rows() -> Data:
    """The table of the laws."""
    return table()


# ---- every public function


def _public() -> Calls:
    """One call of each: those that the sweep of absurd arguments starts from, but for files that are not there."""
    counted: Counter[str] = Counter()
    calls: Calls = {}
    for call in public_calls.calls():
        absent = any(isinstance(value, str) and value.startswith("/no/such") for value in call.arguments.values())
        if absent or call.name.endswith(PICTURES):
            continue
        counted[call.name] += 1
        name = call.name if counted[call.name] == 1 else f"{call.name} ({counted[call.name]})"
        calls[name] = partial(_call, call)
    return calls


def _rarer() -> Calls:
    """Public functions that the sweep leaves out, and results that others hold."""
    truth, score = rows()["binary"], rows()["score0"]
    groups, both = partial(strat.evaluate, rows(), **LABELS, **BOTH, by="kind"), partial(_estimated, "both")
    case = rows()["case"]
    study: dict[str, Any] = {"truth": case % 2, "score": score, "reader": rows()["reader"], "case": case}
    lines = [lambda t: np.column_stack([t, t]), lambda t: np.column_stack([t, 1 - t])]
    square: dict[str, Any] = {
        "images": np.eye(6) + 0.1,
        "subjects": list("aabbcc"),
        "score": "cosine",
        "training": "initial",
    }
    return {
        "rate_within": partial(_estimated, "both", strat.measures.rate_within(truth, score, fpr=[0.1, 0.3])),
        "groups": lambda: groups().groups["accuracy"],
        "widest gap": lambda: groups().groups["accuracy"].gap(),
        "one check": lambda: strat.check(rows(), **of_one("accuracy"), **BOTH, trials=50)[0],
        "reader": lambda: comparison.readers(**study).values[0],
        "facts of a design": lambda: both(strat.auc(truth, score)).design,
        "method of variance": lambda: both(strat.auc(truth, score)).method,
        "score_table": lambda: strat.verbs.score_table(_files()["board.csv"], higher_is_better=True),
        "example_1_12": lambda: gaussian.bayes_error(gaussian.example_1_12()),
        "standard_problem": lambda: gaussian.standard_problem().classes[1],
        "with_sample": lambda: gaussian.with_sample(np.array([[1.0]]), np.array([[[2.0]]]), 2, added=np.array([[4.0]])),
        "noisy_shapes": lambda: datasets.noisy_shapes(20, curves=lines, rng=1),
        "relative_rank_of": lambda: recognition.relative_rank_of(public_calls.ranked()),
        "system_of_model": lambda: recognition.run(
            recognition.system_of_model(
                "m", **square, fit=lambda x, who: lambda y: y - x.mean(axis=0), training_rows=[0, 2]
            ),
            recognition.image_array(list("aabbcc"), per_subject=2),
        ),
        "read_matrix": lambda: recognition.read_matrix(_files()["scores.csv"]),
        "read_triples": lambda: recognition.read_triples(_files()["triples.csv"]),
        "read_trials": lambda: recognition.read_trials(_files()["trials.txt"]),
        "read_scores": lambda: recognition.read_scores(_files()["trials.txt"]),
        "read_labels": lambda: recognition.read_labels(_files()["labels.txt"]),
        "read_genuine_impostor": lambda: recognition.read_genuine_impostor(
            _files()["genuine.txt"], _files()["impostor.txt"]
        ),
    }


def _centred(images: Any, subjects: Any) -> Callable[[Any], Any]:
    return lambda others: others - images.mean(axis=0)


def _call(call: public_calls.Call) -> Any:
    arguments = public_calls.ready(call.arguments)
    before = str(arguments)
    result = call.function(**arguments)
    assert str(arguments) == before, "the call changed its arguments"
    return result


# ---- verbs


def _every_measure() -> Calls:
    """Every measure that has a name, on rows, on units in strata, and by groups; all fit into a few calls."""
    calls: Calls = {}
    for name in GROUPS_OF_MEASURES:
        for design in ("simple", "both", "repeats"):
            asked = asked_of_all(name, design)
            calls[f"evaluate {name}, {design}"] = partial(strat.evaluate, rows(), **asked)
    return calls


def _every_design() -> Calls:
    """Six measures on every kind of design, and two of them by every verb."""
    calls: Calls = {}
    for design, how in DESIGNS.items():
        for measure in MEASURES:
            one, several = of_one(measure) | how, of_all(measure) | how
            old, new = names_of(measure)
            calls[f"evaluate {measure}, {design}"] = partial(strat.evaluate, rows(), **one)
            if measure in ("accuracy", "auc"):
                calls[f"compare {measure}, {design}"] = partial(strat.compare, rows(), **several)
                sides: dict[str, Any] = {"baseline": old, "candidate": new}
                calls[f"groups of {measure}, {design}"] = partial(strat.evaluate, rows(), **one, by="kind")
                calls[f"gate {measure}, {design}"] = partial(strat.gate, rows(), **several, **sides, margin=0.05)
                calls[f"floor of {measure}, {design}"] = partial(strat.gate, rows(), **one, floor=0.5)
        if design in ("strata", "both", "crossed", "staged", "repeats"):
            calls[f"check, {design}"] = partial(strat.check, rows(), **of_one("accuracy"), **how, trials=50)
        area = strat.auc(rows()["binary"], rows()["score0"])
        calls[f"estimate of the AUC, {design}"] = partial(_estimated, design, area)
    return calls


def _estimated(design: str, statistic: strat.Statistic) -> Any:
    return strat.estimate(statistic, on=DESIGN_OF[design](rows()))


def _replicates() -> Calls:
    """Three statistics by every method of variance."""
    pairs = {"unit": np.arange(96) // 4, "stratum": np.arange(96) // 8}
    design = strat.Design.clustered(pairs["unit"], strata=pairs["stratum"])
    methods: dict[str, Any] = {
        "closed form": design,
        "jackknife": strat.jackknife(design),
        "brr": strat.brr(design),
        "fay": strat.fay(design),
        "generalized": strat.generalized(design),
        "half samples": strat.half_samples(design, replicates=40, rng=1),
        "all half samples": strat.all_half_samples(design),
        "multi-array": strat.multi_array(design),
        "partially balanced": strat.partially_balanced(design, replicates=8),
        "bootstrap": strat.bootstrap(design, replicates=60, rng=1),
    }
    truth, guess = rows()["truth"], rows()["guess0"]
    statistics = {
        "macro F1": strat.f1(truth, guess, average="macro"),
        "mean": strat.mean(rows()["amount"]),
        "quantiles": strat.quantile(rows()["amount"], [0.25, 0.5]),
        "confusion": strat.confusion(truth, guess),
    }
    return {
        f"{name} by {method}": partial(strat.estimate, statistic, on=on)
        for name, statistic in statistics.items()
        for method, on in methods.items()
        if name != "confusion" or method in ("closed form", "brr")
    }


def _options() -> Calls:
    """What the verbs can be told beside columns."""
    ask = partial(strat.evaluate, rows())
    both: dict[str, Any] = LABELS | BOTH
    board, gate = partial(strat.compare, rows(), **SYSTEMS), partial(strat.gate, rows(), **SYSTEMS, baseline="guess0")
    judge: dict[str, Any] = {"score": "human", "proxy": strat.Proxy("judge", probability="chance"), "units": "unit"}
    calls: Calls = {
        f"evaluate with {name}={value}": partial(ask, **both, **{name: value})
        for name, values in {
            "level": (0.8, 0.99),
            "df": ("satterthwaite", 12),
            "method": ("jackknife", "brr", "bootstrap", "generalized"),
        }.items()
        for value in values
    }
    more: Calls = {
        "evaluate each class": partial(ask, **both, metrics=["precision", "recall"], average=None),
        "evaluate this benchmark": partial(ask, score="right0", items="item", target="benchmark"),
        "evaluate one stratum each": partial(ask, **LABELS, design=Sampling(strata="stratum", population=900)),
        "evaluate lone strata": partial(ask, **LABELS, units="school", strata="school", lone="certainty"),
        "evaluate collapsed strata": partial(ask, **LABELS, units="school", strata="school", lone="collapse"),
        "evaluate a threshold": partial(ask, truth="binary", score="score0", threshold=0.6, positive=1, units="unit"),
        "evaluate probabilities": partial(ask, truth="binary", score="score0", units="unit"),
        "evaluate by two columns": partial(ask, **both, by=["sex", "kind"]),
        "evaluate rows with gaps": partial(strat.evaluate, _with_gaps(), **LABELS, missing="drop"),
        "equalized odds": lambda: ask(**_binary(), by="kind").equalized_odds(),
        "evaluate two phases": partial(strat.evaluate, judged(rows()), **judge),
        "evaluate two phases with labels alone": partial(
            strat.evaluate,
            judged(rows()),
            **judge | {"proxy": strat.Proxy("judge", probability="chance", estimator="labels")},
        ),
        "compare two phases": partial(
            strat.compare,
            judged(rows()),
            score=["human", "human1"],
            proxy=strat.Proxy(["judge", "judge1"], probability="chance"),
            units="unit",
        ),
        "compare three systems": partial(strat.compare, rows(), truth="truth", predicted=_three(), **BOTH),
        "compare against a baseline": partial(board, **BOTH, baseline="guess0"),
        "compare two measures": partial(board, **BOTH, metrics=["accuracy", "kappa"]),
        "compare in groups": partial(board, **BOTH, by="kind"),
        "compare at 0.8": partial(board, **BOTH, level=0.8),
        "compare scores": partial(strat.compare, rows(), **TWO, metrics="auc", units="unit"),
        "compare long rows": partial(strat.compare, _long(), system="system", items="item", score="score"),
        "difference of a board": lambda: board(**BOTH).difference("guess0", "guess1"),
        "gate in groups": partial(gate, **BOTH, margin=0.2, by="kind"),
        "gate at any time": partial(gate, margin=0.2, anytime=24, units="unit"),
        "gate on two floors": partial(
            strat.gate, rows(), **both, metrics=["accuracy", "macro_f1"], floor={"accuracy": 0.6, "macro_f1": 0.9}
        ),
        "gate that can't tell": partial(gate, **BOTH, margin=0.001, unsure="pass"),
        "gate on a stored baseline": lambda: strat.gate(
            rows(), baseline=_baseline(), truth="truth", predicted="guess1", items="place", margin=0.1
        ),
        "votes": partial(strat.votes, voted(), units="prompt"),
        "votes with ties": partial(strat.votes, voted(), units="prompt", ties="davidson", home=True),
        "look": partial(strat.look, rows()),
        "look at long rows": partial(strat.look, _long()),
        "check of two measures": partial(
            strat.check, rows(), **both, metrics=["accuracy", "macro_f1"], trials=50, level=0.9
        ),
        "check of scores": partial(strat.check, rows(), score="amount0", units="unit", trials=50),
        "sample in strata": partial(strat.sample, rows(), size=24, items="place", strata="stratum", seed=3),
        "sample of units": partial(strat.sample, rows(), size=9, units="unit", strata="stratum", seed=3),
        "sample in equal parts": partial(strat.sample, rows(), size=12, strata="stratum", method="equal", seed=3),
        "sample every k-th": partial(strat.sample, rows(), size=12, order="place", method="systematic", seed=3),
        "sample by a judge": partial(strat.sample, rows(), size=20, judge="score0", method="neyman", bins=3, seed=3),
        "variance components": _components,
        "levels_for_width": lambda: planning.levels_for_width(_components(), width=0.3),
        "read_baseline": lambda: strat.verbs.read_baseline(_baseline()),
    }
    return calls | more


def _components() -> Any:
    return strat.variance_components(strat.mean(rows()["right0"]), on=DESIGN_OF["crossed"](rows()))


def _binary() -> dict[str, Any]:
    return BINARY | {"units": "unit", "metrics": ["recall", "false_positive_rate"]}


def _with_gaps() -> dict[str, Any]:
    missing = np.arange(96) % 9 == 4
    guess = [None if gone else label for gone, label in zip(missing, rows()["guess0"].tolist(), strict=True)]
    return {**rows(), "guess0": guess}


def _three() -> list[str]:
    return ["guess0", "guess1", "answer"]


def _long() -> dict[str, Any]:
    """Rows of items by systems."""
    scores = [rows()["right0"], rows()["right1"]]
    return {"system": ["a"] * 96 + ["b"] * 96, "item": [*range(96)] * 2, "score": np.concatenate(scores).astype(float)}


@cache
def _folder() -> Path:
    """A folder of this process for what calls write and read."""
    _kept.append(tempfile.TemporaryDirectory())
    return Path(_kept[-1].name)


_kept: list[tempfile.TemporaryDirectory[str]] = []  # until the process ends


@cache
def _baseline() -> Path:
    asked = {"items": "place", "truth": "truth", "predicted": "guess0"}
    return strat.verbs.save_baseline(rows(), _folder() / "baseline.json", **asked)


# ---- models, recognition, readers


def _models() -> Calls:
    """Estimators against one another: clouds of two classes that overlap."""
    from sklearn.naive_bayes import GaussianNB

    rng = np.random.default_rng(4)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + y[:, None]
    two = {"bayes": GaussianNB(), "smooth": GaussianNB(var_smoothing=0.5)}

    @cache
    def compared() -> Any:
        return strat.compare_models(
            two, X, y, metrics=["accuracy", "roc_auc"], cv=3, repeats=2, groups=np.arange(60) // 3, sources=2
        )

    return {
        "cross-validated": lambda: strat.cross_validate(GaussianNB(), X, y, cv=3, groups=np.arange(60) // 3),
        "models": compared,
        "a pair of models": lambda: compared().pair("bayes", "smooth", "accuracy"),
        "p of models": lambda: compared().pvalues("accuracy"),
        "sources of variation": lambda: compared().sources["accuracy"]["bayes",],
    }


def _recognition() -> Calls:
    """Ten subjects of three images: ranks, rates, comparisons of two matchers."""
    data = strat.datasets.recognizer(subjects=10, images=3, noise=1.3, rng=1)
    gallery, probes = data.split()
    x, who = data.embeddings, data.subject
    noisy = x + 0.4 * np.random.default_rng(2).standard_normal(x.shape)

    def scores(of: Any) -> dict[str, Any]:
        return {"similarity": of[probes] @ of[gallery].T, "probes": who[probes], "gallery": who[gallery]}

    @cache
    def verified(average: str = "comparisons") -> Any:
        return recognition.verification(**scores(x), average=average)

    @cache
    def matchers() -> Any:
        return recognition.compare_matchers({"plain": verified(), "noisy": recognition.verification(**scores(noisy))})

    def ranked(**more: Any) -> Any:
        return recognition.ranks(**scores(x), **more)

    calls: Calls = {
        f"{name} of a matcher": partial(lambda name: getattr(verified(), name)(), name)
        for name in ("eer", "auc", "min_dcf", "act_dcf", "cllr", "min_cllr", "zero_fmr")
    }
    return calls | {
        "verification": verified,
        "verification by subjects": partial(verified, "subjects"),
        "rates at thresholds": lambda: verified().rates([0.2, 0.4]),
        "FNMR at an FMR": lambda: verified().fnmr_at([0.1, 0.05]),
        "DET": lambda: verified().det([0.05, 0.1]),
        "two matchers": matchers,
        "FNMR of two matchers": lambda: matchers().difference("plain", "noisy", "fnmr_at", 0.1),
        "DET of two matchers": lambda: matchers().det_difference("plain", "noisy", [0.1, 0.2]),
        "match curve": lambda: recognition.match_curve(ranked()),
        "match curve by subjects": lambda: recognition.match_curve(ranked(), average="subjects"),
        "match curve of these subjects": lambda: recognition.match_curve(ranked(), target="these subjects"),
        "match curve with expected ties": lambda: recognition.match_curve(ranked(), ties="expected"),
        "two match curves": lambda: recognition.match_curve(
            {"plain": ranked(), "noisy": recognition.ranks(**scores(noisy))}, at=[1, 3]
        ).difference("plain", "noisy"),
        "failed probes": lambda: recognition.match_curve(ranked(failed_probes=[0, 3])),
    }


# ---- the command line

LINES = {
    "evaluate": "evaluate rows.csv --truth truth --predicted guess0 --units unit --strata stratum --by sex",
    "evaluate scores": "evaluate rows.csv --truth binary --score score0 --positive 1 --units unit --threshold 0.6",
    "evaluate crossed": "evaluate rows.csv --score right0 --crossed reader,case",
    "evaluate repeats": "evaluate rows.csv --score right0 --items item --metric pass^2",
    "compare": "compare rows.csv --truth truth --predicted guess0 --predicted guess1 --units unit --strata stratum",
    "compare in groups": "compare rows.csv --score right0 --score right1 --by kind --units unit",
    "gate": "gate rows.csv --truth truth --baseline guess0 --candidate guess1 --margin 0.5 --units unit",
    "check": "check rows.csv --truth truth --predicted guess0 --units unit --metric accuracy --trials 50",
    "look": "look rows.csv",
    "sample": "sample rows.csv --size 12 --items place --strata stratum --seed 3",
    "votes": "votes votes.csv --units prompt",
    "chance": "chance rows.csv --truth truth --predicted guess0",
    "chance of units": "chance rows.csv --truth truth --predicted guess0 --units unit --exchange within",
    "test": "test rows.csv --truth truth --system guess0 --system guess1",
    "rank": "rank board.csv --higher-is-better",
    "rank against a control": "rank board.csv --higher-is-better --control a",
    "score": "score reference.txt hypothesis.txt --metric wer",
    "recognize": "recognize --similarity scores.csv",
    "array": "array --levels 3 --columns 7",
    "field": "array --field 9",
    "plan width": "plan width --width 0.1 --proportion 0.8 --design-effect 2.5",
    "plan power": "plan power --difference 0.05 --disagreement 0.1",
    "plan units": "plan units --width 0.1 --proportion 0.8 --rows-per-unit 20 --intraclass 0.1",
    "plan labels": "plan labels --width 0.05 --rows 10000 --correlation 0.7 --proportion 0.8",
    "plan allocation": "plan allocation --sizes 500,300,200 --deviations 0.5,0.3,0.1 --total 120",
    "plan pilot": "plan pilot rows.csv --truth binary --predicted called0 --units unit --metric recall --width 0.2",
    "plan levels": "plan levels rows.csv --score right0 --crossed reader,case --width 0.3",
    "plan intraclass": "plan intraclass rows.csv --score right0 --units unit",
    "plan repeats": "plan repeats --items 200 --between 0.2 --within 0.1 --width 0.08",
    "plan finite": "plan finite --successes 3 --trials 40 --population 200",
    "plan boundaries": "plan boundaries rows.csv --score score0 --strata 3",
}


def _command_line() -> Calls:
    return {f"strat {name}": partial(_json_of, line.split()) for name, line in LINES.items()}


@cache
def _files() -> dict[str, str]:
    """The files that the lines name, by name, with where they are."""
    board = {"data": list("pqrst"), **{s: np.random.default_rng(k).random(5).round(3) for k, s in enumerate("abc")}}
    square = np.random.default_rng(0).random((6, 6)).round(3)
    texts = {"reference.txt": "a b\nc d\ne f\ng\n", "hypothesis.txt": "a b\nc\ne x\ng\n"}
    texts |= {
        "genuine.txt": "0.9\n0.7\n0.8\n",
        "impostor.txt": "0.1\n0.75\n0.3\n0.2\n",
        "labels.txt": "ann\nbob\nann\n",
    }
    texts["trials.txt"] = "1 a1 a2 0.9\n0 a1 b1 0.2\n1 b1 b2 0.6\n0 b2 a2 0.3\n"
    texts["triples.csv"] = "probe,gallery,score\na,a,0.9\na,b,0.1\nb,a,0.3\nb,b,0.8\n"
    lines = [",".join([name, *map(str, row)]) for name, row in zip("abcdef", square, strict=True)]
    texts["scores.csv"] = "\n".join([",a,b,c,d,e,f", *lines])
    for name, text in texts.items():
        (_folder() / name).write_text(text, encoding="utf-8")
    for name, columns in {"rows.csv": rows(), "votes.csv": voted(), "board.csv": board}.items():
        csv_file(columns, _folder() / name)
    return {path.name: str(path) for path in _folder().iterdir()}


def _json_of(words: list[str]) -> Any:
    """What a line of the program prints with --json."""
    said, code = io.StringIO(), 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()) as complaint:
        try:
            main([_files().get(word, word) for word in words] + ["--json"])
        except SystemExit as ended:
            code = int(ended.code or 0)
    if not said.getvalue():
        raise AssertionError(f"{words}: {complaint.getvalue()}")
    return {"code": code, "says": json.loads(said.getvalue())}


def _shared_out(name: str, calls: Calls, parts: int) -> dict[str, Calls]:
    """The calls in parts that take about the same time."""
    names = list(calls)
    return {f"{name} {k + 1}": {one: calls[one] for one in names[k::parts]} for k in range(parts)}


PARTS: dict[str, Calls] = {
    **_shared_out("public functions", _public(), 6),
    "rarer functions": _rarer(),
    "every measure": _every_measure(),
    **_shared_out("every design", _every_design(), 2),
    "replicates": _replicates(),
    "options": _options(),
    "models": _models(),
    "recognition": _recognition(),
    **_shared_out("command line", _command_line(), 2),
}
