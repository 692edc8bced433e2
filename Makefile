# Everything starts here. `make demo` and `make test` need only Python 3.11+, make and a package index.

# The first Python that is new enough and starts.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
ENV := .venv
RUN := $(ENV)/bin/python

# Many tests start processes: each would translate the whole project again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test types coverage check format bench bench-quick bench-page gate clean

demo: $(ENV)/ready  ## See a run pause, answer it, see it go on.
	@$(RUN) -m signoff demo

# The files of tests are kept in memory where there is room for them: they are many, and each is opened again and again.
IN_MEMORY := $(shell free=$$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $$4 }'); \
	test -w /dev/shm && test "$${free:-0}" -gt 4000000 && echo TMPDIR=/dev/shm)
PYTEST := $(IN_MEMORY) $(RUN) -m pytest -n auto --dist worksteal

test: $(ENV)/ready  ## Run every test.
	$(PYTEST)

# Without the simulated world, which runs programs tens of thousands of times, and the comparisons, which run everything
# twice: to be watched slows them down most.
coverage: $(ENV)/ready  ## Show which lines the tests run.
	$(PYTEST) --ignore=tests/testing --ignore=tests/parity --cov --cov-report=term

types: $(ENV)/ready  ## Check the types.
	$(RUN) -m mypy

# Types beside the tests: alone they would keep one core busy, and the others idle.
check: $(ENV)/ready  ## What CI runs: format, lint, types, tests.
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(MAKE) --jobs=2 types test

format: $(ENV)/ready  ## Put the code in order.
	$(RUN) -m ruff format .
	$(RUN) -m ruff check --fix .

bench: $(ENV)/ready  ## Compare with LangGraph in one run of some ten minutes, and write docs/performance.md.
	$(RUN) -m bench --json bench/results.json --page docs/performance.md

bench-quick: $(ENV)/ready  ## Most rows that have a budget, in a minute.
	$(RUN) -m bench --quick

bench-page: $(ENV)/ready  ## Write docs/performance.md again, from the last run.
	$(RUN) -m bench --from bench/results.json --page docs/performance.md

gate: $(ENV)/ready  ## The counts that must not grow; `make check` has them among its tests.
	$(RUN) -m bench.gate

$(ENV)/ready: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "signoff needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	@echo "Making the environment in $(ENV) ..."
	@$(PYTHON) -m venv $(ENV)
	@$(RUN) -m pip install --quiet --no-compile --disable-pip-version-check --upgrade pip  # an old one takes twice as long
	@$(RUN) -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

clean:
	rm -rf $(ENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
