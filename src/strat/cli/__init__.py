"""The command line: arguments in, the calls of the library, one form of output."""

from __future__ import annotations

from strat.cli.app import app, main

__all__ = ["app", "main"]
