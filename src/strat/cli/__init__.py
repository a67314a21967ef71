"""The command line: arguments in, the calls that a person would write, one voice out."""

from __future__ import annotations

from strat.cli.app import app, main

__all__ = ["app", "main"]
