"""The site builds offline without a warning, every public name is in its reference, and what it names exists."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import strat
from reproduce import ENTRIES
from strat.cli.app import COMMANDS

sphinx = pytest.importorskip("sphinx")
pytest.importorskip("furo")
pytest.importorskip("myst_parser")
pytest.importorskip("numpydoc")

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if "_build" not in p.parts)
PARTS = (
    "algebra", "comparison", "data", "datasets", "designs", "base.errors", "estimation", "estimation.proportions",
    "plot", "protocols", "planning", "gaussian", "recognition", "replication", "show.report", "measures", "verbs",
)  # fmt: skip


def public(part: str) -> list[str]:
    module = importlib.import_module(f"strat.{part}")
    named = getattr(module, "__all__", None)
    if named is not None:
        return list(named)
    own = inspect.getmembers(module, lambda o: getattr(o, "__module__", None) == module.__name__)
    return [name for name, _ in own if not name.startswith("_")]


NAMES = [(part, name) for part in PARTS for name in public(part)]


# few collections of garbage among the millions of nodes of a site; no index of words and no menus, which nothing reads
# here (`make docs` has them): two fifths less time
BUILD = """
import gc, sys
import furo
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.cmd.build import main
gc.set_threshold(100_000, 50, 50)
StandaloneHTMLBuilder.search = False
furo._compute_navigation_tree = lambda context: ""
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, without pictures (test_page_outputs.py runs the examples) and without menus."""
    out = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-c", BUILD, "-W", "--keep-going", "-q", "-b", "html", "-d", str(out / "trees")]
    less = ("draw_examples=0", "toc_object_entries=0", "smartquotes=0")
    words += [*(word for one in less for word in ("-D", one)), str(DOCS), str(out / "html")]
    made = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr[-4000:]
    return out / "html"


class Addresses(HTMLParser):
    """What a page would fetch: scripts, styles, pictures, fonts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        wanted = {"script": "src", "img": "src", "link": "href", "iframe": "src"}.get(tag)
        self.found += [v for k, v in attrs if k == wanted and v]


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        seen = Addresses()
        seen.feed(page.read_text(encoding="utf-8"))
        assert [a for a in seen.found if re.match(r"(https?:)?//", a)] == [], page.name


def test_formulas_are_mathml(site: Path) -> None:
    text = (site / "background" / "brr.html").read_text(encoding="utf-8")
    assert text.count("<math") > 20
    assert "mathjax" not in " ".join(re.findall(r"<script[^>]*>", text)).lower()


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    from sphinx.util.inventory import InventoryFile

    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, uri: uri)
    listed = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    missing = [f"strat.{p}.{n}" for p, n in NAMES if f"strat.{p}.{n}" not in listed and _has_documentation(p, n)]
    assert missing == []


def _has_documentation(part: str, name: str) -> bool:
    """Functions and classes; a constant or an alias of types has no docstring of its own."""
    value = getattr(importlib.import_module(f"strat.{part}"), name)
    return inspect.isclass(value) or inspect.isroutine(value)


def test_every_name_of_strat_links_to_its_documentation(site: Path) -> None:
    text = (site / "reference" / "core.html").read_text(encoding="utf-8")
    linked = {
        re.sub(r"<[^>]+>", "", inside) for inside in re.findall(r'<a class="reference internal"[^>]*>(.*?)</a>', text)
    }
    assert {f"strat.{name}" for name in strat.__all__ if not inspect.ismodule(getattr(strat, name))} <= linked


def test_public_names_have_documentation() -> None:
    bare = [f"{part}.{name}" for part, name in NAMES if _has_documentation(part, name) and not _says(part, name)]
    assert bare == []


def _says(part: str, name: str) -> bool:
    """Whether there is more than the docstring that a dataclass makes by itself."""
    said = (getattr(importlib.import_module(f"strat.{part}"), name).__doc__ or "").strip()
    return len(said) > 10 and not said.startswith(f"{name}(")


def test_public_methods_have_documentation() -> None:
    bare = []
    for part, name in NAMES:
        value = getattr(importlib.import_module(f"strat.{part}"), name)
        if inspect.isclass(value):
            own = [(n, m) for n, m in vars(value).items() if not n.startswith("_")]
            bare += [f"{part}.{name}.{n}" for n, m in own if _is_method(value, m) and not inspect.getdoc(m)]
    assert bare == []


def _is_method(owner: type, member: object) -> bool:
    if inspect.isfunction(member):
        return member.__qualname__.startswith(owner.__name__) and member.__name__ != "<lambda>"
    return isinstance(member, property | classmethod | staticmethod)


# ---- what the pages name exists


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_files_that_a_page_names_exist() -> None:
    named = re.compile(r"`?((?:tests|examples|benchmarks)/[\w/.-]+\.py)")
    said = [(page.name, name) for page in PAGES for name in named.findall(text_of(page))]
    assert len(said) > 10
    assert [(page, name) for page, name in said if not (ROOT / name).is_file()] == []


def test_commands_that_a_page_names_exist() -> None:
    command = re.compile(r"(?:^ {4}|^|`)strat ([a-z]+) ", re.MULTILINE)
    said = [(page.name, word) for page in PAGES for word in command.findall(text_of(page))]
    assert len(said) > 100
    assert [(page, word) for page, word in said if word not in COMMANDS] == []


def test_entries_that_the_pages_name_exist() -> None:
    ids = {e.id for e in ENTRIES} | {e.id.split("/")[0] for e in ENTRIES}
    for page in PAGES:
        for words in re.findall(r"`strat reproduce ([^`]+)`", text_of(page)):
            named = [w for w in words.split() if not w.startswith("--") and not w.endswith(".html")]
            assert set(named) - {"ID", "FOLDER"} <= ids, (page.name, named)


def test_the_command_line_page_lists_every_command(site: Path) -> None:
    text = (site / "reference" / "command_line.html").read_text(encoding="utf-8")
    words = " ".join(re.sub(r"<[^>]+>", " ", text).split())
    assert [name for name in COMMANDS if f"strat {name} " not in words] == []


def test_the_command_line_page_lists_every_option(site: Path) -> None:
    import typer

    text = (site / "reference" / "command_line.html").read_text(encoding="utf-8")
    listed = set(re.findall(r"--[a-z][\w-]+", text))
    for name in COMMANDS:
        made = typer.main.get_command(importlib.import_module(f"strat.cli.{name}").command)
        for command in getattr(made, "commands", {"": made}).values():
            options = {o for p in command.params for o in p.opts if o.startswith("--")}
            assert options <= listed, (name, options - listed)


@pytest.mark.parametrize(
    "word",
    ["sensitivity", "PPV", "subgroup", "CMC", "Excel", "notebook", "cluster bootstrap", "DeLong", "McNemar", "pass@k"],
)
def test_search_finds_other_words(word: str) -> None:
    assert word in text_of(DOCS / "synonyms.md")


def test_the_decision_picture_is_well_formed_and_described() -> None:
    import xml.etree.ElementTree as ElementTree

    root = ElementTree.parse(DOCS / "_static" / "design.svg").getroot()
    assert root.find("{http://www.w3.org/2000/svg}title") is not None
    words = " ".join(t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}text"))
    assert all(word in words for word in ("items=", "units=", "strata=", "weights=", "population="))
