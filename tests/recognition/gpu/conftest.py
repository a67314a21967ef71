"""The kernels run in Triton's interpreter: it must be chosen before Triton is imported."""

import os

os.environ.setdefault("TRITON_INTERPRET", "1")
