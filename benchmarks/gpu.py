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

from strat.recognition import gpu, rounding
from strat.recognition.gpu.device import choose_kernel, find_device, on_host
from strat.recognition.gpu.fused import job_of, look, note, raise_floor, recount
from strat.recognition.gpu.mates import score_mates
from strat.recognition.gpu.pairs import exact
from strat.recognition.gpu.recheck import recheck
from strat.recognition.gpu.rows import Parts, probes_of
from strat.recognition.gpu.space import entry_digits, probe_digits, space_of

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
        probes, gallery, form = rounding.unit(probes.double()), rounding.unit(gallery.double()), "inner"
    probes, gallery = probes.double(), gallery.double()
    columns = []
    for p, code in zip(probes, probe_codes, strict=True):
        s = rounding.exact_scores(p[None], gallery, form)
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


def check_large() -> list[Row]:
    """Many more pairs, of odd widths: the cascade against products in float64, which share no digit with it."""
    rows = []
    for n, m, d, form in (
        (50_000, 200_000, 77, "cosine"),
        (50_000, 200_000, 300, "euclidean"),
        (30_000, 200_000, 700, "inner"),
        (20_000, 200_000, 1500, "cosine"),
        (330_000, 1_000_000, 64, "cosine"),  # more than 2^31 largest scores
    ):
        p, g, pc, gc = faces(n, m, d, hard=0.01, images=2, seed=d)
        codes = {"probe_codes": pc, "gallery_codes": gc}
        one, other = (gpu.count_better(p, g, form=form, kernel=k, **codes) for k in ("auto", "float64"))
        same = [
            np.array_equal(getattr(one, c), getattr(other, c), equal_nan=True)
            for c in ("above", "tied", "mate", "best_nonmate")
        ]
        name = f"against float64 products: {form} {n} × {m} × {d}"
        rows.append((name, "equal" if all(same) else f"DIFFERENT {same}", f"{one.rechecked / n:.1f} pairs/probe"))
    return rows


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
        same = (found == rounding.exact_scores(*on_host, form)).all()
        rows.append((f"bits of {form} on GPU and CPU", "equal" if same else "DIFFERENT"))
    return rows


def check_bound() -> list[Row]:
    """The largest error of products of one and of two digits over their bounds, for benign and for hostile rows.

    The products are integers, so float64 computes them exactly here too; what is checked is the residuals' norms.
    """
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
            rows.append((f"bound {name} d={d}", *_error_over_bound(x, y)))
    return rows


def _error_over_bound(x: Any, y: Any) -> list[str]:
    device, codes = find_device(), np.arange(len(x))
    who, part = probes_of(x, codes, "inner", device), next(iter(Parts(y, codes, "inner", device, [slice(None)])))
    space = space_of(who, part)
    p, g = probe_digits(who.rows, space), entry_digits(part.rows, space)
    truth = (x * space.probe_scale) @ (y * space.entry_scale - space.centre)[g.order].T
    cells = []
    for k, name in enumerate(("one digit", "two digits")):
        a, b = ((z.first.double() + k * z.second.double() / 256) * z.scales.double()[:, None] for z in (p, g))
        error = (a @ b.T)[:, : len(y)] - truth
        half = rounding.bound(
            x.shape[1], p.norms.cpu().numpy()[:, None], g.norms.cpu().numpy(), "int8",
            probe_residuals=p.residuals[k].cpu().numpy()[:, None], gallery_residuals=g.residuals[k].cpu().numpy(),
        )  # fmt: skip
        cells.append(f"{name}: error / bound {(error.abs().cpu().numpy() / half).max():.3f}")
    return [*cells, f"residual / norm {float((g.residuals[0] / g.norms).mean()):.4f}"]


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


def prepared(n: int, m: int, d: int, form: str = "cosine", **data: Any) -> tuple[Any, Any, Any]:
    """A job for these rows, and its space, as `count_better` makes them."""
    p, g, pc, gc = faces(n, m, d, **data)
    device = find_device()
    who = probes_of(p, pc, form, device)
    part = next(iter(Parts(g, gc, form, device, [slice(None)])))
    score_mates(who, part)
    space = space_of(who, part)
    entries = entry_digits(part.rows, space)
    return job_of(who, part, entries, space), entries, space


def kernel_only(n: int, m: int, d: int, kernel: str, form: str = "cosine", *, repeats: int = 3, **data: Any) -> Row:
    """The fused kernel alone on prepared rows."""
    job, _, _ = prepared(n, m, d, form, **data)
    seconds = timed(lambda: look(job, kernel), repeats)
    return f"kernel {kernel} {form} {n} × {m} × {d}", f"{seconds * 1e3:.1f} ms", flops(n, m, d, seconds)


def steps(n: int, m: int, d: int, form: str = "cosine", **data: Any) -> list[Row]:
    """Where the time of a whole call goes, one step after another with a halt between them."""
    rows = faces(n, m, d, **data)
    _one_by_one(*rows, form)
    return [(f"steps of {form} {n} × {m} × {d}",), *_one_by_one(*rows, form)]


def _one_by_one(p: Any, g: Any, probe_codes: Any, gallery_codes: Any, form: str) -> list[Row]:
    import torch

    device, rows = find_device(), []

    def step(name: str, call: Callable[..., Any], *arguments: Any) -> Any:
        torch.cuda.synchronize()
        start = time.perf_counter()
        result = call(*arguments)
        torch.cuda.synchronize()
        rows.append((f"  {name}", f"{(time.perf_counter() - start) * 1e3:.1f} ms"))
        return result

    who = step("probes to float64", probes_of, p, probe_codes, form, device)
    part = step("gallery to float64", next, iter(Parts(g, gallery_codes, form, device, [slice(None)])))
    step("scores of mates", score_mates, who, part)
    space = step("space", space_of, who, part)
    entries = step("gallery in digits", entry_digits, part.rows, space)
    job = step("probes in digits, thresholds, flags", job_of, who, part, entries, space)
    tops = step("look", look, job, choose_kernel("auto", device))
    step("raise the floor", raise_floor, job, tops)
    least = job.low.minimum(job.floor)
    of_tile, _ = step("note", note, job, tops, least)
    records = step("recount with two digits", recount, job, tops, least, of_tile)
    pairs = step("decide in float64", recheck, who, part, entries.order, records)
    step("columns to the host", on_host, [who.above, who.tied, who.mate, who.best])
    of_each = (f"{x / len(p):.2f}" for x in (int(of_tile.sum()), len(records), pairs))
    return [*rows, ("  notes, records, pairs a probe", *of_each)]


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
    show(check_large())
    show(ceilings())
    show([plain(q, q, 512)])
    show([kernel_only(q, q, 512, kernel) for kernel in ("portable", "hopper")])
    show([whole(q, q, 512)])
    show(steps(q, q, 512))
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
    show([whole(million, million, 512), whole(million, million, 512, host=True)])
    show(steps(million // 4, million, 512))
    show([whole(million, 10 * million, 512, host=True, repeats=1)])


if __name__ == "__main__":
    main()
