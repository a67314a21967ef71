"""What the page has computed, in a process of its own that can be stopped: a look at a table, or an answer."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from strat import data, verbs
from strat.base.errors import StratError
from strat.comparison import units_for
from strat.data.excel import filled_sheets, split_sheet
from strat.data.logs.reading import is_logs
from strat.show.local_page.form import FIELDS, QUESTIONS, in_labels, roles_of
from strat.show.render import jsonable, plain_text, write
from strat.show.report import render
from strat.verbs.check import check
from strat.verbs.check_result import sheet as sheet_of_checks
from strat.verbs.steps import Step

TASK, RESULT, SHARE, REPORT = "task.json", "result.json", "share", "report.html"


@dataclass(frozen=True)
class Answer:
    """What a question came to: the results to report, a table as text, and how to get the same elsewhere."""

    results: Any
    text: str
    command: str
    call: str


def work(folder: str) -> None:
    """Do the task that is written down in the folder, and leave its result there."""
    here = Path(folder)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the page ends us when it ends
    threading.Thread(target=_end_with_the_page, daemon=True).start()
    tempfile.tempdir = folder  # what is kept on disk goes with the folder, however we end
    task = json.loads((here / TASK).read_text(encoding="utf-8"))
    os.chdir(task["folder"])  # files have the names there that commands and reports give them
    write(here / RESULT, json.dumps(jsonable(outcome(task, here))))


def _end_with_the_page() -> None:
    page = parent_process()
    if page is not None:
        page.join()
        os._exit(1)


def outcome(task: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The result of a task, or the sentence that says why there is none and the field that it is about."""
    try:
        return _looked(task) if task["question"] is None else _answered(task, folder)
    except StratError as error:
        field = error.argument if error.argument in FIELDS else None
        return {"error": {"field": field, "message": in_labels(str(error))}}
    except MemoryError:
        message = "There is not enough memory for this; ask for fewer rows, columns or samples."
    except OSError as error:
        message = f"{error.strerror or type(error).__name__}."
    return {"error": {"field": None, "message": message}}


def _looked(task: Mapping[str, Any]) -> dict[str, Any]:
    if is_logs(task["name"]):
        return _logs(task["name"])
    sheets = _sheets(task["name"])
    if len(sheets) > 1:
        return {"kind": "sheets", "sheets": sheets}
    seen = verbs.look(task["name"])
    return {
        "kind": "table",
        "rows": seen.rows,
        "columns": [asdict(column) for column in seen.columns],
        "proposals": [asdict(proposal) for proposal in seen.roles.proposals],
        "remarks": [in_labels(text) for text in (*seen.notes, *seen.roles.questions)],
        "steps": [{"verb": step.verb, "roles": _roles(step)} for step in seen.steps],
    }


def _sheets(name: str) -> list[str]:
    """The sheets of a workbook that hold anything, where the name does not choose one."""
    file, sheet = split_sheet(name)
    workbook = sheet is None and Path(file).suffix.lower() in (".xlsx", ".xlsm")
    return filled_sheets(Path(file)) if workbook else []


def _roles(step: Step) -> dict[str, Any]:
    return {"score" if role == "scores" else role: value for role, value in step.roles.items()}


def _logs(name: str) -> dict[str, Any]:
    logs = data.read_logs(name)
    columns = [{"name": name, "kind": "field of the samples", "levels": len(set(map(str, logs.about[name]))),
                "examples": "", "missing": 0, "role": None} for name in logs.about]  # fmt: skip
    return {
        "kind": "logs",
        "rows": len(logs.score),
        "systems": list(logs.systems),
        "columns": columns,
        "proposals": [],
        "remarks": list(logs.notes),
        "steps": [{"verb": "compare" if len(logs.systems) > 1 else "evaluate", "roles": {}}],
    }


def _answered(task: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    answer = answered(task["name"], task["question"], task["values"], progress=_progress(folder))
    write(folder / REPORT, render(answer.results, title=f"{task['name']} – strat"))
    return {"text": answer.text, "command": answer.command, "call": answer.call}


def answered(
    name: str, question: str, values: Mapping[str, Any], *, progress: Callable[[float], None] | None = None
) -> Answer:
    """The answer to a question about a file."""
    roles = roles_of(question, values)
    verb = QUESTIONS[question].verb
    step = Step(QUESTIONS[question].title, verb, roles, (name,))
    if verb == "compare":
        board = verbs.compare(name, **roles)
        return _answer(board, str(board), step)
    if verb == "check":
        checks = check(name, progress=progress, **roles)
        text = plain_text(sheet_of_checks(checks))
        return _answer(list(checks), text, step)
    if verb == "evaluate":
        evaluation = verbs.evaluate(_table(name, progress), **roles)
        return _answer(evaluation, str(evaluation), step)
    return _planned(name, roles, progress)


def _table(name: str, progress: Callable[[float], None] | None) -> Any:
    """The table of a file, whose reading is followed; logs are read by those who score them."""
    return name if is_logs(name) else data.read(name, progress=progress)


def _planned(name: str, roles: dict[str, Any], progress: Callable[[float], None] | None) -> Answer:
    """The clusters for an interval of the wanted width, from the first measure of the table as a pilot."""
    wanted = {key: roles.pop(key) for key in ("width", "level") if key in roles}
    evaluation = verbs.evaluate(_table(name, progress), **roles)
    metric = next(iter(evaluation.estimates))
    plan = units_for(evaluation[metric], **wanted)
    pilot = roles | {"metrics": (metric,)}
    command = Step("", "plan pilot", pilot | wanted, (name,)).command
    call = Step("", "evaluate", pilot, (name,)).call
    targets = ", ".join(f"{key}={value!r}" for key, value in wanted.items())
    return Answer(
        {"Sample size": plan, "The table as a pilot": evaluation},
        str(plan),
        command or "",
        f'strat.units_for({call}["{metric}"], {targets})',
    )


def _answer(results: Any, text: str, step: Step) -> Answer:
    return Answer(results, text, step.command or "", step.call)


def _progress(folder: Path) -> Callable[[float], None]:
    """A function that writes down the share done, at most five times a second."""
    last = [0.0]

    def note(share: float) -> None:
        if time.monotonic() - last[0] > 0.2:
            last[0] = time.monotonic()
            write(folder / SHARE, f"{share:.3f}")

    return note
