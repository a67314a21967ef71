"""The device and what it can run; torch and triton are imported when a GPU is asked for, not before."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from strat.base import extras
from strat.base.errors import StratError


def load_torch() -> Any:
    """The module torch, where triton is installed too."""
    what = "`device` must be 'cpu' here, got 'cuda', which"
    otherwise = ", or keep device='cpu', which gives the same ranks"
    extras.load("triton", what=what, otherwise=otherwise)
    return extras.load("torch", what=what, otherwise=otherwise)


def interpreted() -> bool:
    """Whether Triton's interpreter stands in for a GPU."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def find_device() -> Any:
    """The GPU as torch names it; the CPU where kernels are interpreted."""
    torch = load_torch()
    if interpreted():
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise StratError.about(
            "device",
            "must be 'cpu' on this machine, got 'cuda': no CUDA GPU was found; device='cpu' gives the same ranks.",
        )
    return torch.device("cuda")


def choose_kernel(wanted: str, device: Any) -> str:
    """The fastest kernel that this GPU and this Triton have."""
    from strat.recognition.gpu import hopper

    is_hopper = device.type == "cuda" and load_torch().cuda.get_device_capability(device) == (9, 0)
    if wanted == "auto":
        return "hopper" if is_hopper and hopper.AVAILABLE else "portable"
    if wanted == "hopper" and not is_hopper:
        raise StratError.about("kernel", "must be 'portable' on this GPU, got 'hopper'; or leave it 'auto'.")
    return wanted


def compiled(*, fused: bool) -> dict[str, Any]:
    """Whether multiply-adds may be fused, said always because Triton's default changes; the interpreter never does."""
    return {} if interpreted() else {"enable_fp_fusion": fused}


def multiprocessors(device: Any) -> int:
    """How many programs the device runs at a time."""
    return load_torch().cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 2


def memory(device: Any) -> int:
    """Bytes of memory on the card; one GiB where kernels are interpreted."""
    return int(load_torch().cuda.get_device_properties(device).total_memory) if device.type == "cuda" else 1 << 30


def on_host(columns: list[Any]) -> list[Any]:
    """Columns as NumPy arrays. From a card they come into pinned memory, which torch keeps and gives out again."""
    if columns[0].device.type != "cuda":
        return [column.numpy() for column in columns]
    torch = load_torch()
    hosts = [torch.empty(column.shape, dtype=column.dtype, pin_memory=True) for column in columns]
    for host, column in zip(hosts, columns, strict=True):
        host.copy_(column, non_blocking=True)
    torch.cuda.synchronize()
    return [host.numpy() for host in hosts]


def as_numpy(values: Any) -> Any:
    """An array of NumPy, from whatever it is and wherever it lives."""
    return np.asarray(values.cpu() if hasattr(values, "cpu") else values)
