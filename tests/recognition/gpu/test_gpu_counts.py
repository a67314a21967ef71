"""The GPU's four columns equal those of float64 scores of every pair, kernels run by Triton's interpreter."""

import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from strat.base.errors import StratError, StratWarning
from strat.base.limits import changed
from strat.recognition import gpu, ranks_of_embeddings, rounding
from strat.recognition.gpu import counting, hopper

ABSENT = [name for name in ("torch", "triton") if find_spec(name) is None]  # not imported to see what tests there are

pytestmark = [
    pytest.mark.skipif(bool(ABSENT), reason=f"{' and '.join(ABSENT)} not installed: an extra"),
    pytest.mark.costly("Triton's interpreter runs the threads of a kernel one by one"),
    pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") != "1", reason="Triton's interpreter is switched off"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def people(n=140, m=300, d=70, subjects=120, seed=0, noise=2.0):
    """Several images per subject, probes without a mate, and exact ties between strangers."""
    rng = np.random.default_rng(seed)
    gallery = rng.normal(size=(m, d)).astype(np.float32)
    gallery_codes = rng.integers(0, subjects, m)
    gallery[m // 2 : m // 2 + 10] = gallery[:10]
    probe_codes = rng.integers(0, subjects + 10, n)
    probes = noise * rng.normal(size=(n, d)).astype(np.float32)
    for i, code in enumerate(probe_codes):
        own = np.flatnonzero(gallery_codes == code)
        probes[i] += gallery[own[0]] if len(own) else 0
    return probes, gallery, probe_codes, gallery_codes


def every_pair(probes, gallery, probe_codes, gallery_codes, form):
    columns = []
    for p, code in zip(probes.astype(float), probe_codes, strict=True):
        scores = rounding.exact_scores(p[None], gallery.astype(float), form)
        own, others = scores[gallery_codes == code], scores[gallery_codes != code]
        mate = own.max() if len(own) else np.nan
        columns.append(((others > mate).sum(), (others == mate).sum(), mate, others.max()))
    return [np.array(c) for c in zip(*columns, strict=True)]


def check(data, form="cosine", **options):
    probes, gallery, probe_codes, gallery_codes = data
    c = gpu.count_better(probes, gallery, probe_codes=probe_codes, gallery_codes=gallery_codes, form=form, **options)
    for found, wanted in zip((c.above, c.tied, c.mate, c.best_nonmate), every_pair(*data, form), strict=True):
        np.testing.assert_array_equal(found, wanted)
    return c


@pytest.mark.parametrize("form", gpu.FORMS)
def test_ranks_equal_those_of_float64(form):
    c = check(people(), form)
    assert c.tied.sum() > 0 or form == "inner"
    assert 140 <= c.rechecked < 140 * 60  # a part of the pairs, not all of them


def test_a_gallery_larger_than_the_card_is_streamed():
    check(people(n=20, seed=1), gallery_rows=130)


def test_crowded_scores_keep_exact_ranks():
    probes, gallery, *codes = people(n=15, m=270, seed=2)
    check((probes + 30, gallery + 30, *codes))


def test_sizes_over_many_decades_keep_exact_ranks():
    probes, gallery, *codes = people(n=10, m=270, seed=3)
    size = 10.0 ** np.random.default_rng(3).integers(-30, 30, (len(gallery), 1))
    check((probes * 1e-20, gallery * size, *codes), "inner")


@pytest.mark.parametrize("form", gpu.FORMS)
def test_rows_with_one_huge_feature_keep_exact_ranks(form):
    probes, gallery, *codes = people(n=20, m=270, d=40, seed=13)
    spread = 10.0 ** np.random.default_rng(13).integers(0, 7, 40)
    check((probes * spread, gallery * spread, *codes), form)


def test_probes_that_are_nearly_zero_keep_exact_ranks():
    probes, gallery, *codes = people(n=20, m=140, d=20, seed=14)
    check((probes * 10.0 ** np.repeat([0.0, -25.0, -60.0, -200.0], 5)[:, None], gallery, *codes), "inner")


def test_more_features_than_int32_can_add_up_are_counted_in_float64(monkeypatch):
    monkeypatch.setattr(rounding, "MOST_FEATURES", 69)
    monkeypatch.setattr(counting, "job_of", None)
    check(people(n=20, m=140, seed=15))


def test_float64_alone_gives_the_same():
    check(people(seed=4), "euclidean", kernel="float64")


@pytest.mark.parametrize("crowd", [1, 10**9])
def test_hard_probes_are_counted_in_place_or_in_float64(crowd):
    with changed(gpu_crowd=crowd, gpu_notes_per_probe=0, gpu_hard_tiles=10**9, gpu_notes=10):
        check(people(n=60, m=270, seed=5, noise=4.0))


@pytest.mark.parametrize("options", [{}, {"gallery_rows": 60}, {"kernel": "float64"}])
def test_subjects_can_be_counted_by_their_best_entry(options):
    probes, gallery, probe_codes, gallery_codes = people(n=30, m=150, d=20, subjects=30, seed=9)
    c = gpu.count_better(
        probes, gallery, probe_codes=probe_codes, gallery_codes=gallery_codes, distinct=True, **options
    )
    for i, code in enumerate(probe_codes):
        scores = rounding.exact_scores(probes[i : i + 1].astype(float), gallery.astype(float), "cosine")
        best = np.array([scores[gallery_codes == s].max() for s in np.unique(gallery_codes) if s != code])
        mate = scores[gallery_codes == code].max(initial=-np.inf)
        mate = mate if np.isfinite(mate) else np.inf
        assert (c.above[i], c.tied[i]) == ((best > mate).sum(), (best == mate).sum())
        assert c.best_nonmate[i] == best.max()


ONE_PROCESS = """
import numpy as np
from torch import distributed
from strat.base.errors import StratError
from strat.recognition import gpu

distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
for job in range(jobs):
    given = np.load(f"{folder}/rows{job}.npz")
    mine = given["parts"] == rank
    try:
        c = gpu.count_better(
            given["probes"], given["gallery"][mine], probe_codes=given["probe_codes"],
            gallery_codes=given["gallery_codes"][mine], distinct=bool(given["distinct"]), group=distributed.group.WORLD,
        )
    except StratError as error:
        np.savez(f"{folder}/{job}-{rank}.npz", error=str(error))
    else:
        columns = {"above": c.above, "tied": c.tied, "mate": c.mate, "best": c.best_nonmate}
        np.savez(f"{folder}/{job}-{rank}.npz", **columns)
distributed.destroy_process_group()
"""
JOBS = {
    "rows": (people(n=40, m=160, d=20, seed=11), np.arange(160) % 2, False),
    "subjects": (people(n=40, m=160, d=20, seed=11), people(n=40, m=160, d=20, seed=11)[3] % 2, True),
    "subjects torn apart": (people(n=10, m=40, d=10, subjects=5, seed=12), np.arange(40) % 2, True),
}


@pytest.fixture(scope="module")
def in_two_processes(tmp_path_factory):
    """What each of two processes, this one and another, says of each job, whose galleries they share."""
    folder = tmp_path_factory.mktemp("processes")
    names = ("probes", "gallery", "probe_codes", "gallery_codes")
    for job, (data, parts, distinct) in enumerate(JOBS.values()):
        np.savez(folder / f"rows{job}.npz", parts=parts, distinct=distinct, **dict(zip(names, data, strict=True)))
    given = f"folder, jobs = {str(folder)!r}, {len(JOBS)}\n"
    command = [sys.executable, "-c", f"rank = 1\n{given}{ONE_PROCESS}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as other:
        exec(f"rank = 0\n{given}{ONE_PROCESS}", {})
        errors = other.communicate(timeout=300)[1]
    assert other.returncode == 0, errors
    return {name: [np.load(folder / f"{job}-{rank}.npz") for rank in range(2)] for job, name in enumerate(JOBS)}


@pytest.mark.parametrize("job", ["rows", "subjects"])
def test_a_gallery_in_two_processes_gives_the_counts_of_the_whole(in_two_processes, job):
    data, _, distinct = JOBS[job]
    whole = gpu.count_better(*data[:2], probe_codes=data[2], gallery_codes=data[3], distinct=distinct)
    for c in in_two_processes[job]:
        np.testing.assert_array_equal(c["above"], whole.above)
        np.testing.assert_array_equal(c["tied"], whole.tied)
        np.testing.assert_array_equal(c["mate"], whole.mate)
        np.testing.assert_array_equal(c["best"], whole.best_nonmate)


def test_a_subject_in_two_processes_is_refused_where_subjects_are_counted(in_two_processes):
    sentence = "`gallery` must keep a subject's rows on one process with distinct=True, got subject 0 on 2"
    assert all(sentence in str(c["error"]) for c in in_two_processes["subjects torn apart"])


def test_probes_in_parts_give_the_columns_of_all():
    probes, gallery, probe_codes, gallery_codes = people(n=40, m=160, d=20, seed=11)
    whole = gpu.count_better(probes, gallery, probe_codes=probe_codes, gallery_codes=gallery_codes)
    halves = [
        gpu.count_better(probes[half], gallery, probe_codes=probe_codes[half], gallery_codes=gallery_codes)
        for half in (slice(0, 15), slice(15, 40))
    ]
    for name in ("above", "tied", "mate", "best_nonmate"):
        np.testing.assert_array_equal(np.concatenate([getattr(c, name) for c in halves]), getattr(whole, name))


def test_equal_images_tie_and_the_own_subject_never_counts():
    gallery = np.eye(3)[[0, 0, 0, 1, 0]]
    c = gpu.count_better(np.eye(3)[[0, 1]], gallery, probe_codes=[7, 2], gallery_codes=[7, 7, 1, 2, 3], form="inner")
    assert c.above.tolist() == [0, 0]
    assert c.tied.tolist() == [2, 0]
    assert c.mate.tolist() == [1.0, 1.0]
    assert c.best_nonmate.tolist() == [1.0, 0.0]


def test_ten_features_and_ten_thousand_times_larger_ones_give_one_function_of_rows():
    data = people(n=20, m=40, d=10, seed=6)
    one = gpu.count_better(*data[:2], probe_codes=data[2], gallery_codes=data[3], form="cosine")
    other = gpu.count_better(
        data[0] * np.float32(2.0**13), data[1], probe_codes=data[2], gallery_codes=data[3], form="cosine"
    )
    assert one.mate.tolist() == pytest.approx(other.mate.tolist(), abs=0, nan_ok=True)


@pytest.mark.parametrize(
    ("score", "enrolment"),
    [
        ("cosine", "images"),
        ("euclidean", "mean"),
        ("cosine", "mean"),
        ("inner", "images"),
        ("mahalanobis", "images"),
        ("cosine", "best"),
        ("euclidean", "best"),
    ],
)
def test_device_cuda_answers_as_device_cpu(score, enrolment):
    probes, gallery, probe_codes, gallery_codes = people(n=50, m=130, d=12, subjects=40, seed=7)
    arguments = {"probe_subjects": probe_codes, "gallery_subjects": gallery_codes, "score": score, "open_set": True}
    arguments |= {"enrolment": enrolment, "failed_probes": [3], "failed_gallery": [5, 8]}
    cpu = ranks_of_embeddings(probes, gallery, **arguments)
    cuda = ranks_of_embeddings(probes, gallery, device="cuda", **arguments)
    for name in ("above", "tied", "mate", "best_nonmate", "rows"):
        np.testing.assert_array_equal(getattr(cuda, name), getattr(cpu, name), err_msg=name)
    assert cuda.gallery_size == cpu.gallery_size
    assert cuda.method.startswith("GPU")


def test_a_kernel_that_does_not_compile_gives_way_to_the_portable_one(monkeypatch):
    def changed(*arguments):
        raise TypeError("unexpected keyword")

    monkeypatch.setattr(counting, "choose_kernel", lambda wanted, device: "hopper")
    monkeypatch.setattr(hopper, "launch", changed)
    with pytest.warns(StratWarning, match=r"does not compile the Hopper kernel \(TypeError\); the portable one counts"):
        check(people(n=20, m=40, seed=8))


def test_what_a_gpu_does_not_count_is_said():
    rows, names = np.eye(2), ["a", "b"]
    with pytest.raises(StratError, match=r"`score` must be .* on a GPU, got 'l1'.*device='cpu' computes it"):
        gpu.ranks_of_embeddings(rows, rows, probe_subjects=names, gallery_subjects=names, score="l1")
    with pytest.raises(StratError, match=r"`gallery` must have one row for each of the 2 labels, got .*\(3, 3\)"):
        gpu.ranks_of_embeddings(rows, np.eye(3), probe_subjects=names, gallery_subjects=names, score="inner")


def test_bad_rows_are_refused():
    bad = np.array([[1.0, np.nan]])
    one = np.ones((1, 2))
    codes = {"probe_codes": [0], "gallery_codes": [0]}
    with pytest.raises(StratError, match="`probes` must be finite"):
        gpu.count_better(bad, one, **codes)
    with pytest.raises(StratError, match="`gallery` must not have zero vectors under cosine"):
        gpu.count_better(one, 0 * one, **codes)
    with pytest.raises(StratError, match=r"codes must be whole numbers from 0 to 2\^31 − 1, .* got 3000000000"):
        gpu.count_better(one, one, probe_codes=[3 * 10**9], gallery_codes=[0])
    with pytest.raises(StratError, match="`gallery_rows` must be at least 1, got 0"):
        gpu.count_better(one, one, gallery_rows=0, **codes)
    with pytest.raises(StratError, match="`kernel` must be 'portable' on this GPU, got 'hopper'"):
        gpu.count_better(one, one, kernel="hopper", **codes)


def test_a_machine_without_cuda_is_told_so(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(StratError, match=r"no CUDA GPU was found; device='cpu' gives the same ranks"):
        gpu.count_better(np.eye(2), np.eye(2), probe_codes=[0, 1], gallery_codes=[0, 1])


@pytest.mark.parametrize("package", ["torch", "triton"])
def test_a_machine_without_torch_is_told_so(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(StratError, match=rf"package {package}; pip install \"strateval\[gpu\]\", or keep device='cpu'"):
        gpu.count_better(np.eye(2), np.eye(2), probe_codes=[0, 1], gallery_codes=[0, 1])
