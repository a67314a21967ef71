"""The documentation site, built offline: sphinx-build -W --keep-going -b html docs docs/_build/html."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import typer
from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx
from sphinx.util import logging

import strat
from strat.cli.app import COMMANDS
from strat.show.report.references import REFERENCES

sys.path.insert(0, str(Path(__file__).parent))
import outputs

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
html_logo = html_favicon = "_static/mark.svg"
html_theme_options = {
    # the blue and the orange of the reports and of the page of `strat open`
    "light_css_variables": {
        "color-brand-primary": "#0067a3",
        "color-brand-content": "#0067a3",
        "strat-second": "#b34a00",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7cc4f0",
        "color-brand-content": "#7cc4f0",
        "strat-second": "#f0a468",
    },
}
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_math_renderer = "mathml"


TEMPLATES = Path(docscrape_sphinx.__file__).parent / "templates"

# where the names of `strat` itself are documented, first come first served
HOMES = ("base.errors", "designs", "measures", "replication", "estimation", "estimation.proportions", "verbs", "data",
         "show.report", "comparison", "verbs.cross_validation", "verbs.model_comparison")  # fmt: skip


class Names(Directive):
    """A table of the names of `strat` itself, each with the first line of its documentation and a link."""

    def run(self) -> list[nodes.Node]:
        """The table, made from `strat.__all__`; the parts have pages of their own."""
        names = [name for name in strat.__all__ if not inspect.ismodule(getattr(strat, name))]
        rows = [
            (f":py:obj:`strat.{name} <strat.{home(name)}.{name}>`", first_line(getattr(strat, name)))
            for name in sorted(names, key=str.lower)
        ]
        return parsed(self, table(rows))


class Part(Directive):
    """A part of `strat`: what people call in one table, then each function, then the classes that they give back."""

    required_arguments = 1
    option_spec: ClassVar = {"inherited-members": directives.flag}

    def run(self) -> list[nodes.Node]:
        """The table and the documentation, made from the part's public names."""
        part = f"strat.{self.arguments[0]}"
        module = importlib.import_module(part)
        public = [(name, getattr(module, name)) for name in sorted(public_names(module), key=str.lower)]
        functions = [(name, value) for name, value in public if inspect.isroutine(value)]
        classes = [(name, value) for name, value in public if inspect.isclass(value)]
        lines = [f".. automodule:: {part}", ""]
        for title, group in (("To call", functions), ("What comes back, and what is passed", classes)):
            if group and len(public) > 2:
                rows = [(f":py:obj:`{name} <{part}.{name}>`", first_line(value)) for name, value in group]
                lines += ["", f".. rubric:: {title}", "", *table(rows), ""]
        lines += [line for name, _ in functions for line in (f".. autofunction:: {part}.{name}", "")]
        wanted = ["   :members:", *(f"   :{option}:" for option in self.options), ""]
        lines += [line for name, _ in classes for line in (f".. autoclass:: {part}.{name}", *wanted)]
        return parsed(self, lines)


def public_names(module: Any) -> list[str]:
    """What a part lists in `__all__`, or else its own names without an underscore."""
    own = inspect.getmembers(module, lambda value: getattr(value, "__module__", None) == module.__name__)
    return list(getattr(module, "__all__", [name for name, _ in own if not name.startswith("_")]))


def first_line(value: Any) -> str:
    """The first line of an object's documentation."""
    return (inspect.getdoc(value) or "").split("\n")[0].replace("|", "\\|")


def table(rows: list[tuple[str, str]]) -> list[str]:
    """The lines of a table of two columns."""
    lines = [".. list-table::", "   :widths: 30 70", ""]
    for left, right in rows:
        lines += [f"   * - {left}", f"     - {right}"]
    return lines


def parsed(directive: Directive, lines: list[str]) -> list[nodes.Node]:
    """The nodes that lines of reStructuredText make."""
    node = nodes.section()
    directive.state.nested_parse(StringList(lines, directive.name), directive.content_offset, node)
    return node.children


class Commands(Directive):
    """A table of the commands, each with its line of help."""

    def run(self) -> list[nodes.Node]:
        """The table, made from the program's own list."""
        return parsed(self, table([(f"``strat {name}``", summary) for name, summary in COMMANDS.items()]))


class Options(Directive):
    """Every option of every command, with its help."""

    def run(self) -> list[nodes.Node]:
        """A list for each command, made from what its parser knows."""
        listed: list[nodes.Node] = []
        for name, command in every_command():
            listed.append(nodes.rubric(text=f"strat {name}", ids=[f"strat-{name.replace(' ', '-')}"]))
            entries = nodes.definition_list()
            for parameter in command.params:
                names = (
                    ", ".join(parameter.opts)
                    if parameter.param_type_name == "option"
                    else parameter.metavar or parameter.name
                )
                term = nodes.term("", "", nodes.literal(text=names))
                about = nodes.definition("", nodes.paragraph(text=getattr(parameter, "help", None) or ""))
                entries += nodes.definition_list_item("", term, about)
            listed.append(entries)
        return listed


def every_command() -> Iterator[tuple[str, Any]]:
    """Every command that can be typed, with the object that parses it."""
    for name in COMMANDS:
        command = typer.main.get_command(importlib.import_module(f"strat.cli.{name}").command)
        inner = getattr(command, "commands", None)
        yield from ((f"{name} {part}", one) for part, one in inner.items()) if inner else ((name, command),)


class References(Directive):
    """The references, as reports print them."""

    def run(self) -> list[nodes.Node]:
        """One list, made from the same table as the reports'."""
        entries = nodes.bullet_list()
        entries += [nodes.list_item("", nodes.paragraph(text=text)) for text in REFERENCES.values()]
        return [entries]


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


def illustrate(app: Any, name: str, source: list[str]) -> None:
    """Put what a page's examples draw beneath them; `outputs.py` keeps what they print."""
    if not app.config.draw_examples:
        return
    above = "../" * name.count("/")
    source[0] = outputs.illustrated(Path(app.srcdir) / f"{name}.md", source[0], Path(app.outdir) / "_drawn", above)


def setup(app: Any) -> None:
    """Formulas as MathML, which browsers draw themselves: nothing is fetched from elsewhere."""
    # numpydoc makes a loader and an environment, and compiles its template in it, for every docstring
    environment = cache(lambda: SandboxedEnvironment(loader=docscrape_sphinx.FileSystemLoader(TEMPLATES)))
    docscrape_sphinx.SandboxedEnvironment = lambda loader: environment()
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.add_css_file("site.css")
    app.add_directive("strat-names", Names)
    app.add_directive("strat-part", Part)
    app.add_directive("strat-commands", Commands)
    app.add_directive("strat-options", Options)
    app.add_directive("strat-references", References)
    app.add_config_value("draw_examples", True, "env", bool)
    app.connect("source-read", illustrate)
    app.connect("autodoc-process-docstring", bars, priority=900)
