"""How results look: pictures, sheets, the report page and the local page.

`strat.plot` lists the pictures, `strat.show.report` the pages.
"""
