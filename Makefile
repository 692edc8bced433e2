# Everything starts here. `make demo` and `make test` need only Python 3.11+, make and a package index.

PYTHON ?= $(shell command -v python3.13 || command -v python3.12 || command -v python3.11 || command -v python3)
ENV := .venv
RUN := $(ENV)/bin/python

.PHONY: demo test check format bench bench-quick clean

demo: $(ENV)/ready  ## Run the refund review: it pauses, asks, and goes on.
	@$(RUN) examples/refund_review.py

test: $(ENV)/ready  ## Run every test, and show the coverage.
	$(RUN) -m pytest -n auto --cov --cov-report=term

check: $(ENV)/ready  ## What CI runs: format, lint, types, tests.
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(RUN) -m mypy
	$(RUN) -m pytest -n auto --cov --cov-report=term

format: $(ENV)/ready  ## Put the code in order.
	$(RUN) -m ruff format .
	$(RUN) -m ruff check --fix .

bench: $(ENV)/ready  ## Compare with LangGraph, in one run.
	$(RUN) -m bench

bench-quick: $(ENV)/ready
	$(RUN) -m bench --quick

$(ENV)/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("signoff needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ...") if sys.version_info < (3, 11) else None'
	@echo "Making the environment in $(ENV) ..."
	@$(PYTHON) -m venv $(ENV)
	@$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

clean:
	rm -rf $(ENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
