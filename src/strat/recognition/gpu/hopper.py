"""The looking kernel for Hopper GPUs: one warp loads, two or four warpgroups multiply and keep the largest scores.

It computes what `portable.look` computes (read that one first). Each warpgroup owns 64 of a tile's probes, so that
one takes maxima while another keeps the matrix units busy. A tile of probes of up to 1,024 features stays in shared
memory while the gallery streams past it. Wider ones are fetched again for every tile of entries; so few of them run
at a time that the level 2 cache holds them.
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

SHARED = 224 * 1024  # bytes of shared memory that a program of a Hopper GPU uses
RESIDENT = 1024  # the most features for which 128 probes and six stages of the gallery fit into shared memory

if gluon is not None:
    _fetch = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared  # the name changed after Triton 3.6

    @gluon.jit
    def _item(item, n_probe_tiles, n_tiles, segment, KEEP: gl.constexpr):
        """The tile of probes and the tiles of entries of an item; where probes are not kept, 12 tiles run at a time."""
        if KEEP:
            first = (item // n_probe_tiles) * segment
            return item % n_probe_tiles, first, min(first + segment, n_tiles)
        band = 12 * gl.cdiv(n_tiles, segment)
        start = (item // band) * 12
        many = min(12, n_probe_tiles - start)
        first = ((item % band) // many) * segment
        return start + (item % band) % many, first, min(first + segment, n_tiles)

    @gluon.jit
    def _load(
        given, K_STEPS: gl.constexpr, STAGES: gl.constexpr, GROUPS: gl.constexpr, KEEP: gl.constexpr,
    ):  # fmt: skip
        p_desc, g_desc, a_bufs, b_bufs, a_full, a_empty, b_full, b_empty = given[:8]
        n_probe_tiles, n_tiles, segment, n_items = given[8:]
        step = 0
        turn = 0
        for item in range(gl.program_id(0), n_items, gl.num_programs(0)):
            probe_tile, first, last = _item(item, n_probe_tiles, n_tiles, segment, KEEP)
            row = probe_tile * (64 * GROUPS)
            if KEEP:
                mbarrier.wait(a_empty, (turn & 1) ^ 1)
                mbarrier.expect(a_full, K_STEPS * GROUPS * p_desc.block_type.nbytes)
                for c in gl.static_range(K_STEPS):
                    for i in gl.static_range(GROUPS):
                        _fetch(p_desc, [row + 64 * i, c * 128], a_full, a_bufs.index(GROUPS * c + i))
            turn += 1
            for tile in range(first, last):
                for k in range(K_STEPS):
                    s = step % STAGES
                    mbarrier.wait(b_empty.index(s), ((step // STAGES) & 1) ^ 1)
                    if KEEP:
                        mbarrier.expect(b_full.index(s), g_desc.block_type.nbytes)
                    else:
                        mbarrier.expect(b_full.index(s), g_desc.block_type.nbytes + GROUPS * p_desc.block_type.nbytes)
                        for i in gl.static_range(GROUPS):
                            _fetch(p_desc, [row + 64 * i, k * 128], b_full.index(s), a_bufs.index(GROUPS * s + i))
                    _fetch(g_desc, [tile * 128, k * 128], b_full.index(s), b_bufs.index(s))
                    step += 1

    @gluon.jit
    def _step(
        a_bufs, b_bufs, b_full, b_empty, mma, step, k,
        STAGES: gl.constexpr, GROUPS: gl.constexpr, KEEP: gl.constexpr, GROUP: gl.constexpr, FIRST: gl.constexpr,
    ):  # fmt: skip
        s = step % STAGES
        mbarrier.wait(b_full.index(s), (step // STAGES) & 1)
        if KEEP:
            a = a_bufs.index(GROUPS * k + GROUP)
        else:
            a = a_bufs.index(GROUPS * s + GROUP)
        mma = warpgroup_mma(a, b_bufs.index(s).permute((1, 0)), mma, use_acc=not FIRST, is_async=True)
        if not FIRST:
            mma = warpgroup_mma_init(warpgroup_mma_wait(1, deps=(mma,)))
            mbarrier.arrive(b_empty.index((step - 1) % STAGES), count=1)
        return mma, step + 1

    @gluon.jit
    def _multiply(
        a_bufs, b_bufs, b_full, b_empty, step, LAYOUT: gl.constexpr, K_STEPS: gl.constexpr,
        STAGES: gl.constexpr, GROUPS: gl.constexpr, KEEP: gl.constexpr, GROUP: gl.constexpr,
    ):  # fmt: skip
        mma = warpgroup_mma_init(gl.zeros([64, 128], gl.int32, layout=LAYOUT))
        mma, step = _step(a_bufs, b_bufs, b_full, b_empty, mma, step, 0, STAGES, GROUPS, KEEP, GROUP, True)
        for k in range(1, K_STEPS):  # unrolled, it would keep so many addresses that registers spill
            mma, step = _step(a_bufs, b_bufs, b_full, b_empty, mma, step, k, STAGES, GROUPS, KEEP, GROUP, False)
        acc = warpgroup_mma_wait(0, deps=(mma,))
        mbarrier.arrive(b_empty.index((step - 1) % STAGES), count=1)
        return acc, step

    @gluon.jit
    def _look(
        given,
        K_STEPS: gl.constexpr, STAGES: gl.constexpr, GROUPS: gl.constexpr, KEEP: gl.constexpr,
        SHIFT: gl.constexpr, GROUP: gl.constexpr,
    ):  # fmt: skip
        a_bufs, b_bufs, a_full, a_empty, b_full, b_empty = given[:6]
        tops, probe_scale, probe_code, tile_scale, entry_code, entry_shift, flags = given[6:13]
        n_probes, n_entries, n_probe_tiles, n_tiles, segment, n_items = given[13:]
        mma: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 128, 32])
        by_row: gl.constexpr = gl.SliceLayout(1, mma)
        by_column: gl.constexpr = gl.SliceLayout(0, mma)
        step = 0
        turn = 0
        column = gl.arange(0, 128, layout=by_column)
        for item in range(gl.program_id(0), n_items, gl.num_programs(0)):
            probe_tile, first, last = _item(item, n_probe_tiles, n_tiles, segment, KEEP)
            row = (probe_tile * GROUPS + GROUP) * 64 + gl.arange(0, 64, layout=by_row)
            flag_row = ((probe_tile * GROUPS + GROUP) // 2).to(gl.int64)
            scale = gl.load(probe_scale + row, mask=row < n_probes, other=0.0)
            code = gl.load(probe_code + row, mask=row < n_probes, other=-1)
            if KEEP:
                mbarrier.wait(a_full, turn & 1)
            for tile in range(first, last):
                flag = gl.load(flags + flag_row * n_tiles + tile)
                size = scale * gl.load(tile_scale + tile)
                acc, step = _multiply(a_bufs, b_bufs, b_full, b_empty, step, mma, K_STEPS, STAGES, GROUPS, KEEP, GROUP)
                if KEEP:
                    mbarrier.arrive(a_empty, count=1, pred=tile == last - 1)
                if SHIFT:
                    entry = tile * 128 + column
                    score = acc.to(gl.float32) * size[:, None] - gl.load(entry_shift + entry)[None, :]
                else:
                    score = acc
                if flag != 0:
                    entry = tile * 128 + column
                    other = gl.load(entry_code + entry, mask=entry < n_entries, other=-2)
                    out = (code[:, None] == other[None, :]) | (entry >= n_entries)[None, :]
                    score = gl.where(out, float("-inf") if SHIFT else -(2**31), score)
                top = gl.max(score, axis=1).to(gl.float32)
                if not SHIFT:
                    top = top * size
                gl.store(tops + tile.to(gl.int64) * n_probes + row, top, mask=row < n_probes)
            turn += 1

    @gluon.jit
    def look_hopper(
        p_desc, g_desc,
        tops, probe_scale, probe_code, tile_scale, entry_code, entry_shift, flags,
        n_probes, n_entries, n_probe_tiles, n_tiles, segment, n_items,
        K_STEPS: gl.constexpr, STAGES: gl.constexpr, GROUPS: gl.constexpr, KEEP: gl.constexpr,
        SHIFT: gl.constexpr,
    ):  # fmt: skip
        A_BUFS: gl.constexpr = GROUPS * (K_STEPS if KEEP else STAGES)
        a_bufs = gl.allocate_shared_memory(p_desc.dtype, [A_BUFS, 64, 128], p_desc.layout)
        b_bufs = gl.allocate_shared_memory(g_desc.dtype, [STAGES, 128, 128], g_desc.layout)
        a_full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
        a_empty = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
        b_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
        b_empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
        mbarrier.init(a_full, count=1)
        mbarrier.init(a_empty, count=GROUPS)
        for s in gl.static_range(STAGES):
            mbarrier.init(b_full.index(s), count=1)
            mbarrier.init(b_empty.index(s), count=GROUPS)
        load = (
            p_desc, g_desc, a_bufs, b_bufs, a_full, a_empty, b_full, b_empty,
            n_probe_tiles, n_tiles, segment, n_items,
        )  # fmt: skip
        look = (
            a_bufs, b_bufs, a_full, a_empty, b_full, b_empty,
            tops, probe_scale, probe_code, tile_scale, entry_code, entry_shift, flags,
            n_probes, n_entries, n_probe_tiles, n_tiles, segment, n_items,
        )  # fmt: skip
        if GROUPS == 2:
            gl.warp_specialize(
                [
                    (_look, (look, K_STEPS, STAGES, GROUPS, KEEP, SHIFT, 0)),
                    (_look, (look, K_STEPS, STAGES, GROUPS, KEEP, SHIFT, 1)),
                    (_load, (load, K_STEPS, STAGES, GROUPS, KEEP)),
                ],
                [4, 1],
                [240, 24],
            )
        else:
            gl.warp_specialize(
                [
                    (_look, (look, K_STEPS, STAGES, GROUPS, KEEP, SHIFT, 0)),
                    (_look, (look, K_STEPS, STAGES, GROUPS, KEEP, SHIFT, 1)),
                    (_look, (look, K_STEPS, STAGES, GROUPS, KEEP, SHIFT, 2)),
                    (_look, (look, K_STEPS, STAGES, GROUPS, KEEP, SHIFT, 3)),
                    (_load, (load, K_STEPS, STAGES, GROUPS, KEEP)),
                ],
                [4, 4, 4, 1],
                [112, 112, 112, 24],
            )


def groups(width: int) -> int:
    """How many warpgroups, of 64 probes each, compare rows of this width: four unless only two leave room to keep."""
    return 2 if RESIDENT // 2 < width <= RESIDENT else 4


def launch(p: Any, g: Any, arguments: Any, sizes: tuple[int, int, int, int], programs: int, shift: bool) -> None:
    """Run `look_hopper` on int8 rows p and g with the arguments of `portable.look`."""
    width, rows = p.shape[1], 64 * groups(p.shape[1])
    keep = width <= RESIDENT
    stages = (SHARED - rows * width) // (128 * 128) if keep else SHARED // ((rows + 128) * 128)
    box = {n: gl.NVMMASharedLayout.get_default_for([n, 128], gl.int8) for n in (64, 128)}
    look_hopper[(programs,)](
        TensorDescriptor.from_tensor(p, [64, 128], box[64]),
        TensorDescriptor.from_tensor(g, [128, 128], box[128]),
        *arguments, *sizes,
        K_STEPS=width // 128, STAGES=stages, GROUPS=rows // 64, KEEP=keep, SHIFT=shift,
        num_warps=4, maxnreg=168 if rows == 128 else 96, enable_fp_fusion=True,
    )  # fmt: skip
