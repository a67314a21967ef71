"""A page in the browser of this machine: from a table to a report without a program."""

from __future__ import annotations

from strat.show.local_page.server import Page

__all__ = ["Page"]
