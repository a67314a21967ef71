# Every target sets itself up: Python 3.11 or later and make are all that a fresh machine needs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready

.PHONY: demo test lint format docs benchmarks validate load fuzz clean

demo: $(STAMP)
	$(BIN)/strat demo

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m "not slow"

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

benchmarks: $(STAMP)
	$(BIN)/python -m benchmarks

validate: $(STAMP)
	$(BIN)/python -m validation
	$(BIN)/python -m pytest -n 2 -m slow

load: $(STAMP)
	$(BIN)/python -m validation.load --minutes 60

fuzz: $(STAMP)
	$(BIN)/python -m pip install --quiet atheris
	$(BIN)/python tests/hostile/fuzz_readers.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/_build

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $(STAMP)
