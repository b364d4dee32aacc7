# `make demo` and `make test` set everything up by themselves; `make help` lists the rest.
PYTHON ?= python3
TORCH := 2.13.0
BIN := .venv/bin

# A stamp is named after what it was made from, and is written last: a set-up that was interrupted,
# another lock, another Python or a moved checkout starts over with an empty .venv.
sum = $(shell { cat $(1); $(PYTHON) --version; pwd; } 2>&1 | cksum | cut -d ' ' -f 1)
PACKAGES := .venv/packages-$(call sum,requirements.lock)
PROJECT := .venv/project-$(call sum,requirements.lock pyproject.toml)
PIP := python -m pip --disable-pip-version-check
QUIET := $(if $(CI),--quiet)

.PHONY: help setup demo test notebooks docs lint format hooks lock clean
.DELETE_ON_ERROR:

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /make \1: /p' Makefile

setup: $(PROJECT) ## create .venv with the locked packages and gymspace itself

demo: $(PROJECT) ## the example grid, cut to 60 epochs, on the embedded graph, and its leaderboard
	$(BIN)/python -m gymspace +experiment=node_grid -m train.epochs=60

test: $(PROJECT) ## the whole test suite; options for pytest in ARGS
	$(BIN)/python -m pytest $(ARGS)

notebooks: $(PROJECT) ## the notebooks, run top to bottom, in build/notebooks
	rm -rf build/notebooks && mkdir -p build && cp -r notebooks build/notebooks
	cd build/notebooks && ../../$(BIN)/python -m jupyter nbconvert --to notebook --execute --inplace *.ipynb

docs: notebooks ## the docs site, in site/; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

lint: $(PROJECT) ## the static checks: ruff (lint and format) and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(PROJECT) ## rewrite the code in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

hooks: $(PROJECT) ## run the static checks before every commit from now on
	$(BIN)/pre-commit install

# Resolved anew from pyproject.toml in an empty environment; the header of the old lock is kept.
lock: ## bring requirements.lock up to date
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && set -e && \
	$(PYTHON) -m venv "$$dir" && \
	"$$dir"/bin/$(PIP) install --quiet --upgrade setuptools torch==$(TORCH) '.[dev]' && \
	{ grep '^#' requirements.lock; \
	  "$$dir"/bin/$(PIP) freeze --all --exclude pip --exclude gymspace \
	  | sed 's/+[a-z0-9.]*$$//' | grep -viE '^(nvidia|cuda|triton)'; } > "$$dir"/lock && \
	cp "$$dir"/lock requirements.lock && git --no-pager diff --stat requirements.lock

clean: ## remove .venv and what tools leave behind; results/ stays
	rm -rf .venv build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PROJECT): $(PACKAGES)
	$(BIN)/$(PIP) install --quiet --no-build-isolation --no-deps --editable .
	rm -f .venv/project-*
	touch $@

# setuptools goes first: it builds the one package that has no wheel, in its locked version.
$(PACKAGES):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo 'gymspace needs Python 3.11 or newer: make PYTHON=python3.12 ...' >&2; exit 1; }
	@echo 'Setting up .venv (the first time only; about 1.5 GB, a few minutes)'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/$(PIP) install $(QUIET) "$$(grep '^setuptools==' requirements.lock)"
	$(BIN)/$(PIP) install $(QUIET) --no-build-isolation --requirement requirements.lock
	touch $@
