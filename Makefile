# The commands of the course. CI calls only these.
SHELL := /bin/sh
.DEFAULT_GOAL := help
VENV := .venv
PY := $(VENV)/bin/python
NOTEBOOKS := chapters exercises solutions
# folders whose tests are all slow, and slow to import
SLOW := tests/book tests/browser tests/benchmarks tests/mutants tests/block_course/book tests/transformer_block/peers

# one thread in every numeric library: printed digits and figures must not depend on the machine's cores
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export PYTHONHASHSEED := 0

.PHONY: help install install-dev book test test-quick nbval check lab release refresh grade gallery fuzz bench mutants data pins pdf lighthouse clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: ## set up .venv with what the book, the exercises and the grader need
	@sh scripts/install.sh course

install-dev:
	@sh scripts/install.sh dev
	@$(PY) scripts/browser.py

book: install ## build the HTML and say where to open it
	@$(PY) -m block_course.cli book

pdf: book ## print the whole book to one PDF, by Chromium
	@$(PY) -m block_course.book.pdf _build/html _build/book.pdf

lighthouse: install-dev book ## what the built pages get from a slow phone, and from Lighthouse (needs Node.js)
	@$(PY) -m tests.browser.lighthouse _build/html

test: install-dev check ## run every test, and every notebook against its stored outputs
	$(PY) -m pytest tests -n 2 --dist loadscope
	$(MAKE) --no-print-directory nbval

test-quick: install-dev ## an answer in under a minute
	GALLERY_SEEDS=2 $(PY) -m pytest tests -n 2 --dist loadscope -m "not slow" -q $(addprefix --ignore ,$(SLOW))

nbval: install-dev ## run every notebook and compare each output with the stored one
	$(PY) -m pytest --nbval $(wildcard $(NOTEBOOKS)) -n 2 --dist loadfile

check: install-dev ## lint, format and types
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy

lab: install ## work the exercises in JupyterLab, in copies of your own
	@$(PY) -m block_course.cli lab

release: install ## make exercises/ from solutions/
	@$(PY) -m block_course.cli release

refresh: install ## run the notebooks again; keep each stored output that still agrees
	@$(PY) -m block_course.cli refresh $(wildcard chapters solutions)

grade: install ## grade notebooks: make grade SUBMISSIONS=submitted OUT=grades
	@$(PY) -m block_course.cli grade $(SUBMISSIONS) --out $(or $(OUT),grades)

gallery: install-dev ## every wrong and right answer against the checks, over 200 seeds: two hours, or ONLY=masks
	GALLERY_SEEDS=200 $(PY) -m pytest -p tests.gallery.measured tests/gallery -n 2 --dist worksteal -k "$(ONLY)"

fuzz: install-dev ## search for bytes that break the reader of the grader's frames (SECONDS=60)
	@$(PY) -m pip --disable-pip-version-check --no-input install -q -r requirements-fuzz.txt
	$(PY) -m tests.fuzz.wire --seconds $(or $(SECONDS),60)

bench: install-dev ## the block beside PyTorch's own, and the grader beside nbgrader, with their bounds
	$(PY) -m benchmarks
	$(PY) -m benchmarks.grading

mutants: install-dev ## break the package on purpose; see whether its tests notice (about an hour)
	$(PY) -m tests.mutants

data: install-dev ## make again what chapters show but do not run (half an hour)
	$(PY) chapters/data/make_training.py
	$(PY) chapters/data/make_variants.py
	$(PY) chapters/data/make_doubling.py
	$(PY) chapters/data/make_minilm.py
	$(PY) chapters/data/make_cache.py

pins: install ## resolve requirements*.in anew
	@$(PY) scripts/pin.py

clean: ## remove what was built (not .venv, not your work)
	rm -rf _build .pytest_cache .ruff_cache .mypy_cache .coverage htmlcov
