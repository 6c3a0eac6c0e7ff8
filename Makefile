# make demo: set everything up; train, prove and run.   make test: set everything up, lint, type-check, run all tests.
# make docs: the site, into docs/_build/html.   make gallery: pages with networks in them, into gallery/.
# make bench: speed, as ratios measured in one run.   make figures: every figure of the paper and ours, into figures/.
# make proofs: Rocq (Coq) proves what the networks in proofs/networks compute, and coqchk checks the proofs.
# make report: what is proved and observed beyond the paper, as a PDF; needs a TeX installation.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests run in this many processes; more than there are cores make it slower.
PROCESSES ?= 2
# Every child process would compile its sources again without bytecode; it is kept inside the environment.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/bytecode

.PHONY: demo test tested test-long compiled fuzz mutation mutation-report bench bench-peers figures gallery report tex coq docs proofs wheel try-wheel lint browser clean

demo: $(VENV)/ready
	@echo; echo '$$ bitwright add 719 483';              $(BIN)/bitwright add 719 483
	@echo; echo '$$ bitwright run permutation p=0b10110 --order 3,1,2,5,4'; $(BIN)/bitwright run permutation p=0b10110 --order 3,1,2,5,4
	@echo; echo '$$ bitwright certify multiplication --bits 10'; $(BIN)/bitwright certify multiplication --bits 10
	@echo; echo '$$ bitwright train multiplication -o $(VENV)/mul.safetensors'; \
	  $(BIN)/bitwright train multiplication -o $(VENV)/mul.safetensors
	@echo; echo '$$ bitwright certify multiplication --bits 64 --network $(VENV)/mul.safetensors'; \
	  $(BIN)/bitwright certify multiplication --bits 64 --network $(VENV)/mul.safetensors
	@echo; echo '$$ bitwright multiply 123456789012345678901234567890 987654321098765432109876543210 --engine network --network $(VENV)/mul.safetensors'; \
	  $(BIN)/bitwright multiply 123456789012345678901234567890 987654321098765432109876543210 --engine network \
	  --network $(VENV)/mul.safetensors
	@echo; echo '$$ bitwright train multiplication --tile all --bits 4 --width 4096 -o $(VENV)/net.safetensors'; \
	  $(BIN)/bitwright train multiplication --tile all --bits 4 --width 4096 -o $(VENV)/net.safetensors >/dev/null
	@echo; echo '$$ bitwright certify multiplication --network $(VENV)/net.safetensors --domain runs'; \
	  $(BIN)/bitwright certify multiplication --network $(VENV)/net.safetensors --domain runs
	@echo; echo '$$ bitwright multiply 13 11 --engine network --network $(VENV)/net.safetensors'; \
	  $(BIN)/bitwright multiply 13 11 --engine network --network $(VENV)/net.safetensors
	@echo; echo '$$ bitwright certify examples/transformers/adder.task --network examples/transformers/adder.safetensors'; \
	  $(BIN)/bitwright certify examples/transformers/adder.task --network examples/transformers/adder.safetensors
	@echo; echo '$$ python examples/transformers/change_weight.py examples/transformers/adder.safetensors $(VENV)/changed.safetensors'; \
	  $(BIN)/python examples/transformers/change_weight.py examples/transformers/adder.safetensors $(VENV)/changed.safetensors
	@echo; echo '$$ bitwright certify examples/transformers/adder.task --network $(VENV)/changed.safetensors'; \
	  ! $(BIN)/bitwright certify examples/transformers/adder.task --network $(VENV)/changed.safetensors
	@echo; echo '$$ bitwright run examples/comparison.bw a=719 b=483'; $(BIN)/bitwright run examples/comparison.bw a=719 b=483
	@echo; echo '$$ bitwright run examples/graphs/bfs.bw --graph grid:2x3 source=0.0 --engine network'; \
	  $(BIN)/bitwright run examples/graphs/bfs.bw --graph grid:2x3 source=0.0 --engine network
	@echo; echo '$$ bitwright run examples/sbn/gcd.sbn a=12 b=18'; \
	  $(BIN)/bitwright run examples/sbn/gcd.sbn a=12 b=18
	@echo; echo '$$ bitwright trace examples/rule110.bw row=1 --only centre'; $(BIN)/bitwright trace examples/rule110.bw row=1 --only centre

# The linters run beside the tests: mypy takes half a minute of one core.
test: $(VENV)/ready-dev
	@$(MAKE) --no-print-directory -j 2 lint tested

tested: $(VENV)/ready-dev compiled
	$(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder

# All seeds and sizes; `make test` tries the first of them.
test-long: $(VENV)/ready-dev compiled
	BITWRIGHT_LONG_TESTS=1 $(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder

# Fuzzing for ten minutes; and small mistakes, to see which of them the tests notice.
fuzz: $(VENV)/ready-dev
	$(BIN)/python -m tests.fuzz --minutes 10 --seed 1

# In a clone, since cosmic-ray edits the sources. It takes mutants in random order, so what is done by the time one stops it
# is a sample; the same command goes on from there, and `make mutation-report` says what the tests noticed.
MUTATED := $(VENV)/mutation
mutation: $(VENV)/ready-dev
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[mutation]'
	test -d $(MUTATED) || git clone --quiet . $(MUTATED)
	cd $(MUTATED) && export PATH="$(CURDIR)/$(BIN):$$PATH" PYTHONPATH="$(CURDIR)/$(MUTATED)/src" PYTHONDONTWRITEBYTECODE=1 && \
	  { test -f mutation.sqlite || cosmic-ray init mutation.toml mutation.sqlite; } && cosmic-ray exec mutation.toml mutation.sqlite

mutation-report:
	$(BIN)/cr-report $(MUTATED)/mutation.sqlite --show-diff --surviving-only

compiled: $(VENV)/ready-dev
	$(BIN)/python -m tests.compiled

lint: $(VENV)/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# For the tests of pages; without it they are skipped. Needs Debian and root.
browser:
	@command -v chromium-headless-shell chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium-headless-shell >/dev/null; }

bench: $(VENV)/ready-dev
	$(BIN)/python -m benchmarks

figures: $(VENV)/ready-plot
	$(BIN)/python -m paper all -o figures --workers all

# Three passes: labels and floats settle. What TeX has to say is in paper/report/build/report.log.
report: tex $(VENV)/ready-plot
	$(BIN)/python -m paper.report.numbers_tex
	$(BIN)/python -m paper.report.figures
	cd paper/report && for pass in 1 2 3; do \
	  pdflatex -interaction=batchmode -halt-on-error -output-directory=build report.tex >/dev/null || exit 1; done
	@echo paper/report/build/report.pdf

proofs: coq $(VENV)/ready
	$(BIN)/python proofs/build.py
	$(MAKE) -C proofs/build check

coq:
	$(if $(shell command -v coqc),@:,$(error the proofs need Coq 8.16 or later; on Debian: apt-get install coq))

tex:
	$(if $(shell command -v pdflatex),@:,$(error the report needs pdflatex; on Debian: apt-get install texlive-latex-extra texlive-fonts-recommended lmodern))

# The commands that docs/guides/gallery.md shows, and nothing else.
gallery: $(VENV)/ready
	sed -n 's/^\$$ //p' docs/guides/gallery.md | PATH="$(CURDIR)/$(BIN):$$PATH" sh -e

# The site, offline; what it is warned of is an error, broken links and anchors among it. A second build reads only what changed.
docs: $(VENV)/ready-docs
	test -f gallery/bfs.html || $(MAKE) gallery
	@find docs/_build/html -name '*.html' -delete 2>/dev/null || true
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --jobs auto docs docs/_build/html
	@echo open docs/_build/html/index.html

# What people install, and whether it works where nothing else of this folder is: in an environment outside of it.
wheel: $(VENV)/ready-dev
	rm -rf dist && $(BIN)/python -m build --no-isolation --outdir dist

try-wheel: $(VENV)/ready-dev
	$(BIN)/python -m pytest tests/wheel

# neural-tangents in an environment of its own: it needs old versions of jax. `make bench` compares with it if it is there.
bench-peers: benchmarks/peers/requirements.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --no-compile --disable-pip-version-check -r benchmarks/peers/requirements.txt

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

INSTALLED := pyproject.toml constraints.txt

# Without --no-compile half of the time goes into bytecode of modules that nobody imports.
$(VENV)/ready: $(INSTALLED) $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.'
	@touch $@

$(VENV)/ready-dev: $(INSTALLED) $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/ready $(VENV)/ready-docs

$(VENV)/ready-plot: $(INSTALLED) $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[plot]'
	@touch $@ $(VENV)/ready

$(VENV)/ready-docs: $(INSTALLED) $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@ $(VENV)/ready

clean:
	rm -rf docs/_build docs/generated $(VENV) .venv-peers .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks .import_linter_cache
