"""Check the GPU's ranks against float64 and time every variant: `python -m benchmarks.gpu [quick]`.

One table, best read with gpu_notes.md beside it. Effective TFLOP/s are 2 × probes × gallery × features over the time
of the whole call (rows prepared, mates scored, counted, rechecked in float64), from float32 rows on the card.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from strat.recognition import bounds, gpu
from strat.recognition.gpu.device import find_device
from strat.recognition.gpu.fused import LEAST, job_of, look
from strat.recognition.gpu.mates import hardest_last, score_mates
from strat.recognition.gpu.pairs import exact
from strat.recognition.gpu.rows import Parts, probes_of
from strat.recognition.gpu.space import fast_rows, space_of

Row = tuple[str, ...]


def faces(n: int, m: int, d: int, *, hard: float = 0.0, images: int = 1, seed: int = 0) -> tuple[Any, ...]:
    """Random unit-like templates; a probe is its subject's first template plus noise, cosine 0.45 ± 0.1.

    A share `hard` of the probes has nothing to do with its subject: ranks all over the gallery.
    """
    import torch

    torch.manual_seed(seed)
    gallery = torch.randn(m, d, device="cuda")
    subjects = m // images
    gallery_codes = torch.arange(m, device="cuda") % subjects
    probe_codes = torch.randint(subjects, (n,), device="cuda")
    cosine = (0.45 + 0.1 * torch.randn(n, 1, device="cuda")).clamp(0.02, 0.98)
    cosine[torch.rand(n, device="cuda") < hard] = 0.0
    mates = gallery[probe_codes] / gallery[probe_codes].norm(dim=1, keepdim=True) * d**0.5
    probes = cosine * mates + (1 - cosine**2).sqrt() * torch.randn(n, d, device="cuda")
    return probes, gallery, probe_codes, gallery_codes


def oracle(probes: Any, gallery: Any, probe_codes: Any, gallery_codes: Any, form: str) -> list[Any]:
    """The four columns from float64 scores of every pair, scored one by one in the fixed order."""
    import torch

    if form == "cosine":
        probes, gallery, form = bounds.unit(probes.double()), bounds.unit(gallery.double()), "inner"
    probes, gallery = probes.double(), gallery.double()
    columns = []
    for p, code in zip(probes, probe_codes, strict=True):
        s = bounds.exact_scores(p[None], gallery, form)
        own = gallery_codes == code
        mate = s[own].max() if own.any() else torch.tensor(torch.nan, dtype=torch.float64, device="cuda")
        other = s[~own]
        columns.append((int((other > mate).sum()), int((other == mate).sum()), float(mate), float(other.max())))
    return [np.array(c) for c in zip(*columns, strict=True)]


def check() -> list[Row]:
    """Small cases of every form and kernel, with ties, several images, lone probes and crowded scores."""
    rows = []
    cases = [
        (f, d, k)
        for f in gpu.FORMS
        for d in (100, 128, 512, 1024, 2048)
        for k in ("hopper", "portable")
        if k == "hopper" or d in (100, 512)
    ]
    for form, d, kernel in cases:
        p, g, pc, gc = faces(300, 20_000, d, hard=0.05, images=3, seed=d)
        g[10_000:10_500] = g[3_000:3_500]  # exact ties
        pc[:20] += 1_000_000  # no mate in the gallery
        if form == "euclidean":
            g, p = g + 1.0, p + 1.0
        rows.append(_compare(f"{kernel} {form} d={d}", (p, g, pc, gc), form, kernel=kernel))
    p, g, pc, gc = faces(300, 20_000, 512, hard=0.05, images=3)
    rows.append(_compare("streamed in parts of 7000", (p, g, pc, gc), "cosine", gallery_rows=7000))
    rows.append(_compare("crowded scores", (p + 20.0, g + 20.0, pc, gc), "cosine"))
    rows.append(_compare("all probes hard", (p.flip(0), g, pc, gc), "cosine"))
    rows.append(_compare("norms over six decades", (p, g * (10.0 ** (gc % 7 - 3))[:, None], pc, gc), "inner"))
    return rows


def _compare(name: str, data: tuple[Any, ...], form: str, **options: Any) -> Row:
    p, g, pc, gc = data
    c = gpu.count_better(p, g, probe_codes=pc, gallery_codes=gc, form=form, **options)
    got = (c.above, c.tied, c.mate, c.best_nonmate)
    same = [np.array_equal(a, b, equal_nan=True) for a, b in zip(got, oracle(p, g, pc, gc, form), strict=True)]
    return (name, "equal" if all(same) else f"DIFFERENT {same}", f"{c.rechecked / len(p):.1f} pairs/probe rechecked")


def check_bits() -> list[Row]:
    """Pairs scored on the GPU and by NumPy: the same bits."""
    rows = []
    for form in gpu.FORMS:
        p, g, pc, gc = faces(2000, 2000, 500)
        who, part = (
            probes_of(p, pc, form, find_device()),
            next(iter(Parts(g, gc, form, find_device(), [slice(None)]))),
        )
        found = exact(who, part, pc, pc.flip(0)).cpu().numpy()
        on_host = [x.double().cpu().numpy() for x in (p[pc], g[pc.flip(0)])]
        same = (found == bounds.exact_scores(*on_host, form)).all()
        rows.append((f"bits of {form} on GPU and CPU", "equal" if same else "DIFFERENT"))
    return rows


def check_bound() -> list[Row]:
    """The largest error of a bfloat16 product over its bound, for benign and for hostile vectors."""
    import torch

    rows = []
    for d in (128, 512, 2048):
        for name in ("normal", "positive", "mixed sizes", "cancelling"):
            x, y = torch.randn(2048, d, device="cuda").double(), torch.randn(2048, d, device="cuda").double()
            if name == "positive":
                x, y = x.abs(), y.abs()
            if name == "mixed sizes":
                x = x * 2.0 ** torch.randint(-12, 13, x.shape, device="cuda")
            if name == "cancelling":
                x, y = x.sort(dim=1).values, y.abs()
            a, b = x.bfloat16(), y.bfloat16()
            fast = torch.mm(a, b.T, out_dtype=torch.float32).double()
            exact = x @ y.T
            summed = (fast - a.double() @ b.double().T).abs() / (
                a.double().norm(dim=1)[:, None] * b.double().norm(dim=1)
            )
            e, f = (a.double() - x).norm(dim=1).cpu().numpy(), (b.double() - y).norm(dim=1).cpu().numpy()
            half = bounds.bound(
                d, x.norm(dim=1).cpu().numpy()[:, None], y.norm(dim=1).cpu().numpy(), "bfloat16",
                probe_residuals=e[:, None], gallery_residuals=f,
            )  # fmt: skip
            ratio = ((fast - exact).abs().cpu().numpy() / half).max()
            rows.append((f"bound {name} d={d}", f"error / bound {ratio:.3f}",
                         f"sum's error / its bound {float(summed.max()) / bounds.gamma(d, 2.0**-22):.4f}"))  # fmt: skip
    return rows


def timed(call: Callable[[], Any], repeats: int = 3) -> float:
    import torch

    call()
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def plain_pytorch(p: Any, g: Any, probe_codes: Any, block: int = 8192) -> Any:
    """What a person writes: blocked bfloat16 product, compare with the mate's score, sum. Not exact."""
    import torch

    p, g = torch.nn.functional.normalize(p).bfloat16(), torch.nn.functional.normalize(g).bfloat16()
    mate = (p * g[probe_codes]).sum(dim=1, keepdim=True)
    above = torch.zeros(len(p), dtype=torch.int64, device="cuda")
    for i in range(0, len(p), block):
        for j in range(0, len(g), block):
            above[i : i + block] += (p[i : i + block] @ g[j : j + block].T > mate[i : i + block]).sum(dim=1)
    return above


def flops(n: int, m: int, d: int, seconds: float) -> str:
    return f"{2 * n * m * d / seconds / 1e12:.0f} TFLOP/s"


def kernel_only(n: int, m: int, d: int, kernel: str, *, count: bool = False, repeats: int = 3, **data: Any) -> Row:
    """The fused kernel alone on prepared rows."""
    p, g, pc, gc = faces(n, m, d, **data)
    device = find_device()
    who = probes_of(p, pc, "cosine", device)
    part = next(iter(Parts(g, gc, "cosine", device, [slice(None)])))
    score_mates(who, part)
    who, _ = hardest_last(who)
    space = space_of(who, part)
    job = job_of(who, part, fast_rows(part.rows, space.entry_scale, space.centre), space)
    found: list[int] = []

    def once() -> None:
        job.columns[4].fill_(LEAST)
        notes = look(job, kernel, count=count, capacity=64 * n)
        found.append(-1 if notes is None else len(notes))

    seconds = timed(once, repeats)
    name = f"kernel {kernel}{' counting' if count else ''} {n} × {m} × {d}"
    return name, f"{seconds * 1e3:.1f} ms", flops(n, m, d, seconds), f"{found[-1] / n:.1f} notes/probe"


def whole(n: int, m: int, d: int, form: str = "cosine", *, repeats: int = 3, host: bool = False, **options: Any) -> Row:
    data = {k: options.pop(k) for k in ("hard", "images") if k in options}
    p, g, pc, gc = faces(n, m, d, **data)
    if host:
        p, g = p.cpu().numpy(), g.cpu().numpy()
    found: list[Any] = []
    seconds = timed(
        lambda: found.append(gpu.count_better(p, g, probe_codes=pc, gallery_codes=gc, form=form, **options)), repeats
    )
    c = found[-1]
    extra = " ".join(f"{k}={v}" for k, v in {**data, **options}.items())
    name = f"whole call {form} {n} × {m} × {d} {'from the host ' * host}{extra}".strip()
    first = f"rank 1: {(c.above == 0).mean():.3f}"
    return name, f"{seconds * 1e3:.1f} ms", flops(n, m, d, seconds), f"{c.rechecked / n:.1f} rechecked/probe, {first}"


def plain(n: int, m: int, d: int, repeats: int = 2) -> Row:
    p, g, pc, _ = faces(n, m, d)
    seconds = timed(lambda: plain_pytorch(p, g, pc), repeats)
    return f"plain PyTorch {n} × {m} × {d} (not exact)", f"{seconds * 1e3:.1f} ms", flops(n, m, d, seconds)


def ceilings() -> list[Row]:
    import torch

    a, b = torch.randn(8192, 8192, device="cuda").bfloat16(), torch.randn(8192, 8192, device="cuda").bfloat16()
    seconds = timed(lambda: [a @ b for _ in range(20)]) / 20
    return [("bare matrix product 8192³", f"{seconds * 1e3:.2f} ms", flops(8192, 8192, 8192, seconds))]


def show(rows: list[Row]) -> None:
    for row in rows:
        print("  ".join(f"{cell:<52}" if i == 0 else f"{cell:<20}" for i, cell in enumerate(row)), flush=True)


def main() -> None:
    try:
        find_device()
    except ValueError as missing:
        print(missing)
        return
    import torch
    import triton

    print(torch.cuda.get_device_name(), "torch", torch.__version__, "triton", triton.__version__)
    quick = "quick" in sys.argv
    q = 1 << 18
    show(check_bound())
    show(check_bits())
    show(check())
    show(ceilings())
    show([plain(q, q, 512)])
    for kernel in ("portable", "hopper"):
        show([kernel_only(q, q, 512, kernel, count=c) for c in (False, True)])
    show([whole(q, q, 512)])
    if quick:
        return
    show([kernel_only(q, q, d, "hopper") for d in (128, 256, 1024, 2048)])
    show([whole(q, q, d) for d in (128, 256, 1024, 2048)])
    show([whole(q, q, 512, form) for form in ("inner", "euclidean")])
    show([whole(q, q, 512, hard=0.01), whole(q, q, 512, images=10), whole(q, q, 512, images=10, distinct=True)])
    show([whole(q, q, 512, gallery_rows=100_000), whole(q, q, 512, host=True, gallery_rows=100_000)])
    show([whole(1_000, 4_000_000, 512)])
    million = 1_000_000
    show([kernel_only(million // 4, million, 512, "hopper"), plain(million, million, 512, repeats=1)])
    show([whole(million, million, 512)])


if __name__ == "__main__":
    main()
