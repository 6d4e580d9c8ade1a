# Everything a developer types. Needs make and Python 3.11, 3.12 or 3.13; the environments make themselves, and again
# only when their pinned file changes.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/sh
# Compiled modules and pytest's rewritten ones are kept whatever the shell says: they make the second run quick.
unexport PYTHONDONTWRITEBYTECODE

# pip keeps its own settings (mirror, certificates), for no file here names a registry; the hashes decide what may come in.
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile
COMPILE := .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)
# In the Lambda runtime already: botocore and what only botocore needs (layers/dependencies/requirements.in says why).
RUNTIME_HAS := $(foreach package,botocore python-dateutil six urllib3,--no-emit-package $(package))
# In layers/dependencies already, which every function has.
DEPENDENCIES_HAVE := $(foreach package,annotated-types pydantic pydantic-core typing-extensions typing-inspection,--no-emit-package $(package))
# SAM builds with the interpreter that the Runtime parameter names, found on PATH.
BUILD_PYTHON = $(shell PYTHON='$(PYTHON)' .ci/find-python)
RUNTIME = $(shell $(BUILD_PYTHON) -c 'import sys; print("python3.%d" % sys.version_info[1])')
SAM := SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=us-east-1 .venv-sam/bin/sam

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

.PHONY: setup
setup: .venv/.package ## Make or refresh .venv

.PHONY: demo
demo: .venv/.package ## The sixty-second proof, the same on real transcripts, forty days of a memory, a week of guards
	@.venv/bin/python -m provenloop.entry.local demo

.PHONY: dev
dev: .venv/.package ## Serve the whole stack on 127.0.0.1
	@.venv/bin/python -m provenloop.entry.local dev

.PHONY: test
test: .venv/.package ## Every test but the packaged ones
	.venv/bin/python -m pytest -n auto --dist worksteal tests --ignore=tests/packaged

.PHONY: parity
parity: .venv/.package ## Replay recorded scenarios of DIR (by default the committed ones)
	@.venv/bin/python -m tests.parity $(if $(DIR),"$(DIR)")

.PHONY: precision
precision: .venv/.package ## Precision and recall on labelled cases, of ANALYZER (by default all)
	@.venv/bin/python -m tests.precision $(ANALYZER)

.PHONY: look-alikes
look-alikes: .venv/.package ## How well the guards tell apart the labelled pairs of PAIRS
	@.venv/bin/python -m provenloop.entry.measure_look_alikes $(PAIRS)

.PHONY: recipes-bench
recipes-bench: .venv/.package ## What the recipe ladder makes of labelled requests, or of the pairs of PAIRS
	@.venv/bin/python -m tests.recipes_bench $(if $(PAIRS),"$(PAIRS)")

.PHONY: reflection
reflection: .venv/.package ## What the model stages make of labelled memories; with MODEL (and GROUND_MODEL), of a real model
	@.venv/bin/python -m tests.reflection $(if $(MODEL),--model "$(MODEL)") $(if $(GROUND_MODEL),--ground "$(GROUND_MODEL)")

.PHONY: signatures
signatures: .venv/.package ## How well error signatures group the labelled lines in the CSV files of DATA
	@.venv/bin/python -m provenloop.entry.measure_signatures $(if $(DATA),"$(DATA)")

.PHONY: bench
bench: .venv/.package ## What a pass costs in memories of up to 100,000 grains (SIZES="0 1000")
	@.venv/bin/python -m tests.bench $(SIZES)

.PHONY: client-forms
client-forms: .venv/.package ## Write the forms of requests and replies anew, as the Python client has them
	@.venv/bin/python -m provenloop.entry.client_forms shared/provenloop/client/forms.py

.PHONY: packaged
packaged: .venv/.package .venv-ministack/.requirements build ## Build, deploy into an emulator with IAM on, test
	.venv/bin/python -m pytest -p no:xdist tests/packaged

.PHONY: check
check: check-python check-template ## Linters, types, import arrows, template

.PHONY: check-python
check-python: .venv/.package
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

.PHONY: check-template
check-template: .venv-sam/.requirements
	.venv-sam/bin/cfn-lint template.yaml
	$(SAM) validate --lint --template template.yaml

.PHONY: build
build: .venv-sam/.requirements ## sam build, without Docker, and without what packages bring for tests and compilers
	PATH="$(dir $(BUILD_PYTHON)):$$PATH" PIP_NO_DEPS=1 $(SAM) build --parameter-overrides Runtime=$(RUNTIME)
	@find .aws-sam/build/*Layer -type d \( -name tests -o -name __pycache__ \) -prune -exec rm -rf {} +
	@find .aws-sam/build/*Layer -type f \( -name '*.a' -o -name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name '*.pyx' \) -delete

.PHONY: lock
lock: .venv-lock/.requirements ## Write the pinned files anew (UPGRADE=1 takes newer versions)
	$(COMPILE) .ci/requirements-pip.in -o .ci/requirements-pip.txt
	$(COMPILE) .ci/requirements-lock.in -o .ci/requirements-lock.txt
	$(COMPILE) .ci/requirements-dev.in -o .ci/requirements-dev.txt
	$(COMPILE) -c .ci/requirements-dev.txt $(RUNTIME_HAS) layers/dependencies/requirements.in -o layers/dependencies/requirements.txt
	$(COMPILE) --no-deps layers/embedder/requirements.in -o layers/embedder/requirements.txt
	$(COMPILE) -c .ci/requirements-dev.txt $(DEPENDENCIES_HAVE) layers/models/requirements.in -o layers/models/requirements.txt
	$(COMPILE) .ci/requirements-sam.in -o .ci/requirements-sam.txt
	$(COMPILE) .ci/requirements-ministack.in -o .ci/requirements-ministack.txt

.PHONY: clean
clean: ## Remove environments, builds and caches
	rm -rf .venv .venv-sam .venv-ministack .venv-lock .aws-sam build dist
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find shared functions tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The editable install names the source folder in one .pth line; the package metadata comes from pyproject.toml.
.venv/.package: .venv/.requirements .venv/.embedder pyproject.toml
	@.venv/bin/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# Without what its packages ask for, as in the layer: only files of theirs are read.
.venv/.embedder: layers/embedder/requirements.txt .venv/.requirements
	@.venv/bin/python $(PIP_INSTALL) --no-deps --require-hashes --requirement $<
	@touch $@

.venv/.requirements: .ci/requirements-dev.txt
.venv-sam/.requirements: .ci/requirements-sam.txt
.venv-ministack/.requirements: .ci/requirements-ministack.txt
.venv-lock/.requirements: .ci/requirements-lock.txt
.venv/.requirements .venv-sam/.requirements .venv-ministack/.requirements .venv-lock/.requirements:
	@python=$$(.ci/find-python) && echo "Making $(@D) with $$python" && "$$python" -m venv $(@D)
	@$(@D)/bin/python $(PIP_INSTALL) --require-hashes --requirement .ci/requirements-pip.txt
	@$(@D)/bin/python $(PIP_INSTALL) --require-hashes --requirement $<
	@$(@D)/bin/python -m compileall -q -j 0 $(@D)/lib >/dev/null || true # on all cores; some files are no Python, only named so
	@touch $@
