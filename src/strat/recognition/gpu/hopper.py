"""The counting kernel for Hopper GPUs: one warp loads, two warpgroups multiply and count.

It computes what `portable.look` computes (read that one first). Each warpgroup owns 64 of a tile's 128 probes,
so that one counts while the other keeps the matrix units busy. A tile of probes of up to 512 features stays in
shared memory while the gallery streams past it.
"""

# mypy: ignore-errors
# ruff: noqa: D103, SIM113

from typing import Any

try:
    from triton.experimental import gluon
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.language.nvidia.hopper import (
        mbarrier,
        tma,
        warpgroup_mma,
        warpgroup_mma_init,
        warpgroup_mma_wait,
    )
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
except ImportError:
    gluon = None

AVAILABLE: bool = gluon is not None

SHARED = 224 * 1024
RESIDENT = 512
"""The most features for which 128 probes and three stages of the gallery fit into shared memory."""

if gluon is not None:
    _fetch = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared  # the name changed after Triton 3.6

    @gluon.jit
    def _load(
        p_desc, g_desc, a_bufs, b_bufs, a_full, a_empty, b_full, b_empty,
        n_probe_tiles, n_tiles, segment, n_items,
        K_STEPS: gl.constexpr, STAGES: gl.constexpr, KEEP: gl.constexpr,
    ):  # fmt: skip
        step = 0
        turn = 0
        for item in range(gl.program_id(0), n_items, gl.num_programs(0)):
            row = (item % n_probe_tiles) * 128
            first = (item // n_probe_tiles) * segment
            last = min(first + segment, n_tiles)
            if KEEP:
                mbarrier.wait(a_empty, (turn & 1) ^ 1)
                mbarrier.expect(a_full, K_STEPS * 2 * p_desc.block_type.nbytes)
                for c in gl.static_range(K_STEPS):
                    _fetch(p_desc, [row, c * 64], a_full, a_bufs.index(2 * c))
                    _fetch(p_desc, [row + 64, c * 64], a_full, a_bufs.index(2 * c + 1))
            turn += 1
            for tile in range(first, last):
                for k in range(K_STEPS):
                    s = step % STAGES
                    mbarrier.wait(b_empty.index(s), ((step // STAGES) & 1) ^ 1)
                    if KEEP:
                        mbarrier.expect(b_full.index(s), g_desc.block_type.nbytes)
                    else:
                        mbarrier.expect(b_full.index(s), g_desc.block_type.nbytes + 2 * p_desc.block_type.nbytes)
                        _fetch(p_desc, [row, k * 64], b_full.index(s), a_bufs.index(2 * s))
                        _fetch(p_desc, [row + 64, k * 64], b_full.index(s), a_bufs.index(2 * s + 1))
                    _fetch(g_desc, [tile * 256, k * 64], b_full.index(s), b_bufs.index(s))
                    step += 1

    @gluon.jit
    def _step(
        a_bufs, b_bufs, b_full, b_empty, mma, step, k,
        STAGES: gl.constexpr, KEEP: gl.constexpr, GROUP: gl.constexpr, FIRST: gl.constexpr,
    ):  # fmt: skip
        s = step % STAGES
        mbarrier.wait(b_full.index(s), (step // STAGES) & 1)
        if KEEP:
            a = a_bufs.index(2 * k + GROUP)
        else:
            a = a_bufs.index(2 * s + GROUP)
        mma = warpgroup_mma(a, b_bufs.index(s).permute((1, 0)), mma, use_acc=not FIRST, is_async=True)
        if not FIRST:
            mma = warpgroup_mma_init(warpgroup_mma_wait(1, deps=(mma,)))
            mbarrier.arrive(b_empty.index((step - 1) % STAGES), count=1)
        return mma, step + 1

    @gluon.jit
    def _multiply(
        a_bufs, b_bufs, b_full, b_empty, step, LAYOUT: gl.constexpr,
        K_STEPS: gl.constexpr, STAGES: gl.constexpr, KEEP: gl.constexpr, GROUP: gl.constexpr,
    ):  # fmt: skip
        mma = warpgroup_mma_init(gl.zeros([64, 256], gl.float32, layout=LAYOUT))
        mma, step = _step(a_bufs, b_bufs, b_full, b_empty, mma, step, 0, STAGES, KEEP, GROUP, True)
        for k in range(1, K_STEPS):  # unrolled, it would keep so many addresses that registers spill
            mma, step = _step(a_bufs, b_bufs, b_full, b_empty, mma, step, k, STAGES, KEEP, GROUP, False)
        acc = warpgroup_mma_wait(0, deps=(mma,))
        mbarrier.arrive(b_empty.index((step - 1) % STAGES), count=1)
        return acc, step

    @gluon.jit
    def _look(
        a_bufs, b_bufs, a_full, a_empty, b_full, b_empty,
        threshold_low, threshold_high, alpha, beta, floor, probe_code,
        entry_code, entry_shift, tile_m, tile_b, tile_c, flags,
        above, hits, records, cursor, capacity,
        n_probes, n_entries, n_probe_tiles, n_tiles, segment, n_items,
        K_STEPS: gl.constexpr, STAGES: gl.constexpr, KEEP: gl.constexpr, SHIFT: gl.constexpr, COUNT: gl.constexpr,
        GROUP: gl.constexpr,
    ):  # fmt: skip
        mma: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 256, 16])
        by_row: gl.constexpr = gl.SliceLayout(1, mma)
        by_column: gl.constexpr = gl.SliceLayout(0, mma)
        infinity: gl.constexpr = float("inf")
        step = 0
        turn = 0
        column = gl.arange(0, 256, layout=by_column)
        bit = gl.full([256], 1, gl.int32, layout=by_column) << (column % 32)
        for item in range(gl.program_id(0), n_items, gl.num_programs(0)):
            probe_tile = item % n_probe_tiles
            first = (item // n_probe_tiles) * segment
            last = min(first + segment, n_tiles)
            row = probe_tile * 128 + GROUP * 64 + gl.arange(0, 64, layout=by_row)
            there = row < n_probes
            low = gl.load(threshold_low + row, mask=there, other=infinity)
            high = gl.load(threshold_high + row, mask=there, other=infinity)
            a = gl.load(alpha + row, mask=there, other=0.0)
            b = gl.load(beta + row, mask=there, other=0.0)
            best = gl.load(floor + row, mask=there, other=infinity)
            code = gl.load(probe_code + row, mask=there, other=-1)
            count = gl.zeros([64], gl.int32, layout=by_row)
            seen = gl.zeros([64], gl.int32, layout=by_row)
            if KEEP:
                mbarrier.wait(a_full, turn & 1)
            for tile in range(first, last):
                flag = gl.load(flags + probe_tile.to(gl.int64) * n_tiles + tile)
                of_size = gl.load(tile_m + tile)
                of_residual = gl.load(tile_b + tile)
                rest = gl.load(tile_c + tile)
                acc, step = _multiply(a_bufs, b_bufs, b_full, b_empty, step, mma, K_STEPS, STAGES, KEEP, GROUP)
                if KEEP:
                    mbarrier.arrive(a_empty, count=1, pred=tile == last - 1)
                if SHIFT:
                    acc = acc - gl.load(entry_shift + tile * 256 + column)[None, :]
                if flag != 0:
                    entry = tile * 256 + column
                    other = gl.load(entry_code + entry, mask=entry < n_entries, other=-2)
                    out = (code[:, None] == other[None, :]) | (entry >= n_entries)[None, :]
                    acc = gl.where(out, -infinity, acc)
                half = a * of_size + b * of_residual + rest
                top = gl.max(acc, axis=1)
                best = gl.maximum(best, top - half)
                least = gl.minimum(low, best) - half
                hit = (top >= least).to(gl.int32)
                if gl.max(hit, axis=0) > 0:
                    seen += hit
                    if COUNT:
                        certain = (acc > (high + half)[:, None]) & (acc < (best - half)[:, None])
                        count += gl.sum(certain.to(gl.int32), axis=1)
                        near = (acc >= least[:, None]) & (certain == 0)
                        words = gl.sum(gl.reshape(gl.where(near, bit[None, :], 0), [64, 8, 32]), axis=2)
                        layout: gl.constexpr = words.type.layout
                        found = gl.max((words != 0).to(gl.int32), axis=1)
                        if gl.max(found, axis=0) > 0:
                            ones = gl.full([64], 1, gl.int64, layout=gl.SliceLayout(1, layout))
                            place = gl.atomic_add(cursor + ones * 0, ones, mask=found > 0)
                            fits = (found > 0) & (place < capacity)
                            r = probe_tile * 128 + GROUP * 64 + gl.arange(0, 64, layout=gl.SliceLayout(1, layout))
                            w = gl.arange(0, 8, layout=gl.SliceLayout(0, layout))
                            start = records + place * 10
                            gl.store(start, r, mask=fits)
                            gl.store(start + 1, r * 0 + tile, mask=fits)
                            gl.store(start[:, None] + (2 + w)[None, :], words, mask=fits[:, None])
                    else:
                        wanted = (hit > 0) & (seen <= 32)
                        ones = gl.full([64], 1, gl.int64, layout=by_row)
                        place = gl.atomic_add(cursor + ones * 0, ones, mask=wanted)
                        fits = wanted & (place < capacity)
                        start = records + place * 3
                        gl.store(start, row, mask=fits)
                        gl.store(start + 1, row * 0 + tile, mask=fits)
                        gl.store(start + 2, (top + half).to(gl.int32, bitcast=True), mask=fits)
            turn += 1
            if COUNT:
                gl.atomic_add(above + row, count, mask=there & (count > 0))
            seen = gl.where(seen > 32, seen + (1 << 24), seen)
            gl.atomic_add(hits + row, seen, mask=there & (seen > 0))
            gl.atomic_max(floor + row, best, mask=there)

    @gluon.jit
    def look_hopper(
        p_desc, g_desc,
        threshold_low, threshold_high, alpha, beta, floor, probe_code,
        entry_code, entry_shift, tile_m, tile_b, tile_c, flags,
        above, hits, records, cursor, capacity,
        n_probes, n_entries, n_probe_tiles, n_tiles, segment, n_items,
        K_STEPS: gl.constexpr, STAGES: gl.constexpr, KEEP: gl.constexpr, SHIFT: gl.constexpr, COUNT: gl.constexpr,
    ):  # fmt: skip
        A_BUFS: gl.constexpr = 2 * K_STEPS if KEEP else 2 * STAGES
        a_bufs = gl.allocate_shared_memory(p_desc.dtype, [A_BUFS, 64, 64], p_desc.layout)
        b_bufs = gl.allocate_shared_memory(g_desc.dtype, [STAGES, 256, 64], g_desc.layout)
        a_full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
        a_empty = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
        b_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
        b_empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
        mbarrier.init(a_full, count=1)
        mbarrier.init(a_empty, count=2)
        for s in gl.static_range(STAGES):
            mbarrier.init(b_full.index(s), count=1)
            mbarrier.init(b_empty.index(s), count=2)
        gl.warp_specialize(
            [
                (_look, (
                    a_bufs, b_bufs, a_full, a_empty, b_full, b_empty,
                    threshold_low, threshold_high, alpha, beta, floor, probe_code,
                    entry_code, entry_shift, tile_m, tile_b, tile_c, flags,
                    above, hits, records, cursor, capacity,
                    n_probes, n_entries, n_probe_tiles, n_tiles, segment, n_items,
                    K_STEPS, STAGES, KEEP, SHIFT, COUNT, 0,
                )),
                (_look, (
                    a_bufs, b_bufs, a_full, a_empty, b_full, b_empty,
                    threshold_low, threshold_high, alpha, beta, floor, probe_code,
                    entry_code, entry_shift, tile_m, tile_b, tile_c, flags,
                    above, hits, records, cursor, capacity,
                    n_probes, n_entries, n_probe_tiles, n_tiles, segment, n_items,
                    K_STEPS, STAGES, KEEP, SHIFT, COUNT, 1,
                )),
                (_load, (
                    p_desc, g_desc, a_bufs, b_bufs, a_full, a_empty, b_full, b_empty,
                    n_probe_tiles, n_tiles, segment, n_items, K_STEPS, STAGES, KEEP,
                )),
            ],
            [4, 1],
            [240, 24],
        )  # fmt: skip


def launch(p: Any, g: Any, arguments: Any, programs: int, shift: bool, count: bool) -> None:
    """Run `look_hopper` on bfloat16 rows p and g with the arguments of `portable.look`."""
    keep = p.shape[1] <= RESIDENT
    stages = (SHARED - 128 * p.shape[1] * 2) // (256 * 64 * 2) if keep else 3
    box = {n: gl.NVMMASharedLayout.get_default_for([n, 64], gl.bfloat16) for n in (64, 256)}
    look_hopper[(programs,)](
        TensorDescriptor.from_tensor(p, [64, 64], box[64]),
        TensorDescriptor.from_tensor(g, [256, 64], box[256]),
        *arguments,
        K_STEPS=p.shape[1] // 64, STAGES=stages, KEEP=keep, SHIFT=shift, COUNT=count,
        num_warps=4, maxnreg=168, enable_fp_fusion=True,
    )  # fmt: skip
