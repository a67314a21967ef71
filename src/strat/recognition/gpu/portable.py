"""The kernels in plain Triton: every NVIDIA GPU from Ampere on, and Triton's interpreter without one.

`look` multiplies tiles of 128 probes × 256 gallery entries in bfloat16 with float32 sums. The float64 score of a pair
lies within ± `half` of the fast one, so a probe's largest score in a tile tells whether the tile can hold an entry as
good as its mate, or the best non-mate of all. Most tiles can't, and cost no more than that maximum; the others are
noted as (probe, tile, the most the score can be). `recount` takes the notes, gathered by tile, and asks of each pair:

* certainly above the probe's threshold? counted at once;
* inside the band, so undecided, or possibly the best non-mate? recorded, as a bit in a record of probe and tile;
* certainly below? forgotten.

A probe with notes for very many tiles is better served by `look` with COUNT, which asks this in place.
Pairs of one subject, and entries beyond the gallery's end, occur in `look` only in tiles that are flagged.
"""

# mypy: ignore-errors
# ruff: noqa: D103

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

if triton is not None:

    @triton.jit
    def look(
        probes, gallery,
        threshold_low, threshold_high, alpha, beta, floor, probe_code,
        entry_code, entry_shift, tile_m, tile_b, tile_c, flags,
        above, hits, records, cursor, capacity,
        n_probes, n_entries, n_probe_tiles, n_tiles, segment, n_items,
        K_STEPS: tl.constexpr, SHIFT: tl.constexpr, COUNT: tl.constexpr,
    ):  # fmt: skip
        column = tl.arange(0, 256)
        depth = tl.arange(0, 64)
        for item in range(tl.program_id(0), n_items, tl.num_programs(0)):
            probe_tile = item % n_probe_tiles
            first = (item // n_probe_tiles) * segment
            last = min(first + segment, n_tiles)
            row = probe_tile * 128 + tl.arange(0, 128)
            there = row < n_probes
            low = tl.load(threshold_low + row, mask=there, other=float("inf"))
            high = tl.load(threshold_high + row, mask=there, other=float("inf"))
            a = tl.load(alpha + row, mask=there, other=0.0)
            b = tl.load(beta + row, mask=there, other=0.0)
            best = tl.load(floor + row, mask=there, other=float("inf"))
            code = tl.load(probe_code + row, mask=there, other=-1)
            total = tl.zeros([128], tl.int32)
            seen = tl.zeros([128], tl.int32)
            p_rows = probes + row.to(tl.int64)[:, None] * (K_STEPS * 64) + depth[None, :]
            for tile in range(first, last):
                entry = tile * 256 + column
                g_rows = gallery + entry.to(tl.int64)[None, :] * (K_STEPS * 64) + depth[:, None]
                acc = tl.zeros([128, 256], tl.float32)
                for k in range(K_STEPS):
                    p = tl.load(p_rows + k * 64, mask=there[:, None], other=0.0)
                    g = tl.load(g_rows + k * 64, mask=(entry < n_entries)[None, :], other=0.0)
                    acc = tl.dot(p, g, acc)
                if SHIFT:
                    acc = acc - tl.load(entry_shift + entry)[None, :]
                if tl.load(flags + probe_tile.to(tl.int64) * n_tiles + tile) != 0:
                    other = tl.load(entry_code + entry, mask=entry < n_entries, other=-2)
                    out = (code[:, None] == other[None, :]) | (entry >= n_entries)[None, :]
                    acc = tl.where(out, float("-inf"), acc)
                half = a * tl.load(tile_m + tile) + b * tl.load(tile_b + tile) + tl.load(tile_c + tile)
                top = tl.max(acc, axis=1)
                best = tl.maximum(best, top - half)
                least = tl.minimum(low, best) - half
                hit = (top >= least).to(tl.int32)
                if tl.max(hit, axis=0) > 0:
                    seen += hit
                    if COUNT:
                        certain = (acc > (high + half)[:, None]) & (acc < (best - half)[:, None])
                        total += tl.sum(certain.to(tl.int32), axis=1)
                        near = (acc >= least[:, None]) & (certain == 0)
                        _record(near, row, tile, records, cursor, capacity, 128)
                    else:
                        wanted = (hit > 0) & (seen <= 32)
                        ones = tl.full([128], 1, tl.int64)
                        place = tl.atomic_add(cursor + ones * 0, ones, mask=wanted)
                        fits = wanted & (place < capacity)
                        start = records + place * 3
                        tl.store(start, row, mask=fits)
                        tl.store(start + 1, row * 0 + tile, mask=fits)
                        tl.store(start + 2, (top + half).to(tl.int32, bitcast=True), mask=fits)
            if COUNT:
                tl.atomic_add(above + row, total, mask=there & (total > 0))
            seen = tl.where(seen > 32, seen + (1 << 24), seen)
            tl.atomic_add(hits + row, seen, mask=there & (seen > 0))
            tl.atomic_max(floor + row, best, mask=there)

    @triton.jit
    def recount(
        probes, gallery, noted, block_tile, block_start, block_size,
        threshold_low, threshold_high, alpha, beta, floor, probe_code,
        entry_code, entry_shift, tile_m, tile_b, tile_c,
        above, records, cursor, capacity, n_entries,
        K_STEPS: tl.constexpr, SHIFT: tl.constexpr,
    ):  # fmt: skip
        tile = tl.load(block_tile + tl.program_id(0))
        i = tl.arange(0, 64)
        there = i < tl.load(block_size + tl.program_id(0))
        row = tl.load(noted + tl.load(block_start + tl.program_id(0)) + i, mask=there, other=0)
        column = tl.arange(0, 256)
        depth = tl.arange(0, 64)
        entry = tile * 256 + column
        p_rows = probes + row.to(tl.int64)[:, None] * (K_STEPS * 64) + depth[None, :]
        g_rows = gallery + entry.to(tl.int64)[None, :] * (K_STEPS * 64) + depth[:, None]
        acc = tl.zeros([64, 256], tl.float32)
        for k in range(K_STEPS):
            p = tl.load(p_rows + k * 64, mask=there[:, None], other=0.0)
            g = tl.load(g_rows + k * 64, mask=(entry < n_entries)[None, :], other=0.0)
            acc = tl.dot(p, g, acc)
        if SHIFT:
            acc = acc - tl.load(entry_shift + entry)[None, :]
        half = tl.load(alpha + row) * tl.load(tile_m + tile) + tl.load(beta + row) * tl.load(tile_b + tile)
        half += tl.load(tile_c + tile)
        best = tl.load(floor + row)
        least = tl.minimum(tl.load(threshold_low + row), best) - half
        other = tl.load(entry_code + entry, mask=entry < n_entries, other=-2)
        out = (tl.load(probe_code + row)[:, None] == other[None, :]) | (entry >= n_entries)[None, :]
        out = out | (there == 0)[:, None]
        acc = tl.where(out, float("-inf"), acc)
        certain = (acc > (tl.load(threshold_high + row) + half)[:, None]) & (acc < (best - half)[:, None])
        total = tl.sum(certain.to(tl.int32), axis=1)
        tl.atomic_add(above + row, total, mask=there & (total > 0))
        near = (acc >= least[:, None]) & (certain == 0)
        _record(near, row, tile, records, cursor, capacity, 64)

    @triton.jit
    def _record(near, row, tile, records, cursor, capacity, ROWS: tl.constexpr):
        bit = tl.full([256], 1, tl.int32) << (tl.arange(0, 256) % 32)
        words = tl.sum(tl.reshape(tl.where(near, bit[None, :], 0), [ROWS, 8, 32]), axis=2)
        found = tl.max((words != 0).to(tl.int32), axis=1)
        if tl.max(found, axis=0) > 0:
            ones = tl.full([ROWS], 1, tl.int64)
            place = tl.atomic_add(cursor + ones * 0, ones, mask=found > 0)
            fits = (found > 0) & (place < capacity)
            start = records + place * 10
            tl.store(start, row, mask=fits)
            tl.store(start + 1, row * 0 + tile, mask=fits)
            tl.store(start[:, None] + (2 + tl.arange(0, 8))[None, :], words, mask=fits[:, None])

    @triton.jit
    def _halves(x, ROWS: tl.constexpr, WIDTH: tl.constexpr):
        left, right = tl.split(tl.permute(tl.reshape(x, [ROWS, 2, WIDTH]), (0, 2, 1)))
        return left + right

    @triton.jit
    def score_pairs(
        probes, gallery, probe, entry, scores, n, dimension,
        DISTANCE: tl.constexpr, ROWS: tl.constexpr,
    ):  # fmt: skip
        """Sums in the fixed order of `bounds.exact_dot`; compiled without fused multiply-adds."""
        i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        lane = tl.arange(0, 32)
        there = i < n
        p_row = tl.load(probe + i, mask=there, other=0).to(tl.int64) * dimension
        g_row = tl.load(entry + i, mask=there, other=0).to(tl.int64) * dimension
        total = tl.zeros([ROWS, 32], tl.float64)
        for start in range(0, dimension, 32):
            inside = there[:, None] & (start + lane < dimension)[None, :]
            p = tl.load(probes + p_row[:, None] + start + lane[None, :], mask=inside, other=0.0)
            g = tl.load(gallery + g_row[:, None] + start + lane[None, :], mask=inside, other=0.0)
            if DISTANCE:
                total += (p - g) * (p - g)
            else:
                total += p * g
        half = _halves(total, ROWS, 16)
        half = _halves(half, ROWS, 8)
        half = _halves(half, ROWS, 4)
        half = _halves(half, ROWS, 2)
        half = _halves(half, ROWS, 1)
        tl.store(scores + i, tl.reshape(half, [ROWS]), mask=there)

    @triton.jit
    def lower(rows, centre, low, squares, scale, n, dimension, width, ROWS: tl.constexpr):
        """Rows scaled and centred, in bfloat16, with the squared norms of what they were and of what rounding took."""
        i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        column = tl.arange(0, 64)
        there = i < n
        factor = tl.load(scale)  # by pointer: a number would arrive in float32
        size = tl.zeros([ROWS, 64], tl.float64)
        lost = tl.zeros([ROWS, 64], tl.float64)
        for start in range(0, width, 64):
            inside = there[:, None] & (start + column < dimension)[None, :]
            at = i.to(tl.int64)[:, None] * dimension + start + column[None, :]
            x = tl.load(rows + at, mask=inside, other=0.0) * factor
            x -= tl.load(centre + start + column, mask=start + column < dimension, other=0.0)[None, :]
            x = tl.where(inside, x, 0.0)
            rounded = x.to(tl.float32).to(tl.bfloat16)
            size += x * x
            error = rounded.to(tl.float32).to(tl.float64) - x
            lost += error * error
            place = i.to(tl.int64)[:, None] * width + start + column[None, :]
            tl.store(low + place, rounded, mask=there[:, None])
        tl.store(squares + i, tl.sum(size, axis=1), mask=there)
        tl.store(squares + n + i, tl.sum(lost, axis=1), mask=there)

    @triton.jit
    def decide(
        probe, scores, keys, thresholds, above, tied, best, n,
        COUNT: tl.constexpr, ROWS: tl.constexpr,
    ):  # fmt: skip
        """Add float64 scores to their probes' columns; `keys` and `best` are scores as integers in the same order."""
        i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        there = i < n
        p = tl.load(probe + i, mask=there, other=0)
        score = tl.load(scores + i, mask=there, other=0.0)
        wanted = tl.load(thresholds + p, mask=there, other=0.0)
        if COUNT:
            ones = tl.full([ROWS], 1, tl.int64)
            tl.atomic_add(above + p, ones, mask=there & (score > wanted))
            tl.atomic_add(tied + p, ones, mask=there & (score == wanted))
        tl.atomic_max(best + p, tl.load(keys + i, mask=there, other=0), mask=there)
