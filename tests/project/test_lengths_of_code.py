"""No module is longer than 700 lines and no function than 40: listed exceptions are kernels, none without need."""

from __future__ import annotations

import measures


def test_no_module_and_no_function_grows_over_the_limit() -> None:
    new = sorted(set(measures.long_code()) - set(measures.exceptions()))
    assert new == [], "shorten these; tests/project/long_code.txt is for kernels"


def test_no_exception_is_listed_that_is_short_by_now() -> None:
    gone = sorted(set(measures.exceptions()) - set(measures.long_code()))
    assert gone == [], "run python tests/project/measures.py --write"


def test_every_exception_is_a_kernel_and_has_a_reason() -> None:
    assert [
        key
        for key, reason in measures.exceptions().items()
        if not (reason.strip() and key.startswith(measures.KERNELS))
    ] == []


def test_a_body_is_counted_without_its_docstring() -> None:
    lengths = {one.key: one.lines for one in measures.functions()}
    assert lengths["strat/base/text.py class_named"] == 1
    assert lengths["strat/base/errors.py near"] == 7
