# Two commands do everything: `make rehearse` and `make test`. They need Python 3.11 or newer with venv, git and make.
#
# Each half is installed into a virtual environment of its own, from its own pinned file, as on its own machine.

PYTHON ?= python3
VENVS  := .venvs
TOOLS  := .tools/test
NODE   := .tools/node
LEFT   := $(CURDIR)/.tools/left-out
YES    ?=
# Of each part of the tests so many at a time, each file in one worker. 0: one after the other, to look for a fault.
WORKERS ?= 2
MODEL  ?= flex
CHANNEL ?= file

KIT_OUT     ?= dist
KIT_PYTHON  ?= 3.11
KIT_MACHINE ?= x86_64

# Where Python may not keep what it compiled, each of the thousands of commands that the tests start compiles all of it again.
unexport PYTHONDONTWRITEBYTECODE

SIDE_BY_SIDE = -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# One pip installs into all environments: $(PIP) ENVIRONMENT $(PINNED) FILE.
PIP     := $(VENVS)/pip/bin/python -m pip --quiet --disable-pip-version-check --no-input --python
PINNED  := install --require-hashes --no-deps --only-binary :all: -r
MEMBERS := install --no-deps --no-build-isolation --no-index

.DEFAULT_GOAL := help
.PHONY: help environments rehearse quick test test-offline test-online test-together test-installed test-newer check lint lock bench bench-qr docs vectors mutate differential clean \
        speculos offline-kit online-bundle left-out

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

rehearse: $(VENVS)/online/.done $(VENVS)/offline/.done ## Rehearse a day in two terminals (CEREMONY=..., CHANNEL=qr: by QR codes); YES=1: six ceremonies, unattended
	@$(VENVS)/online/bin/airlock-online rehearse --model $(MODEL) --channel $(CHANNEL) $(if $(YES),--yes) $(CEREMONY:%=--ceremony %) \
		--offline-command $(VENVS)/offline/bin/airlock-offline

.PHONY: rehearse-unattended
rehearse-unattended:
	@echo "== a rehearsal, unattended, by QR codes"
	@mkdir -p .tools && $(MAKE) --no-print-directory rehearse YES=1 CHANNEL=qr > .tools/rehearsal.log 2>&1 || { cat .tools/rehearsal.log; exit 1; }
	@tail -n 24 .tools/rehearsal.log

# The pure tests: no process, picture, page or service.
PURE := tests/shared --ignore=tests/shared/qr --ignore=tests/shared/report --ignore=tests/shared/ur/test_peers.py \
        --ignore=tests/shared/ur/test_hostile.py
LOADING := $(addprefix tests/workspace/,test_house.py test_configuration.py test_nothing_was_taken_away.py)

# Of them, those that draw random data take half of the time: not for the daily loop, and not again on a newer Python.
RANDOM := tests/shared/test_nothing_escapes.py tests/shared/test_altered_transactions.py tests/shared/test_properties.py

quick: ## Lint and the pure tests but those of random data and of the recipes, for the daily loop (less than 60 seconds)
	@$(MAKE) --no-print-directory -j2 --output-sync=target lint test-pure

.PHONY: test-pure
test-pure: $(VENVS)/dev/.done $(VENVS)/offline/.done
	@$(VENVS)/dev/bin/python -m pytest -q -n 2 $(PURE) tests/workspace $(RANDOM:%=--ignore=%) --ignore=tests/workspace/test_recipes.py

# Where tests of one part wait, those of another go on. First the part of one worker, so that no core waits for it at the end.
PARTS := test-installed test-together test-online test-offline
test: ## Run all tests, two parts of them at a time; what a part said is shown at its end
	@$(MAKE) --no-print-directory -j2 --output-sync=target $(PARTS)

test-offline: $(VENVS)/offline/.done $(TOOLS)/.done
	@echo "== the offline half alone, in its own environment$$(sh tests/unshared.sh --note)"
	@AIRLOCK_LEFT_OUT=$(LEFT)/offline PYTHONPATH=$(TOOLS) sh tests/unshared.sh $(VENVS)/offline/bin/python -m pytest -q $(SIDE_BY_SIDE) tests/shared tests/offline

test-online: $(VENVS)/dev/.done $(VENVS)/offline/.done $(NODE)/.done $(VENVS)/erc7730/.done
	@echo "== the online half, the rehearsal services, and the workspace itself"
	@AIRLOCK_LEFT_OUT=$(LEFT)/online $(VENVS)/dev/bin/python -m pytest -q $(SIDE_BY_SIDE) tests/online tests/campaign tests/erc7730 tests/workspace

test-together: $(VENVS)/dev/.done $(VENVS)/online/.done $(VENVS)/offline/.done
	@echo "== both halves together, each in its own environment, and pages in a browser"
	@AIRLOCK_LEFT_OUT=$(LEFT)/together AIRLOCK_OFFLINE_COMMAND=$(CURDIR)/$(VENVS)/offline/bin/airlock-offline \
		AIRLOCK_ONLINE_COMMAND=$(CURDIR)/$(VENVS)/online/bin/airlock-online \
		$(VENVS)/dev/bin/python -m pytest -q $(SIDE_BY_SIDE) tests/e2e tests/browser

test-installed: $(VENVS)/dev/.done $(VENVS)/offline/.done $(VENVS)/kit/.done $(VENVS)/erc7730/.done
	@echo "== installed from a kit and a bundle"
	@AIRLOCK_LEFT_OUT=$(LEFT)/installed AIRLOCK_OFFLINE_COMMAND=$(CURDIR)/$(VENVS)/offline/bin/airlock-offline \
		$(VENVS)/dev/bin/python -m pytest -q tests/kit

# In CI alone: the newest Python that is here, in an environment of its own, from the same pins.
# Of the tests of the tree itself those that load the whole product: the others read the same files whatever Python runs them.
test-newer: $(VENVS)/dev/.done $(VENVS)/offline/.done
	@sh .ci/newer-pythons "$(VENVS)" "$(LEFT)" '$(PIP)' '$(PINNED)' '$(MEMBERS)' $(PURE) $(LOADING) $(RANDOM:%=--ignore=%)

# The tests that try a part of their cases with every run (tests/draws.py). AIRLOCK_ALTERED_SEED gives another draw.
.PHONY: test-signing
test-signing: $(VENVS)/dev/.done $(NODE)/.done $(VENVS)/online/.done $(VENVS)/offline/.done ## The random tests at full size: 1,000 interleavings, each place of a kill, 6,000 altered requests; 500 steps
	@AIRLOCK_OFFLINE_COMMAND=$(CURDIR)/$(VENVS)/offline/bin/airlock-offline AIRLOCK_ONLINE_COMMAND=$(CURDIR)/$(VENVS)/online/bin/airlock-online \
		AIRLOCK_DRAWS=all $(VENVS)/dev/bin/python -m pytest -q $(SIDE_BY_SIDE) $$(grep -rlE '^from draws import' tests --include='test_*.py')

# CAMPAIGN="--seed 7 --kills 50 --started 5 ..." plays another one, or a part of it.
.PHONY: campaign
campaign: $(VENVS)/dev/.done ## 500 kills, 40 Ctrl-C, 300 broken answers, lost COMMITs, full disks: each order is sent once and told true
	@PYTHONPATH=tests $(VENVS)/dev/bin/python -m campaign.run --write $(CAMPAIGN)

left-out: ## Say which tests were left out on this machine when they last ran, and why
	@sh .ci/left-out "$(LEFT)"

lint: $(VENVS)/dev/.done $(VENVS)/kit/.done ## Run ruff, mypy and import-linter
	@$(VENVS)/dev/bin/ruff check --quiet .
	@$(VENVS)/dev/bin/ruff format --quiet --check .
	@$(VENVS)/dev/bin/mypy
	@MYPYPATH=offline/kit:shared/packing:shared/src:offline/src $(VENVS)/dev/bin/mypy \
		--python-executable $(VENVS)/kit/bin/python offline/kit/build.py offline/kit/program/packages.py
	@MYPYPATH=online/bundle:shared/packing:shared/src $(VENVS)/dev/bin/mypy \
		--python-executable $(VENVS)/kit/bin/python online/bundle/build.py
	@$(VENVS)/dev/bin/lint-imports

mutate: $(VENVS)/dev/.done ## Take one defence out at a time, and see that a test notices (SEED=...: a fortieth of them)
	@$(VENVS)/dev/bin/python tests/mutation/run.py $(if $(SEED),--drawn-by "$(SEED)")

differential: $(VENVS)/dev/.done ## Hold this state and an older one side by side over 5,000 alterations: what differs that nobody meant? (DIFFERENTIAL="--before COMMIT")
	@$(VENVS)/dev/bin/python tests/differential/run.py $(DIFFERENTIAL)

check: lint test test-newer ## Run everything that CI runs

bench: $(VENVS)/dev/.done ## Measure, and write docs/reference/benchmarks.md
	@PYTHONPATH=tests $(VENVS)/dev/bin/python -m bench.bench_verify
	@PYTHONPATH=tests $(VENVS)/dev/bin/python -m bench.bench_many_orders

bench-qr: $(VENVS)/dev/.done ## Measure transfers by QR code on degraded pictures, and write docs/reference/benchmarks.md
	@PYTHONPATH=tests $(VENVS)/dev/bin/python tests/bench/bench_qr.py

docs: $(VENVS)/dev/.done $(VENVS)/offline/.done ## Write the documentation tables that come from code
	@PYTHONPATH=tests $(VENVS)/dev/bin/python tests/workspace/tables.py

CONTRACTS := online/rehearsal/src/airlock_rehearsal/contracts

vectors: $(VENVS)/dev/.done $(NODE)/.done ## Write the good test vectors and the rehearsal's contracts anew: after a change of a struct
	@test ! -d $(NODE)/node_modules/solc || { mkdir -p .tools && NODE_PATH=$(CURDIR)/$(NODE)/node_modules \
		node tests/node/compile.mjs $(CONTRACTS) > .tools/contracts.json && cp .tools/contracts.json $(CONTRACTS)/; }
	@for name in deployments payloads transactions; do PYTHONPATH=tests $(VENVS)/dev/bin/python tests/shared/make_$$name.py || exit 1; done

.PHONY: qemu
qemu:
	@sh tests/speculos/qemu.sh

speculos: qemu $(VENVS)/dev/.done $(VENVS)/offline/.done $(VENVS)/speculos/.done ## The suite and a rehearsal on the real app (ELF="one or several"; without: the public one)
	@elfs="$(ELF)"; [ -n "$$elfs" ] || { echo "== fetching the public app"; \
		elfs=$$($(VENVS)/dev/bin/python tests/speculos/fetch_app.py .tools/speculos $(APP_REPOSITORY)) || exit 2; }; \
	for elf in $$elfs; do \
		test -f "$$elf" || { echo "There is no ELF of the Ethereum app at $$elf (docs/reference/ledger.md)" >&2; exit 2; }; \
		echo "== $$elf"; \
		AIRLOCK_ETH_ELF=$$(realpath "$$elf") $(VENVS)/dev/bin/python -m pytest -q tests/speculos || exit; \
		$(VENVS)/dev/bin/python tests/speculos/rehearse.py "$$elf" rehearsals/speculos-$$(date -u +%Y%m%d-%H%M%S) || exit; \
	done

offline-kit: $(VENVS)/kit/.done ## Build what is carried to the signing machine (docs/reference/kit.md)
	@PYTHONPATH=shared/packing $(VENVS)/kit/bin/python offline/kit/build.py $(KIT_OUT) $(KIT_PYTHON) $(KIT_MACHINE)

online-bundle: $(VENVS)/kit/.done ## Build what the online half is installed from (docs/reference/kit.md)
	@PYTHONPATH=shared/packing $(VENVS)/kit/bin/python online/bundle/build.py $(KIT_OUT) $(KIT_PYTHON) $(KIT_MACHINE)

lock: $(VENVS)/dev/.done ## Maintainers: renew the pinned requirements files
	@sh .ci/lock $(VENVS)/dev/bin/uv

clean: ## Remove what was installed and measured here; artefacts of rehearsals stay
	rm -rf $(VENVS) .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

environments: $(VENVS)/dev/.done $(VENVS)/online/.done $(VENVS)/offline/.done $(TOOLS)/.done $(NODE)/.done $(VENVS)/erc7730/.done $(VENVS)/kit/.done

# ---- environments -------------------------------------------------------------------------------------------------

.venvs/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "Airlock needs Python 3.11 or newer; found: $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 ..." >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
		{ echo "Python's venv is missing. On Debian: apt-get install python3-venv" >&2; exit 2; }
	@mkdir -p $(VENVS) && touch $@

$(VENVS)/pip/.done: .venvs/.python
	@$(PYTHON) -m venv --clear $(VENVS)/pip
	@touch $@

$(VENVS)/online/.done: online/rehearsal/requirements.txt shared/pyproject.toml online/pyproject.toml online/rehearsal/pyproject.toml | $(VENVS)/pip/.done
	@echo "Setting up the online half ..."
	@$(PYTHON) -m venv --without-pip --clear $(VENVS)/online
	@$(PIP) $(VENVS)/online $(PINNED) online/rehearsal/requirements.txt
	@$(PIP) $(VENVS)/online $(MEMBERS) -e shared -e online -e online/rehearsal
	@touch $@

$(VENVS)/offline/.done: offline/requirements.txt shared/pyproject.toml offline/pyproject.toml offline/rehearsal/pyproject.toml | $(VENVS)/pip/.done
	@echo "Setting up the offline half ..."
	@$(PYTHON) -m venv --without-pip --clear $(VENVS)/offline
	@$(PIP) $(VENVS)/offline $(PINNED) offline/requirements.txt
	@$(PIP) $(VENVS)/offline $(MEMBERS) -e shared -e offline -e offline/rehearsal
	@touch $@

$(VENVS)/dev/.done: requirements.txt shared/pyproject.toml online/pyproject.toml online/rehearsal/pyproject.toml offline/pyproject.toml offline/rehearsal/pyproject.toml | $(VENVS)/pip/.done
	@echo "Setting up the development environment ..."
	@$(PYTHON) -m venv --without-pip --clear $(VENVS)/dev
	@$(PIP) $(VENVS)/dev $(PINNED) requirements.txt
	@$(PIP) $(VENVS)/dev $(MEMBERS) -e shared -e online -e online/rehearsal -e offline -e offline/rehearsal
	@touch $@

# What builds the kit and the bundle: it reads wheels and writes the bill of materials. Never on a signing machine.
$(VENVS)/kit/.done: shared/packing/requirements.txt shared/pyproject.toml offline/pyproject.toml | $(VENVS)/pip/.done
	@echo "Setting up the kit's workshop ..."
	@$(PYTHON) -m venv --without-pip --clear $(VENVS)/kit
	@$(PIP) $(VENVS)/kit $(PINNED) shared/packing/requirements.txt
	@$(PIP) $(VENVS)/kit $(MEMBERS) -e shared -e offline
	@touch $@

# The emulator of Ledger's devices; it also needs qemu. Never on a signing machine.
$(VENVS)/speculos/.done: tests/speculos/requirements.txt | $(VENVS)/pip/.done
	@echo "Setting up Speculos ..."
	@$(PYTHON) -m venv --without-pip --clear $(VENVS)/speculos
	@$(PIP) $(VENVS)/speculos $(PINNED) tests/speculos/requirements.txt
	@touch $@

# The linter of the ERC-7730 registry, which runs on Python 3.12 alone. Without one its tests say so and are left out.
$(VENVS)/erc7730/.done: tests/erc7730/requirements.txt | $(VENVS)/pip/.done
	@for python in $(PYTHON) python3.12 $$HOME/.pyenv/versions/3.12.*/bin/python3.12; do \
		"$$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 12))' 2>/dev/null || continue; \
		echo "Setting up the linter of clear-signing descriptors ..."; \
		"$$python" -m venv --without-pip --clear $(VENVS)/erc7730 && \
		$(PIP) $(VENVS)/erc7730 $(PINNED) tests/erc7730/requirements.txt && touch $@; exit; \
	done; echo "Python 3.12 is not here: the linter of clear-signing descriptors is left out"

# The test tools stand beside the offline environment, not in it: it stays exactly its closure.
$(TOOLS)/.done: tests/requirements.txt $(VENVS)/offline/.done
	@rm -rf $(TOOLS) && mkdir -p $(TOOLS)
	@$(PIP) $(VENVS)/offline $(PINNED) tests/requirements.txt --target $(TOOLS)
	@touch $@

# Independent implementations to compare with, from the npm registry, pinned by hash. Without Node their tests say so.
$(NODE)/.done: tests/node/package.json tests/node/pinned.json
	@mkdir -p $(NODE)
	@if command -v npm >/dev/null; then \
		cp tests/node/package.json $(NODE)/ && cp tests/node/pinned.json $(NODE)/package-lock.json && \
		(cd $(NODE) && npm ci --silent --no-audit --no-fund --ignore-scripts); \
	else echo "Node is not here: the comparisons with independent implementations are left out"; fi
	@touch $@
