"""The page of `strat open` in a real browser, end to end: a table, a question, the report; keys, phone, dark.

Needs Chromium and playwright, as tests/show/test_report_browser.py does; STRAT_SHOTS names a folder for pictures.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from visiting import PHONE, Visit, fits

from strat.datasets.example import example_path
from strat.show.local_page import Page

EVIL = "<img src=x onerror=alert(2)>"


@pytest.fixture
def opened() -> Iterator[Page]:
    with Page() as page:
        yield page


def visit(browser: Any, page: Page, **options: Any) -> Visit:
    refused = "error: Failed to load resource: the server responded with a status of 400 (Bad Request)"
    return Visit(browser, page.address, permitted=refused, **options)


def shot(page: Any, name: str) -> None:
    folder = os.environ.get("STRAT_SHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def run(page: Any) -> Any:
    """Ask, wait for the report, and return its frame."""
    page.get_by_role("button", name="Get the answer").click()
    page.locator("#answer").wait_for(state="visible")
    frame = page.frame_locator("#report")
    frame.locator("h1").wait_for()
    return frame


def test_from_a_file_to_a_report(browser: Any, opened: Page, tmp_path: Path) -> None:
    mine = tmp_path / "mine.csv"
    mine.write_bytes(example_path().read_bytes())
    with visit(browser, opened) as page:
        shot(page, "empty")
        page.locator("#file").set_input_files(mine)
        page.locator("#seen").wait_for(state="visible")
        assert "mine.csv: 1,185 rows, 9 columns" in page.locator("#seen-title").inner_text()
        assert "labels" in page.locator("#columns tbody tr", has_text="guess").inner_text()
        page.get_by_role("radio", name="How good is it?").check()
        assert page.get_by_label("Truth", exact=True).input_value() == "label"
        assert page.get_by_label("Cluster", exact=True).input_value() == "passage"
        shot(page, "filled")
        frame = run(page)
        assert "0.85" in frame.locator("h1").inner_text()
        command = "strat evaluate mine.csv --truth label --predicted guess --units passage --strata subject"
        assert page.locator("#command").inner_text() == command
        assert page.locator("#call").inner_text().startswith('strat.evaluate("mine.csv", truth="label"')
        shot(page, "answer")
        with page.expect_download() as coming:
            page.get_by_role("link", name="Download the report").click()
        assert coming.value.suggested_filename == "report.html"
        assert "Content-Security-Policy" in Path(coming.value.path()).read_text(encoding="utf-8")
        assert page.evaluate("document.querySelector('#report').contentDocument") is None  # a sandbox of its own


def test_every_question_has_an_answer(browser: Any, opened: Page) -> None:
    with visit(browser, opened) as page:
        page.get_by_role("button", name="Try the bundled example").click()
        page.locator("#seen").wait_for(state="visible")
        page.get_by_role("radio", name="Which is better?").check()
        assert page.get_by_role("checkbox", name="baseline", exact=True).first.is_checked()
        assert "is better than baseline" in run(page).locator("h1").inner_text()
        page.get_by_role("radio", name="How good is it by group?").check()
        page.locator("[data-field=by]").get_by_role("checkbox", name="subject").check()
        assert "anatomy" in run(page).locator("main").inner_text()
        page.get_by_role("radio", name="Would the interval hold?").check()
        page.get_by_label("Samples", exact=True).fill("50")
        page.get_by_label("Measures", exact=True).fill("accuracy")
        run(page)
        assert "samples like yours" in page.locator("#text").text_content()
        shot(page, "hold")
        page.get_by_role("radio", name="How much data do I need?").check()
        page.get_by_label("Wanted width", exact=True).fill("0.04")
        run(page)
        assert page.locator("#command").inner_text().startswith("strat plan pilot predictions.csv --truth label")
        shot(page, "plan")


def test_errors_stand_at_their_field(browser: Any, opened: Page) -> None:
    with visit(browser, opened) as page:
        page.get_by_label("type the name of a file or folder").fill("nothing.csv")
        page.get_by_role("button", name="Open", exact=True).click()
        page.locator("#error-path", has_text="must name a file").wait_for()
        page.get_by_role("button", name="Try the bundled example").click()
        page.locator("#seen").wait_for(state="visible")
        page.get_by_role("radio", name="How good is it?").check()
        page.get_by_label("Score", exact=True).select_option("score")
        page.get_by_role("button", name="Get the answer").click()
        page.locator("#error-positive", has_text="must name the positive class").wait_for()
        assert page.evaluate("document.activeElement.id") == "field-positive"
        assert page.get_by_label("Positive class", exact=True).get_attribute("aria-invalid") == "true"
        assert "error-positive" in page.get_by_label("Positive class", exact=True).get_attribute("aria-describedby")
        shot(page, "error")
        page.get_by_label("Positive class", exact=True).fill("supported")
        run(page)
        assert page.locator("#error-positive").inner_text() == ""


def test_long_work_shows_that_it_runs_and_stops(browser: Any, opened: Page) -> None:
    with visit(browser, opened) as page:
        page.get_by_role("button", name="Try the bundled example").click()
        page.locator("#seen").wait_for(state="visible")
        page.get_by_role("radio", name="Would the interval hold?").check()
        page.get_by_label("Samples", exact=True).fill("500000")
        page.get_by_role("button", name="Get the answer").click()
        page.locator("#clock", has_text=re.compile("[1-9]")).wait_for()
        shot(page, "working")
        page.locator("#stop").click()
        page.locator("#error-ask", has_text="Stopped.").wait_for()
        assert page.get_by_role("button", name="Get the answer").is_enabled()
    assert not any(job.process.is_alive() for job in opened.jobs.jobs.values())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_labels_stay_labels(browser: Any, scheme: str, tmp_path: Path) -> None:
    evil = tmp_path / "evil.csv"
    rows = [f"{'ab'[k % 2]},{'ab'[k % 3 % 2]},{k // 4}" for k in range(80)]
    evil.write_text("\n".join([f"label,guess {EVIL},patient", *rows]), encoding="utf-8")
    with Page(str(evil)) as opened, visit(browser, opened, viewport=PHONE, color_scheme=scheme) as page:
        page.locator("#seen").wait_for(state="visible")
        assert page.locator("main img").count() == 0
        assert fits(page)
        page.get_by_label("Prediction", exact=True).select_option(f"guess {EVIL}")
        run(page)
        assert fits(page)
        shot(page, f"phone-{scheme}")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(251, 251, 250)" if scheme == "light" else "rgb(20, 23, 26)")


def test_by_keyboard_and_by_ear(browser: Any, opened: Page) -> None:
    with visit(browser, opened) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the table"
        page.locator("#example").focus()
        page.keyboard.press("Enter")
        page.locator("#seen").wait_for(state="visible")
        unnamed = page.evaluate(
            "[...document.querySelectorAll('button, select, input, progress, iframe, fieldset')].filter(e => "
            "!(e.textContent.trim() || e.title || e.getAttribute('aria-label') || e.labels?.length)).length"
        )
        assert unnamed == 0
        assert "Now choose the question" in page.locator("#live").inner_text()
        page.locator("#questions input:checked").focus()
        page.keyboard.press("ArrowDown")
        assert page.locator("#questions input:checked").get_attribute("value") == "group"
        page.locator("#run").focus()
        page.keyboard.press("Enter")
        page.locator("#error-by", has_text="must name at least one column").wait_for()


def test_it_says_when_the_terminal_has_closed_it(browser: Any) -> None:
    with Page() as opened:
        context = browser.new_context()
        page = context.new_page()
        page.goto(opened.address)
        page.locator("#questions input").first.wait_for(state="attached")
    page.get_by_role("button", name="Try the bundled example").click()
    page.locator("#error-file", has_text="The page is closed").wait_for()
    context.close()


def test_a_workbook_of_several_sheets_lets_one_choose(browser: Any, opened: Page, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for sheet, rows in ((book.active, 40), (book.create_sheet("Second site"), 60), (book.create_sheet("Empty"), 0)):
        for row in [("label", "guess", "patient")] * bool(rows) + [
            ("ab"[k % 2], "ab"[k % 3 % 2], k // 4) for k in range(rows)
        ]:
            sheet.append(row)
    book.save(tmp_path / "sites.xlsx")
    with visit(browser, opened) as page:
        page.locator("#file").set_input_files(tmp_path / "sites.xlsx")
        page.locator("#seen").wait_for(state="visible")
        assert "40 rows" in page.locator("#seen-title").inner_text()
        sheet = page.get_by_label("Sheet of the workbook")
        assert sheet.locator("option").all_inner_texts() == ["Sheet", "Second site"]
        sheet.select_option("Second site")
        page.locator("#seen-title", has_text="60 rows").wait_for()
        run(page)
        assert page.locator("#command").inner_text().startswith("strat evaluate 'sites.xlsx#Second site' --truth label")
        shot(page, "sheet")
        page.get_by_role("button", name="Try the bundled example").click()
        page.locator("#seen-title", has_text="1,185 rows").wait_for()
        assert page.locator("#sheets").is_hidden()


def test_a_folder_of_logs_keeps_its_folders(browser: Any, opened: Page, tmp_path: Path) -> None:
    for model in ("large", "small"):
        (tmp_path / "runs" / model).mkdir(parents=True)
        lines = [
            {"doc_id": k, "doc": {"passage": f"p{k // 4}"}, "filter": "none", "metrics": ["acc"], "doc_hash": str(k),
             "acc": float(k % (3 if model == "large" else 2) > 0)}
            for k in range(40)
        ]  # fmt: skip
        name = tmp_path / "runs" / model / "samples_reading_2026-01-01T00-00-00.000000.jsonl"
        name.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    (tmp_path / "runs" / ".hidden").write_text("not for the page", encoding="utf-8")
    with visit(browser, opened) as page:
        page.locator("#folder").set_input_files(tmp_path / "runs")
        page.locator("#seen").wait_for(state="visible")
        assert "80 scored samples of large, small" in page.locator("#seen-title").inner_text()
        page.get_by_label("Cluster", exact=True).select_option("passage")
        assert "large (0.650)" in run(page).locator("h1").inner_text()
        shot(page, "folder")
