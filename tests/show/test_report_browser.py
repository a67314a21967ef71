"""The report in a real browser: it is quiet, it answers clicks and keys, and it fits a phone and paper.

Needs Chromium (Debian's package `chromium`) and the Python package playwright. Without them the tests are skipped,
unless STRAT_BROWSER is set, as CI does: then a missing browser is a failure.
"""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from visiting import DESK, PHONE, Visit, fits

import strat
from strat.datasets.example import example_path
from strat.measures import rate_at
from strat.show import report

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports to look at: of the bundled data, of labels that bite, and of many systems."""
    here = tmp_path_factory.mktemp("pages")
    deep = here / "a_folder_whose_path_is_wider_than_a_phone" / "with_another_inside_it"
    deep.mkdir(parents=True)
    source = str(shutil.copy(example_path(), deep))
    columns: dict[str, Any] = {"strata": "subject", "units": "passage"}
    found = strat.evaluate(source, truth="label", predicted="guess", score="score", positive="supported", **columns)
    board = strat.compare(source, truth="label", predicted=["guess", "baseline"], **columns)
    rng = np.random.default_rng(3)
    label = np.where(rng.random(400) < 0.5, EVIL, "fine")
    said = np.where(rng.random(400) < 0.8, label, "fine")
    evil = strat.evaluate({"t": label, "p": said, "s": label}, truth="t", predicted="p", strata="s")
    scores = {f"system {k:02d}": (rng.random(300) < 0.4 + 0.01 * k).astype(float) for k in range(30)}
    many = strat.compare(scores, score=list(scores))
    truth = rng.integers(0, 2, 400)
    curve = strat.estimate(
        rate_at(truth, truth + rng.normal(size=400), fpr=np.linspace(0.02, 0.98, 25)),
        on=strat.Design.simple_random(n=400),
    )
    return {
        "demo": report.write({"Comparison": board, "guess": found, "ROC": curve}, here / "demo.html", title="demo"),
        "evil": report.write({EVIL: evil}, here / "evil.html", title=EVIL),
        "many": report.write(many, here / "many.html"),
    }


@pytest.mark.parametrize("name", ["demo", "evil", "many"])
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_quietly_and_fits(
    browser: Any, pages: dict[str, Path], name: str, viewport: dict[str, int], scheme: str, tmp_path: Path
) -> None:
    with Visit(browser, pages[name].as_uri(), viewport=viewport, color_scheme=scheme) as page:
        assert fits(page)
        shot = tmp_path / "shot.png"
        page.screenshot(path=shot)
        assert shot.stat().st_size > 20_000
        assert page.locator("h1").count() == 1


def test_labels_stay_labels(browser: Any, pages: dict[str, Path]) -> None:
    with Visit(browser, pages["evil"].as_uri()) as page:
        assert page.title() == EVIL
        assert page.locator("img").count() == 0
        assert page.locator("tbody th", has_text=EVIL).first.inner_text() == EVIL
        page.locator(".matrix tbody td").first.hover()
        assert "predicted as" in page.locator("#tip").inner_text()
        assert page.locator("#tip *").count() == 0


def column(page: Any, table: str, place: int) -> list[str]:
    found: list[str] = page.locator(f"{table} tbody tr").evaluate_all(
        f"rows => rows.filter(r => !r.hidden).map(r => r.children[{place}].dataset.v)"
    )
    return found


def test_tables_sort_by_click_and_by_key(browser: Any, pages: dict[str, Path]) -> None:
    with Visit(browser, pages["demo"].as_uri()) as page:
        table = "#block-2-2-1"
        head = page.locator(f"{table} thead th").nth(2)
        head.locator("button").click()
        falling = [float(v) for v in column(page, table, 2)]
        assert falling == sorted(falling, reverse=True)
        assert head.get_attribute("aria-sort") == "descending"
        head.locator("button").focus()
        page.keyboard.press("Enter")
        assert [float(v) for v in column(page, table, 2)] == sorted(falling)
        assert head.get_attribute("aria-sort") == "ascending"
        page.locator(f"{table} thead th").first.locator("button").click()
        names = column(page, table, 0)
        assert names == sorted(names)
        assert page.locator(f"{table} [aria-sort]").count() == 1
        assert "Sorted by subject" in page.locator("#said").inner_text()


def test_rows_filter(browser: Any, pages: dict[str, Path]) -> None:
    with Visit(browser, pages["many"].as_uri()) as page:
        page.locator("input[type=search]").first.fill("system 07")
        assert len(column(page, "#block-1-1-1", 1)) == 1
        page.locator("input[type=search]").first.fill("")
        assert len(column(page, "#block-1-1-1", 1)) == 30


def test_any_two_of_many_systems_can_be_asked(browser: Any, pages: dict[str, Path]) -> None:
    with Visit(browser, pages["many"].as_uri()) as page:
        data = json.loads(page.locator("[data-picker]").get_attribute("data-picker"))
        first, second = page.locator(".picker select").all()
        first.select_option("7")
        second.select_option("3")
        said = page.locator(".picker output").inner_text()
        gap = data["values"][7] - data["values"][3]
        assert said.startswith(f"{gap:.4g}".replace("-", "−"))
        pairs = json.loads(page.locator("#strat-data").inner_text())["results"][0]["pairs"]
        a, b = data["systems"][3], data["systems"][7]
        known = next(p for p in pairs if p["better"] == a and p["worse"] == b)
        assert ("not distinguishable" in said) == (known["low"] <= 0)
        second.select_option("7")
        assert "two different" in page.locator(".picker output").inner_text()


def test_tables_are_copied(browser: Any, pages: dict[str, Path]) -> None:
    allowed = ["clipboard-read", "clipboard-write"]
    with Visit(browser, pages["demo"].as_uri(), permissions=allowed) as page:
        for form, sign in (("Markdown", "| measure | estimate |"), ("LaTeX", r"\toprule"), ("CSV", "measure,estimate")):
            button = page.locator(f'[data-copy="block-2-1-1"][data-form="{form}"]')
            button.click()
            page.wait_for_function("document.querySelector('#said').textContent.startsWith('Copied')")
            assert sign in page.evaluate("navigator.clipboard.readText()")


def test_light_and_dark(browser: Any, pages: dict[str, Path]) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    with Visit(browser, pages["demo"].as_uri(), color_scheme="light") as page:
        auto = page.evaluate(ground)
        page.locator("#theme").click()
        assert page.locator("#theme").inner_text() == "Theme: light"
        assert page.evaluate(ground) == auto
        page.locator("#theme").click()
        dark = page.evaluate(ground)
        assert dark != auto
        page.reload()
        page.wait_for_function(f"{ground} === '{dark}'")
    with Visit(browser, pages["demo"].as_uri(), color_scheme="dark") as page:
        assert page.evaluate(ground) == dark


CONTRAST = """() => {
  const parse = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = (c) => { const [r, g, b] = parse(c).map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; const p = parse(c); if (p.length < 4 || p[3] === 1) return c; } return 'rgb(255,255,255)'; };
  const poor = [];
  for (const e of document.querySelectorAll('h1, h2, h3, p, li, th, dt, dd, button, summary, figcaption, .axis span, .xticks span, tbody td.num')) {
    if (!e.offsetParent || e.closest('.matrix, .unseen') || e.classList.contains('unseen')) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((p, q) => q - p);
    if ((a + .05) / (b + .05) < 4.5) poor.push(e.tagName + ' ' + e.className + ' ' + ((a + .05) / (b + .05)).toFixed(2));
  }
  return [...new Set(poor)];
}"""  # noqa: E501


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_and_is_large_enough(browser: Any, pages: dict[str, Path], scheme: str) -> None:
    with Visit(browser, pages["demo"].as_uri(), color_scheme=scheme, viewport=PHONE) as page:
        assert page.evaluate(CONTRAST) == []
        small = page.evaluate(
            "[...document.querySelectorAll('main *')].filter(e => e.offsetParent && !e.children.length && "
            "e.textContent.trim() && parseFloat(getComputedStyle(e).fontSize) < 12).map(e => e.className)"
        )
        assert small == []


def test_people_who_hear_the_page_are_told(browser: Any, pages: dict[str, Path]) -> None:
    with Visit(browser, pages["demo"].as_uri()) as page:
        unnamed = page.evaluate(
            "[...document.querySelectorAll('button, select, input, [role=group], [role=region]')].filter(e => "
            "!(e.textContent.trim() || e.getAttribute('aria-label') || (e.labels && e.labels.length))).length"
        )
        assert unnamed == 0
        assert page.locator("table:not(:has(caption))").count() == 0
        assert page.locator("thead th:not([scope]):not([aria-hidden])").count() == 0
        assert page.locator("svg:not([aria-hidden])").count() == 0
        levels = page.locator("h1, h2, h3").evaluate_all("hs => hs.map(h => Number(h.tagName[1]))")
        assert levels[0] == 1
        assert all(b - a <= 1 for a, b in pairwise(levels))
        assert page.locator("html").get_attribute("lang") == "en"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the answer"


def ticks(page: Any, where: str) -> list[str]:
    found: list[str] = page.locator(f"{where} span").all_inner_texts()
    return found


def test_curves_answer_the_pointer_and_the_keys(browser: Any, pages: dict[str, Path]) -> None:
    with Visit(browser, pages["demo"].as_uri()) as page:
        canvas = page.locator(".canvas").last
        canvas.hover()
        assert "false positive rate 0.5" in page.locator("#tip").inner_text()
        assert " to " in page.locator("#tip").inner_text()
        canvas.focus()
        page.keyboard.press("ArrowRight")
        before = page.locator("#said").inner_text()
        page.keyboard.press("ArrowRight")
        assert page.locator("#said").inner_text() != before


def test_curves_zoom_by_key_by_button_and_by_dragging(browser: Any, pages: dict[str, Path]) -> None:
    with Visit(browser, pages["demo"].as_uri()) as page:
        canvas, svg = page.locator(".canvas").last, page.locator(".canvas svg").last
        whole = ticks(page, ".xticks")
        canvas.focus()
        page.keyboard.press("+")
        closer = svg.get_attribute("viewBox")
        assert closer != "0 0 1000 1000"
        assert ticks(page, ".xticks") != whole
        page.keyboard.press("0")
        assert svg.get_attribute("viewBox") == "0 0 1000 1000"
        assert ticks(page, ".xticks") == whole
        figure = page.locator("figure:has(.canvas)").last
        figure.get_by_role("button", name="Zoom in").click()
        assert svg.get_attribute("viewBox") == closer
        figure.get_by_role("button", name="Show all").click()
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 50)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 60)
        page.mouse.up()
        left, _, width, _ = map(float, svg.get_attribute("viewBox").split())
        assert left == pytest.approx(200, abs=15)
        assert width == pytest.approx(200, abs=15)
        canvas.dblclick()
        assert svg.get_attribute("viewBox") == "0 0 1000 1000"


def test_forests_zoom_with_their_axis(browser: Any, pages: dict[str, Path]) -> None:
    with Visit(browser, pages["demo"].as_uri()) as page:
        grid = page.locator("#block-2-2-1")
        whole = ticks(page, "#block-2-2-1 .axis")
        grid.get_by_role("button", name="Zoom in").click()
        boxes = set(grid.locator("td.forest svg").evaluate_all("all => all.map(s => s.getAttribute('viewBox'))"))
        assert len(boxes) == 1
        assert boxes != {"0 0 1000 24"}
        assert ticks(page, "#block-2-2-1 .axis") != whole
        grid.get_by_role("button", name="Show all").click()
        assert ticks(page, "#block-2-2-1 .axis") == whole
        grid.locator("td.forest").first.hover()
        assert "subject: anatomy" in page.locator("#tip").inner_text()


def test_the_numbers_can_be_downloaded(browser: Any, pages: dict[str, Path]) -> None:
    with Visit(browser, pages["demo"].as_uri()) as page:
        with page.expect_download() as coming:
            page.locator("#download").click()
        data = json.loads(Path(coming.value.path()).read_text(encoding="utf-8"))
        assert data["schema"] == "strat/report/1"
        assert [r["name"] for r in data["results"]] == ["Comparison", "guess", "ROC"]


def test_paper_shows_everything_and_no_buttons(browser: Any, pages: dict[str, Path]) -> None:
    with Visit(browser, pages["demo"].as_uri(), color_scheme="dark") as page:
        page.emulate_media(media="print")
        assert page.locator("#theme").is_hidden()
        assert page.locator(".copy").first.is_hidden()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details:not([open]):not(:has(table))").count() == 0
        page.set_viewport_size({"width": 680, "height": 1000})
        assert fits(page)
        assert len(page.pdf()) > 20_000


def test_without_scripts_the_page_still_answers(browser: Any, pages: dict[str, Path]) -> None:
    with Visit(browser, pages["demo"].as_uri(), java_script_enabled=False) as page:
        assert "is better than baseline" in page.locator("h1").inner_text()
        assert page.locator(".axis span").count() > 3
        assert page.locator(".canvas svg path").count() >= 3
