# Every target sets itself up: Python 3.11 or later and make are all that a fresh machine needs.
#   make check                lint and tests that need no browser, Java or root: alike on Linux, macOS and Windows
#   make test                 with the versions of constraints.txt
#   make test LOCK=           with the latest versions instead
#   make test-lowest          with the lowest versions that pyproject.toml declares, in .venv-lowest
WINDOWS := $(filter Windows_NT,$(OS))
PYTHON ?= $(if $(WINDOWS),python,python3)
VENV   ?= .venv
LOCK   ?= constraints.txt
BIN    := $(VENV)/$(if $(WINDOWS),Scripts,bin)
SMALL  := $(VENV)/.small
STAMP  := $(VENV)/.ready
PIP    := $(BIN)/python -m pip install --quiet $(if $(LOCK),--constraint $(LOCK))
UV     := build/uv/bin/uv
EXTRAS := learn,plot,report,logs,excel,spark,dask,speech,translation,detection
COMMA  := ,

.PHONY: demo check test test-lowest test-spark gpu-interpreter survey-data coverage record lint format lock docs dist test-dist sizes benchmarks speed validate mutate load fuzz clean

demo: $(SMALL)
	$(BIN)/strat demo

check: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not browser"

# The tests of a file run in one process, so that what they share is made once. Each process keeps to one core, and
# modules are compiled once for all of them, whatever the environment says.
test check coverage validate mutate: export OMP_NUM_THREADS := 1
test check coverage validate mutate: export OPENBLAS_NUM_THREADS := 1
test check coverage validate mutate: export PYTHONDONTWRITEBYTECODE :=

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

test-lowest: build/lowest.txt
	PYTEST_ADDOPTS="-W ignore::DeprecationWarning -W ignore::FutureWarning" \
	  $(MAKE) test VENV=.venv-lowest LOCK=build/lowest.txt

test-spark: $(STAMP)
	$(BIN)/python -m pytest -q -m slow tests/data/test_spark.py

# The GPU kernels are checked in Triton's interpreter; the CPU build of PyTorch serves.
gpu-interpreter: $(STAMP)
	$(PIP) "torch==2.13.0" triton

# The api data of R's survey package, from Debian's archive: 2.8 MB, without R. Its licence keeps it out of this project.
survey-data: build/survey/apistrat.csv

build/survey/apistrat.csv: tests/oracles/api.py | $(STAMP)
	mkdir -p build/survey
	cd build/survey && apt-get download -qq r-cran-survey && dpkg-deb -x r-cran-survey_*.deb package
	$(PIP) rdata==1.1.0
	$(BIN)/python tests/oracles/api.py build/survey/package/usr/lib/R/site-library/survey/data/api.rda build/survey

coverage: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow" --cov

# What the library says, call by call: renews tests/record/record.json and prints what changed.
record: $(STAMP)
	$(BIN)/python tests/record/record.py --write

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# No addresses and no hashes: the versions alone, for every Python that is supported.
lock: $(UV)
	$(UV) pip compile pyproject.toml $(subst $(COMMA), --extra ,--extra $(EXTRAS)) --group dev --upgrade --universal \
	  --python-version 3.11 --no-emit-index-url --no-header --no-annotate --quiet --output-file constraints.txt

# Wheels only: where the lowest version has none for this Python, the next one that has. PySpark never has one.
build/lowest.txt: pyproject.toml | $(UV)
	$(UV) pip compile pyproject.toml $(subst $(COMMA), --extra ,--extra $(subst spark$(COMMA),,$(EXTRAS))) --resolution lowest-direct \
	  --python $(PYTHON) --only-binary :all: --no-header --no-annotate --quiet --output-file $@

docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

dist: $(SMALL)
	$(PIP) build twine
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*

# The wheel and the source archive, each installed alone and made to do the main job.
test-dist: dist
	$(BIN)/python tests/project/try_archives.py dist/*.whl dist/*.tar.gz

# What the base and each extra weigh, for docs/install.md.
sizes: $(UV)
	$(PYTHON) tests/project/weigh.py $(UV)

benchmarks: $(STAMP)
	$(BIN)/python -m benchmarks

# This tree beside the first edition; fails where a job is much slower than the stored ratio.
speed: $(STAMP)
	$(BIN)/python -m benchmarks.speed

validate: $(STAMP)
	$(BIN)/python -m validation
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "slow or hypothesis" --hypothesis-profile thorough

# How much the tests notice: changes of single places; fails where one that was noticed no longer is.
mutate: $(STAMP)
	$(BIN)/python tests/project/mutate.py

load: $(STAMP)
	$(BIN)/python -m validation.load --minutes 60

fuzz: $(STAMP)
	$(PIP) atheris
	$(BIN)/python tests/data/fuzz_readers.py

clean:
	rm -rf .venv .venv-lowest build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/_build

# What the demo needs, and no more.
$(SMALL): pyproject.toml $(LOCK)
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable ".[report]"
	touch $(SMALL)

$(STAMP): $(SMALL)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(PIP) --editable ".[$(EXTRAS)]" --group dev
	touch $(STAMP)

$(UV):
	$(PYTHON) -m venv build/uv
	build/uv/bin/python -m pip install --quiet uv
