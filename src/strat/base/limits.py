"""The limits on memory and time, in one place, and how a test changes them for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Limits:
    """What is worked on or held at once, and how large a thing may be before it is refused or done otherwise.

    A limit is read where it counts, as ``LIMITS.rows_in_memory``; its comment says what is done otherwise beyond it.
    Numbers that enter a result stand beside their formula, and docs/constants.md lists them.
    """

    # What arguments and arrays may hold
    repetitions = 10**9  # repetitions of anything
    held = 1 << 40  # of what memory has to hold
    packed_bytes = 256 << 20  # up to which an array of a file may be packed as tightly as it likes
    unpacked_ratio = 100  # times its packed size beyond which a larger array is no measurement

    # Files, engines and logs
    rows_in_memory = 5_000_000  # of a Parquet file with units; more are read in two passes
    rows_made_of_cells = 5_000_000  # counted cells that become rows again for a measure that needs rows
    exact_rows = 10_000_000  # rows up to which scores are never binned unless somebody asks for bins
    grouped_rows = 1 << 16  # that are grouped without a look at how many are distinct
    distinct_scores = 4096  # of a column that are kept as they are; more are binned
    excel_rows = 1 << 20  # what Excel itself can hold
    excel_cells = 20_000_000  # of a sheet
    excel_unpacked_bytes = 1 << 30  # of all parts of a workbook
    excel_text_bytes = 1 << 28  # of the texts, which are held in memory
    csv_bytes_looked_at = 64 << 20  # of a CSV file whose rows are all looked at when it is opened
    json_bytes_looked_at = 8 << 20  # the same of JSON lines
    rows_looked_at = 200_000  # when a larger file is opened
    file_chunk = 1 << 20  # bytes of a file that are read at a time
    short_text = 24  # characters of a text beyond which an array points to it
    log_head = 4096  # bytes of a log from which its harness is known
    xml_depth = 50  # elements within elements
    kept_text = 200  # characters of a field that is kept

    # Arrays and fields
    field_order = 2**24  # of a finite field, whose logarithms are held
    field_table_order = 256  # up to which sums and products are looked up in tables
    sequence_length = 2**25  # of a sequence with two-valued correlations
    dense_hadamard_order = 32_768  # of a Hadamard matrix that is written out
    stored_symbols = 2**22  # of an array that is kept
    multi_array_runs = 2_000_000  # unless `most=` says otherwise
    array_symbols = 2**31  # runs × columns of an array
    transform_radix_bits = 5  # a 32 × 32 factor fits the first cache and turns five butterfly passes into one product
    transform_piece = 256  # 32 · 32 · 256 is the largest product that OpenBLAS computes in one thread
    selected_units = 2048  # beyond, blocks × units would be too large a table, and single units serve
    resolved_units = 128  # the same for classes × blocks × units
    checked_symbols = 2**20  # of an array that is checked without being asked

    # Designs and replicates
    dense_share = 0.1  # of a sparse table that is not zero beyond which a dense product is faster
    written_influences = 1 << 24  # lines × values of influences that are written out
    factors_at_once = 1 << 22  # numbers in a block of dense factors: 32 MB
    half_sampled_strata = 20  # of which all half-samples can be taken

    # Estimates
    dense_totals = 1 << 26  # numbers in a dense matrix of unit totals (512 MB); beyond it the matrix is sparse
    columns_one_by_one = 16  # columns that are added up one by one; more go through one sparse product
    kept_spread = 1 << 24  # numbers of spread (128 MB); a larger map keeps its standard errors alone
    diagnosed_spread = 1 << 22  # numbers of spread beyond which no replicate is looked at
    probed_units = 4  # unnamed units for each replicate up to which a function of weights is asked once for each unit
    totals_at_once = 1 << 18  # unit totals of a map that are worked on at once: they stay in the processor's cache
    share_components = 1 << 11  # components up to which what a value is a share of is added up in each unit
    unit_shares = 1 << 22  # units × values up to which shares have limits of their own units
    differentiated_numbers = 1 << 22  # numbers in one call of the function that is differentiated
    map_corners = 8  # values of a map up to which all corners of their range are looked at
    map_dependencies = 1 << 20  # values × values of a map up to which each result gets its own degrees of freedom
    shares_at_once = 64  # values that are worked on at once: what they need stays in the processor's cache
    domains_at_once = 256  # domains that are worked on at once
    sampled_texts = 1 << 12  # of a column, whose distinct texts are looked for there first; shorter ones are sorted
    ordering_columns = 16  # that nearly always tell rows apart; all are looked at where they don't
    cautious_units = 100_000  # beyond so many units nobody looks: the interval rests on enough of them
    # distinct scores beyond which limits are found on classes of them; the tails are kept as they are
    curve_scores = 4_096
    curve_values = 4_000  # beyond which the band and the area of a curve that came as an estimate are left out

    # Measures
    dense_slopes = 1 << 18  # beyond these, a gradient that is mostly zero is multiplied as a sparse matrix
    confusion_classes = 16  # up to which the K × K cells are added up; beyond, 3 K margins are fewer
    confusion_numbers = 1 << 20  # numbers (8 MB) up to which a table of the distinct (truth, predicted) pairs is kept
    spelled_labels = 100_000  # labels beyond which nobody looks at their spelling
    rating_values = 400  # distinct ratings whose pairs are kept
    mask_pixels = 16  # around two masks for each point of theirs, up to which all of them are looked at
    pairs_one_by_one = 20  # cells up to which pairs are compared one by one

    # Comparisons
    bergmann_systems = 11  # which have 678,570 partitions; twelve have six times as many
    rom_pvalues = 100  # of Rom's adjustment
    dirichlet_draws = 4096  # draws of weights that are held at once
    patterns = 10**8  # for which random tables or a bound can be had
    whole_patterns = 150  # up to which the distribution is made of whole numbers without any rounding
    drawn_table_cells = 1 << 26  # cells of all tables that are drawn with given margins: 512 MB
    written_factorials = 100_000  # patterns up to which the number of ways to give their labels is written out
    kept_coefficients = 100_000  # of a class with fewer patterns; those of a larger one are computed where they matter
    signed_rank_sets = 1000  # data sets up to which the signed-rank test enumerates its null distribution
    hypergeometric_terms = 1_000_000  # that are summed: a second or two
    drawn_gaps = 1_000_000_000  # pairs × draws: more systems take fewer draws, of a maximum that varies less
    polynomial_points = 1 << 23  # some hundred megabytes of work, and a few seconds
    kept_pairs = 30  # systems up to which the limits of all differences travel with a result of two phases
    drawn_systems = 200  # best first, whose luck is drawn; with more, the tail of the winner's lower limit is divided
    compared_rows = 1 << 21  # rows × systems that are looked at together
    randomized_numbers = 1 << 23  # units × draws at a time
    ranked_systems = 7  # whose orders are listed
    rank_sums = 4_000_000  # sums of ranks that are formed in all: about half a second
    flip_work = 50_000_000  # draws × systems²; more systems take fewer draws
    flipped_numbers = 4_000_000  # at a time
    pairs_at_once = 1 << 21  # pairs whose numbers are held at a time
    cached_draws = 1 << 18  # numbers of draws that are worked on at a time: they stay in the processor's cache

    # Recognition
    probes_at_once = 1024  # probes in a block
    # entries in a tile: whole words of 8 truth values, at most 255, so that bytes add up without a carry
    entries_at_once = 1016
    pending_comparisons = 1 << 20  # comparisons kept for float64 before they are decided
    comparisons_at_once = 1 << 22  # that are worked on at a time
    exact_pairs = 1 << 16  # numbers gathered at a time when pairs are scored: half a megabyte, which stays in the cache
    mirrored_tile = 512  # rows and columns of a piece of a table that is compared with its mirror image
    streamed_rows = 1 << 20  # comparisons in a batch
    read_ahead = 1 << 20  # bytes of a column that are read at once
    streamed_pairs = 1 << 24  # pairs of subjects whose sums are kept
    redrawn_comparisons = 1 << 16  # up to which subjects are drawn anew
    summed_comparisons = 128  # that are added up at a time: what they need stays in the processor's cache
    scores_at_once = 1 << 22  # scores in a block: 32 MB
    subject_pairs = 1 << 25  # 128 MB of counts by pairs of subjects at a time
    trial_scores = 1 << 28  # of a table that is made from embeddings: 2 GB
    pair_totals = 1 << 25  # totals of pairs of subjects that are kept at once: 256 MB
    gpu_notes_per_probe = 128  # undecided comparisons that are written down for a probe
    gpu_notes = 4096  # for which there is room however few the probes
    # where notes are too many, a probe with notes in more than one tile in so many is counted in all of them
    gpu_hard_tiles = 16
    gpu_tiles = 1 << 25  # probes × tiles at a time
    gpu_crowd = 50  # a probe with more than one entry in so many inside its band is cheaper in float64 altogether
    gpu_pairs = 1 << 22  # pairs that are scored at a time
    gpu_rows = 1 << 15  # rows that are converted at a time

    # Models and theory
    silhouette_rows = 5_000  # of a silhouette, which needs all pairs of them
    stopping_steps = 100_000  # of a training that is stopped early
    feature_sets = 200_000  # that an exhaustive search looks at
    linked_rows = 20_000  # of a single linkage, which needs all pairs of them
    traced_seconds = 1.0  # that a training may take for its memory to be followed in another one
    simulated_features = 500  # of a simulation with matrices
    simulated_numbers = 20_000_000  # of a simulated sample set
    moment_features = 100  # of the variance's integrals, whose number grows with the square
    quadrature_points = 12  # points of an integrand that are computed before its size is looked at
    quadrature_cells = 1_500_000  # numbers of integrands at a time

    # Verbs
    folded_rows = 20_000  # below: rows are as fast
    folded_kinds = 4_096  # distinct labels of a column, and distinct rows, beyond which rows are no slower
    checked_rows = 20_000_000  # over all samples of one kind; more rows get fewer samples
    checked_samples = 1_000_000  # a share is then known to 0.05 %
    pooled_rows = 2_000_000  # of the samples whose joint value stands for the truth of a measure of scores
    covariance_of_groups = 1 << 25  # lines × groups up to which the covariance of groups is kept
    compared_groups = 500  # up to which groups are compared with each other
    pairs_of_groups = 2_000  # up to which their limits share one draw of the largest deviation; Bonferroni's beyond
    group_totals = 1 << 22  # groups × components that are worked on at once
    hint_rows = 200_000  # of a table that are looked at for hints
    system_rows = 20_000  # up to which every column is looked at for systems, whatever its name
    hint_columns = 30  # that are looked at for hints
    look_columns = 100  # that `look` looks at
    crossed_columns = 20  # columns of which every pair is looked at for crossed factors
    paired_systems = 200  # from the best, whose pairs are written out: those of a thousand are half a million

    printed_rows = 100  # of a table that is printed; what is written holds all

    # Pages
    picker_systems = 300  # whose pairs the page holds
    data_pairs = 5_000  # of systems whose numbers the page holds
    banded_values = 2_000  # of a curve with a band
    page_data = 3_000_000  # characters of data that a page holds
    forest_rows = 200  # of a forest; more are counted in a note below it
    page_jobs = 4  # that run at once
    page_grace = 2.0  # seconds between asking a process to end and ending it
    page_json = 1 << 20  # bytes of a request that is no upload
    page_length_digits = 18  # digits of a length that are read
    upload_bytes = 2 << 30  # of a file; a larger one is named by its path
    page_strangers = 100  # connections that have not shown the secret
    page_haste = 10.0  # seconds without a byte, before the secret was shown
    page_patience = 60.0  # and after
    upload_piece = 1 << 20  # bytes of an upload that are written at a time
    upload_name = 200  # bytes of the name of an uploaded file
    upload_depth = 8  # folders of an uploaded file


LIMITS = Limits()


@contextmanager
def changed(**values: float) -> Iterator[None]:
    """Other limits within a `with` block, for tests.

    >>> with changed(rows_in_memory=10):
    ...     LIMITS.rows_in_memory
    10
    >>> LIMITS.rows_in_memory
    5000000
    """
    if unknown := values.keys() - vars(Limits).keys():
        raise AttributeError(f"there is no limit {', '.join(sorted(unknown))}")
    before = dict(vars(LIMITS))
    vars(LIMITS).update(values)
    try:
        yield
    finally:
        vars(LIMITS).clear()
        vars(LIMITS).update(before)
