"""The documentation site, built offline: sphinx-build -W --keep-going -b html docs docs/_build/html."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

import strat
from strat.cli.app import COMMANDS
from strat.report.references import REFERENCES

project = "strat"
author = "The strat authors"
release = version = strat.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
autodoc_inherit_docstrings = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = "strat"
html_static_path = ["_static"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_math_renderer = "mathml"


# where the names of `strat` itself are documented, first come first served
HOMES = ("errors", "designs", "statistics", "replication", "estimation", "tables", "comparison", "report")


class Names(Directive):
    """A table of the names of `strat` itself, each with the first line of its documentation and a link."""

    def run(self) -> list[nodes.Node]:
        """The table, made from `strat.__all__`."""
        lines = [".. list-table::", "   :widths: 30 70", ""]
        for name in sorted({*strat.__all__, "compare", "evaluate"}, key=str.lower):
            said = (inspect.getdoc(getattr(strat, name)) or "").split("\n")[0].replace("|", "\\|")
            lines += [f"   * - :py:obj:`strat.{name} <strat.{home(name)}.{name}>`", f"     - {said}"]
        node = nodes.section()
        self.state.nested_parse(StringList(lines, "names"), self.content_offset, node)
        return node.children


class Commands(Directive):
    """A table of the commands, each with its line of help."""

    def run(self) -> list[nodes.Node]:
        """The table, made from the program's own list."""
        lines = [".. list-table::", "   :widths: 30 70", ""]
        for name, said in COMMANDS.items():
            lines += [f"   * - ``strat {name}``", f"     - {said}"]
        node = nodes.section()
        self.state.nested_parse(StringList(lines, "commands"), self.content_offset, node)
        return node.children


class References(Directive):
    """The references, as reports print them."""

    def run(self) -> list[nodes.Node]:
        """One list, made from the same table as the reports'."""
        made = nodes.bullet_list()
        made += [nodes.list_item("", nodes.paragraph(text=text)) for text in REFERENCES.values()]
        return [made]


def home(name: str) -> str:
    """The part of `strat` whose page documents this name."""
    wanted = getattr(strat, name)
    return next(part for part in HOMES if getattr(importlib.import_module(f"strat.{part}"), name, None) is wanted)


def bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Let a bar in a docstring be a bar (|M|, a | b), and not the name of a substitution."""
    example = False
    for number, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example and "`" not in line:
            lines[number] = line.replace("|", "\\|")


def _formula(node: nodes.Element, *, block: bool) -> str:
    try:
        return tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        logging.getLogger(__name__).warning("formula %r: %s", node.astext(), error, location=node)
        return ""


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(_formula(node, block=False))
    raise nodes.SkipNode


def _block(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math">{_formula(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Formulas as MathML, which browsers draw themselves: nothing is fetched from elsewhere."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.add_css_file("site.css")
    app.add_directive("strat-names", Names)
    app.add_directive("strat-commands", Commands)
    app.add_directive("strat-references", References)
    app.connect("autodoc-process-docstring", bars, priority=900)
