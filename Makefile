# Two commands do everything on a fresh machine: `make run` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
JOBS ?= auto

.DEFAULT_GOAL := help
.PHONY: help run test test-oldest lint unit photos studio bench soak clean

help:  ## Show the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: $(VENV)/.ready  ## Start the table and its pages (virtual table when there is no camera); ARGS="--demo" plays by itself
	@$(BIN)/tafelmaat run $(ARGS)

test: lint unit  ## Everything that must hold: style, types, import contracts, all tests

lint: $(VENV)/.ready-dev
	@echo "== style, types and import contracts"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

unit: $(VENV)/.ready-dev
	@echo "== tests"
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

test-oldest: $(VENV)-oldest/.ready  ## The vision with the oldest OpenCV and numpy that we allow
	@$(VENV)-oldest/bin/python -m pytest -n $(JOBS) --dist worksteal tests/vision tests/firmware tests/games $(ARGS)

bench: $(VENV)/.ready-dev  ## Speed, as ratios measured in one run
	@$(BIN)/python tests/bench.py

photos: $(VENV)/.ready  ## How well the photographs beside the project are read; ARGS="--json"
	@$(BIN)/python -m vision.evaluate ../shared/photos/* $(ARGS)

studio: $(VENV)/.ready-studio  ## Ray-traced pictures with their truth, in out/studio; makes what is missing
	@$(BIN)/python -m vision.studio dice-train dice $(dir $(wildcard rules/games/*/table.toml))
	@$(BIN)/python -m vision.studio tests/toys/shapes --prints --photos 10

soak: $(VENV)/.ready-dev  ## The demo players for an hour, watching memory and open files
	@$(BIN)/python tests/soak.py $(ARGS)

clean:  ## Remove what the other commands have made
	rm -rf $(VENV) $(VENV)-oldest .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis out

# The runtime alone is enough to play; the tools for testing come on top of it.
$(VENV)/.ready: pyproject.toml
	@echo "== setting up Python packages (once)"
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || { echo "Installing python3-venv"; $(SUDO) apt-get install -y -qq python3-venv; $(PYTHON) -m venv $(VENV); }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar on --editable .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	@echo "== setting up the tools for testing (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar on --editable '.[dev]'
	@command -v chromium >/dev/null || { echo "== installing Debian's Chromium for the browser tests"; $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; }
	@touch $@

# Without LLVM 19 the pictures are the same but take ten times as long.
$(VENV)/.ready-studio: $(VENV)/.ready
	@echo "== setting up the ray tracer (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar on --editable '.[studio]'
	@ls /usr/lib/*/libLLVM.so.19* >/dev/null 2>&1 || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends libllvm19; } || echo "libllvm19 cannot be installed: rendering will be slow"
	@touch $@

$(VENV)-oldest/.ready: pyproject.toml tests/oldest.txt
	@$(PYTHON) -m venv $(VENV)-oldest
	@$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint tests/oldest.txt --editable '.[dev]'
	@touch $@

SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
