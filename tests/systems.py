"""Marks of tests that need what only some systems have, with the reason."""

from __future__ import annotations

import os
import sys

import pytest

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs signals, pipes, links, names or modes of files of POSIX")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, /dev/full or a bound on the address space")
