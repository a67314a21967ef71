"""The kernels in plain Triton: every NVIDIA GPU from Ampere on, and Triton's interpreter without one.

`look` multiplies tiles of 128 probes × 128 gallery entries in int8 with int32 sums, which are exact, and keeps each
probe's largest score in the tile. `recount` with LEAD scores the tile where that is largest with two digits, which
tells what the best non-mate reaches at least. The float64 score of a pair lies within ± `half` of the fast one, so
`note` can tell which tiles may hold an entry as good as the mate, or the best non-mate of all. Most can't. `recount`
takes the notes, gathered by tile, and asks of each pair, with two digits and so a band some 250 times as narrow:

* certainly above the probe's threshold, and not the best? counted at once;
* inside the band, so undecided, or possibly the best non-mate? recorded, as a bit in a record of probe and tile;
* certainly below? forgotten.

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
        probes, gallery, tops, probe_scale, probe_code, tile_scale, entry_code, entry_shift, flags,
        n_probes, n_entries, n_probe_tiles, n_tiles, segment, n_items,
        K_STEPS: tl.constexpr, SHIFT: tl.constexpr,
    ):  # fmt: skip
        column = tl.arange(0, 128)
        for item in range(tl.program_id(0), n_items, tl.num_programs(0)):
            probe_tile = item % n_probe_tiles
            first = (item // n_probe_tiles) * segment
            last = min(first + segment, n_tiles)
            row = probe_tile * 128 + tl.arange(0, 128)
            there = row < n_probes
            scale = tl.load(probe_scale + row, mask=there, other=0.0)
            code = tl.load(probe_code + row, mask=there, other=-1)
            p_rows = probes + row.to(tl.int64)[:, None] * (K_STEPS * 128) + column[None, :]
            for tile in range(first, last):
                entry = tile * 128 + column
                g_rows = gallery + entry.to(tl.int64)[None, :] * (K_STEPS * 128) + column[:, None]
                acc = tl.zeros([128, 128], tl.int32)
                for k in range(K_STEPS):
                    p = tl.load(p_rows + k * 128, mask=there[:, None], other=0)
                    g = tl.load(g_rows + k * 128, mask=(entry < n_entries)[None, :], other=0)
                    acc = tl.dot(p, g, acc, out_dtype=tl.int32)
                size = scale * tl.load(tile_scale + tile)
                if SHIFT:
                    score = acc.to(tl.float32) * size[:, None] - tl.load(entry_shift + entry)[None, :]
                else:
                    score = acc
                if tl.load(flags + probe_tile.to(tl.int64) * n_tiles + tile) != 0:
                    other = tl.load(entry_code + entry, mask=entry < n_entries, other=-2)
                    out = (code[:, None] == other[None, :]) | (entry >= n_entries)[None, :]
                    score = tl.where(out, float("-inf") if SHIFT else -(2**31), score)
                top = tl.max(score, axis=1).to(tl.float32)
                if not SHIFT:
                    top = top * size
                tl.store(tops + row.to(tl.int64) + tl.full([], tile, tl.int64) * n_probes, top, mask=there)

    @triton.jit
    def note(
        tops, least, alpha, beta, tile_m, tile_b, tile_c, of_tile, out, n_probes, n_tiles,
        WRITE: tl.constexpr, ROWS: tl.constexpr, TILES: tl.constexpr,
    ):  # fmt: skip
        """Count the notes of each tile and probe or, where `of_tile` says where each tile's begin, write them."""
        row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        tile = tl.program_id(1) * TILES + tl.arange(0, TILES)
        there = (tile < n_tiles)[:, None] & (row < n_probes)[None, :]
        top = tl.load(tops + tile.to(tl.int64)[:, None] * n_probes + row[None, :], mask=there, other=float("-inf"))
        half = tl.load(alpha + row, mask=row < n_probes, other=0.0)[None, :]
        half = half * tl.load(tile_m + tile, mask=tile < n_tiles, other=0.0)[:, None]
        norm = tl.load(beta + row, mask=row < n_probes, other=0.0)[None, :]
        half += norm * tl.load(tile_b + tile, mask=tile < n_tiles, other=0.0)[:, None]
        half += tl.load(tile_c + tile, mask=tile < n_tiles, other=0.0)[:, None]
        hit = there & (top >= tl.load(least + row, mask=row < n_probes, other=float("inf"))[None, :] - half)
        hit = hit.to(tl.int32)
        many = tl.sum(hit, axis=1).to(tl.int64)
        start = tl.atomic_add(of_tile + tile, many, mask=many > 0)
        if WRITE:
            place = start[:, None] + tl.cumsum(hit, axis=1) - 1
            tl.store(out + place, row[None, :] + hit * 0, mask=hit > 0)
        else:
            seen = tl.sum(hit, axis=0).to(tl.int64)
            tl.atomic_add(out + row, seen, mask=seen > 0)

    @triton.jit
    def recount(
        probes_1, probes_2, gallery_1, gallery_2, noted, block_tile, block_start, block_size,
        threshold_low, threshold_high, floor, probe_scale, alpha, beta, probe_code,
        tile_scale, tile_m, tile_b, tile_c, entry_code, entry_shift,
        above, records, cursor, n_entries,
        K_STEPS: tl.constexpr, SHIFT: tl.constexpr, LEAD: tl.constexpr, ROWS: tl.constexpr,
    ):  # fmt: skip
        tile = tl.load(block_tile + tl.program_id(0))
        i = tl.arange(0, ROWS)
        there = i < tl.load(block_size + tl.program_id(0))
        row = tl.load(noted + tl.load(block_start + tl.program_id(0)) + i, mask=there, other=0)
        column = tl.arange(0, 128)
        entry = tile * 128 + column
        inside = (entry < n_entries)[None, :]
        p_place = row.to(tl.int64)[:, None] * (K_STEPS * 128) + column[None, :]
        g_place = entry.to(tl.int64)[None, :] * (K_STEPS * 128) + column[:, None]
        both = tl.zeros([ROWS, 128], tl.int32)
        mixed = tl.zeros([ROWS, 128], tl.int32)
        rest = tl.zeros([ROWS, 128], tl.int32)
        for k in range(K_STEPS):
            p_1 = tl.load(probes_1 + p_place + k * 128, mask=there[:, None], other=0)
            p_2 = tl.load(probes_2 + p_place + k * 128, mask=there[:, None], other=0)
            g_1 = tl.load(gallery_1 + g_place + k * 128, mask=inside, other=0)
            g_2 = tl.load(gallery_2 + g_place + k * 128, mask=inside, other=0)
            both = tl.dot(p_1, g_1, both, out_dtype=tl.int32)
            mixed = tl.dot(p_1, g_2, mixed, out_dtype=tl.int32)
            mixed = tl.dot(p_2, g_1, mixed, out_dtype=tl.int32)
            rest = tl.dot(p_2, g_2, rest, out_dtype=tl.int32)
        score = both.to(tl.float32) + (mixed.to(tl.float32) + rest.to(tl.float32) / 256) / 256
        score = score * (tl.load(probe_scale + row) * tl.load(tile_scale + tile))[:, None]
        if SHIFT:
            score = score - tl.load(entry_shift + entry)[None, :]
        other = tl.load(entry_code + entry, mask=entry < n_entries, other=-2)
        out = (tl.load(probe_code + row)[:, None] == other[None, :]) | (entry >= n_entries)[None, :]
        score = tl.where(out | (there == 0)[:, None], float("-inf"), score)
        half = tl.load(alpha + row) * tl.load(tile_m + tile) + tl.load(beta + row) * tl.load(tile_b + tile)
        half += tl.load(tile_c + tile)
        top = tl.max(score, axis=1)
        best = tl.maximum(tl.load(floor + row), top - half)
        tl.atomic_max(floor + row, best, mask=there)
        if not LEAD:
            least = tl.minimum(tl.load(threshold_low + row), best) - half
            certain = (score > (tl.load(threshold_high + row) + half)[:, None]) & (score < (best - half)[:, None])
            total = tl.sum(certain.to(tl.int32), axis=1)
            tl.atomic_add(above + row, total, mask=there & (total > 0))
            near = (score >= least[:, None]) & (certain == 0)
            bit = tl.full([128], 1, tl.int32) << (column % 32)
            words = tl.sum(tl.reshape(tl.where(near, bit[None, :], 0), [ROWS, 4, 32]), axis=2)
            present = tl.max((words != 0).to(tl.int32), axis=1)
            ones = tl.full([ROWS], 1, tl.int64)
            start = records + tl.atomic_add(cursor + ones * 0, ones, mask=present > 0) * 7
            tl.store(start, row, mask=present > 0)
            tl.store(start + 1, row * 0 + tile, mask=present > 0)
            tl.store(start + 2, (top + half).to(tl.int32, bitcast=True), mask=present > 0)
            tl.store(start[:, None] + (3 + tl.arange(0, 4))[None, :], words, mask=(present > 0)[:, None])

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
    def _in_space(rows, row, there, centre, factor, start, dimension):
        column = start + tl.arange(0, 64)
        inside = there[:, None] & (column < dimension)[None, :]
        x = tl.load(rows + row[:, None] * dimension + column[None, :], mask=inside, other=0.0) * factor
        x -= tl.load(centre + column, mask=column < dimension, other=0.0)[None, :]
        return tl.where(inside, x, 0.0)

    @triton.jit
    def reach(rows, centre, largest, scale, n, dimension, ROWS: tl.constexpr):
        """The largest absolute number of each scaled and centred row."""
        i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        there = i < n
        factor = tl.load(scale)  # by pointer: a number would arrive in float32
        most = tl.zeros([ROWS, 64], tl.float64)
        for start in range(0, dimension, 64):
            most = tl.maximum(most, tl.abs(_in_space(rows, i.to(tl.int64), there, centre, factor, start, dimension)))
        tl.store(largest + i, tl.max(most, axis=1), mask=there)

    @triton.jit
    def write_digits(
        rows, centre, order, scales, first, second, squares, scale, n, dimension, width, ROWS: tl.constexpr
    ):
        """Two digits of scaled and centred rows, and the squared norms of the rows and of what the digits leave."""
        i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        there = i < n
        row = tl.load(order + i, mask=there, other=0)
        step = tl.load(scales + i, mask=there, other=1.0).to(tl.float64)[:, None]
        steps = 1 / step
        factor = tl.load(scale)
        size = tl.zeros([ROWS, 64], tl.float64)
        left_1 = tl.zeros([ROWS, 64], tl.float64)
        left_2 = tl.zeros([ROWS, 64], tl.float64)
        for start in range(0, width, 64):
            x = _in_space(rows, row, there, centre, factor, start, dimension)
            size += x * x
            digit_1 = tl.floor(x * steps + 0.5)
            x -= digit_1 * step
            left_1 += x * x
            digit_2 = tl.maximum(tl.minimum(tl.floor(x * steps * 256 + 0.5), 127.0), -127.0)
            x -= digit_2 * (step / 256)
            left_2 += x * x
            place = i.to(tl.int64)[:, None] * width + start + tl.arange(0, 64)[None, :]
            tl.store(first + place, digit_1.to(tl.int8), mask=there[:, None])
            tl.store(second + place, digit_2.to(tl.int8), mask=there[:, None])
        tl.store(squares + i, tl.sum(size, axis=1), mask=there)
        tl.store(squares + n + i, tl.sum(left_1, axis=1), mask=there)
        tl.store(squares + 2 * n + i, tl.sum(left_2, axis=1), mask=there)

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
