# Every task of the project; `make` lists them. Needs Python >= 3.11 and, the first time, the package index.
PYTHON ?= python3
DOXA_DATA ?= ../shared/data

VENV := .venv
BIN := $(VENV)/bin
RUN := $(VENV)/.run
DEV := $(VENV)/.dev
BENCH := packages/doxa-bench
CLIENT := clients/typescript
# Processes that tests start read what the first one compiled, whatever the shell says of bytecode.
BYTECODE := PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(CURDIR)/$(VENV)/.bytecode
PAGES := $(wildcard README.md) $(wildcard docs/*.md) $(wildcard docs/reference/*.md)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help demo test lint fmt types imports docs docs-check typos sbom licences vulnerabilities check client bench audit clean

help: ## list the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: $(RUN) ## replay the example conversation, show what is remembered, ask ten questions
	@$(BIN)/doxa demo

test: $(DEV) $(CLIENT)/node_modules ## run the tests; pass options with ARGS="-k name"
	@echo "test: pytest"
	@$(BYTECODE) $(BIN)/python -m pytest -q -n auto --dist loadfile $(ARGS)

lint: $(DEV) ## ruff: rules and format
	@echo "lint: ruff"
	@$(BIN)/ruff check -q .
	@$(BIN)/ruff format -q --check . || { echo "lint: some files are not formatted; run 'make fmt'" >&2; exit 1; }

fmt: $(DEV) ## format the code and mend what ruff can
	@echo "fmt: ruff"
	@$(BIN)/ruff check -q --fix --exit-zero .
	@$(BIN)/ruff format -q .

types: $(DEV) ## mypy (strict) on the source, mypy and basedpyright on a file of user code
	@echo "types: mypy, basedpyright"
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/mypy --no-error-summary tests/typing/api.py
	@out=$$($(BIN)/basedpyright 2>&1) || { echo "$$out"; exit 1; }

imports: $(DEV) ## the layers of the architecture
	@echo "imports: import-linter, tests/test_architecture.py"
	@out=$$($(BIN)/lint-imports 2>&1) || { echo "$$out"; exit 1; }
	@$(BIN)/python -m pytest -q tests/test_architecture.py

docs: $(DEV) ## rewrite the generated parts of the documentation
	@echo "docs: cog"
	@$(BIN)/cog -r --verbosity=1 -I docs $(PAGES)

docs-check: $(DEV) ## the generated parts are fresh and every example in the documentation runs
	@echo "docs-check: cog, tests/test_docs.py"
	@out=$$($(BIN)/cog --check -I docs $(PAGES) 2>&1) || { echo "$$out"; echo "docs-check: run 'make docs'" >&2; exit 1; }
	@$(BIN)/python -m pytest -q tests/test_docs.py

typos: $(DEV) ## spelling
	@echo "typos: typos"
	@$(BIN)/typos

sbom: $(DEV) ## the bill of materials of what is installed: dist/doxa.cdx.json (CycloneDX)
	@echo "sbom: dist/doxa.cdx.json"
	@mkdir -p dist
	@out=$$($(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --no-validate --of JSON \
		-o dist/doxa.cdx.json $(BIN)/python 2>&1) || { echo "$$out"; exit 1; }

licences: $(DEV) ## what Doxa needs to run may be used with it
	@echo "licences: tests/test_dependencies.py"
	@$(BIN)/python -m pytest -q tests/test_dependencies.py

vulnerabilities: $(DEV) ## known holes in what is installed; asks the network, and says so where it could not (ARGS=--allow-offline)
	@$(BIN)/python deploy/vulnerabilities.py $(ARGS)

check: lint types imports docs-check typos sbom licences ## everything beside the tests: lint, types, imports, docs, spelling, dependencies

client: $(DEV) $(CLIENT)/node_modules ## write the TypeScript client anew from the server's OpenAPI page; needs node
	@echo "client: openapi.json, schema.d.ts"
	@page=$$($(BIN)/python clients/openapi.py) && printf '%s\n' "$$page" > $(CLIENT)/openapi.json
	@cd $(CLIENT) && npm run --silent generate

bench: $(DEV) ## measure retrieval, understanding, times and the parser; the data is in $DOXA_DATA and beside it
	@echo "bench: locomo"
	@$(BIN)/doxa bench locomo --data $(DOXA_DATA)/measure/locomo/locomo_dev6.json --json
	@echo "bench: understanding"
	@$(BIN)/doxa bench understanding --data $(DOXA_DATA)/../gold/understanding/dev.jsonl --json
	@echo "bench: revision"
	@$(BIN)/doxa bench revision --data $(DOXA_DATA)/../gold/revision/dev.jsonl --json
	@echo "bench: tasks"
	@$(BIN)/doxa bench tasks --data $(DOXA_DATA)/../gold/tasks --json
	@$(BIN)/doxa bench tasks --data $(DOXA_DATA)/../gold/tasks --set published --json
	@$(BIN)/doxa bench tasks --set forms --json
	@$(BIN)/doxa bench tasks --data $(DOXA_DATA)/open/sgd --set sgd --json
	@$(BIN)/doxa bench tasks --data $(DOXA_DATA)/open/smcalflow --set smcalflow --json
	@echo "bench: openie (CaRB, WiRe57)"
	@$(BIN)/doxa bench openie --data $(DOXA_DATA)/open/carb --json
	@$(BIN)/doxa bench openie --data $(DOXA_DATA)/measure/wire57 --json
	@echo "bench: dialogre"
	@$(BIN)/doxa bench dialogre --data $(DOXA_DATA)/measure/dialogre/test.json --json
	@echo "bench: times"
	@$(BIN)/python benchmarks/times.py $(DOXA_DATA)/open/recognizers_datetime --json
	@echo "bench: observations"
	@$(BIN)/doxa bench observations --data $(DOXA_DATA)/measure/locomo --json
	@echo "bench: worlds (simulated answers)"
	@$(BIN)/doxa bench worlds --seed 0 --dialogues 120 --json
	@echo "bench: beliefbank"
	@$(BIN)/doxa bench beliefbank --data $(DOXA_DATA)/measure/beliefbank --json
	@echo "bench: parser"
	@$(BIN)/python benchmarks/parser.py --data $(DOXA_DATA)/open/ud/EWT/en_ewt-ud-test.conllu

$(CLIENT)/node_modules: $(CLIENT)/package-lock.json
	@(command -v npm && cd $(CLIENT) && npm ci --silent) >/dev/null || echo "test: no npm, or no registry: the TypeScript client is not tested"

audit: $(DEV) ## what the English in code pays on text that nobody developed on; WHAT=fires, frames, constants or reader
	@$(BIN)/python benchmarks/audit $(or $(WHAT),fires) $(ARGS)

clean: ## remove the environment, builds and caches; memories and run records stay
	@echo "clean: $(VENV), builds, caches"
	@rm -rf $(VENV) $(CLIENT)/node_modules build dist .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find src packages tests docs training benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp newer than pyproject.toml means "installed": nothing is asked of the network then.
# The developer's environment contains the user's, so it renews both.
$(RUN): pyproject.toml $(BENCH)/pyproject.toml | $(BIN)/python
	@echo "setup: installing doxa into $(VENV)"
	@$(BIN)/python -m pip install -qq -e . -e $(BENCH)
	@touch $@

$(DEV): pyproject.toml $(BENCH)/pyproject.toml | $(BIN)/python
	@echo "setup: installing doxa and its development tools into $(VENV)"
	@$(BIN)/python -m pip install -qq -e ".[dev]" -e $(BENCH)
	@touch $(RUN) $@

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found. Install Python 3.11 or newer, or name one: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; v < (3, 11) and sys.exit(f"Doxa needs Python 3.11 or newer, and {sys.executable} is {v[0]}.{v[1]}. Name another one: make PYTHON=python3.12")'
	@echo "setup: making a virtual environment in $(VENV)"
	@rm -rf $(VENV) && $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "The environment could not be made; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
