# Everything a fresh Debian machine with Python 3.11 needs: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CODE   := src tests benchmarks r hatch_build.py
DEMO   := demo
PORT   := 8000
DIST   := dist
BUNDLE := bundle
EXTRAS := server,postgresql
BENCH  ?= --speed

# R loads Python as a library; Debian has it in a package of its own
SHARED := import os, sysconfig; v = sysconfig.get_config_var; \
	os.path.exists(os.path.join(v('LIBDIR'), v('INSTSONAME'))) or print('libpython' + v('py_version_short'))

.PHONY: demo test system lint bytecode docs site bench dist bundle clean

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "discreet needs Python 3.11 or newer: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		{ test "$$(id -u)" = 0 && apt-get update -q && apt-get install -q -y --no-install-recommends python3-venv; } || \
		{ echo "Python's venv module is missing: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -c constraints.txt hatchling editables setuptools wheel
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-binary pyspark --no-build-isolation -c constraints.txt -e '.[dev]'
	@touch $@

bytecode: $(VENV)/installed  # kept beside the sources, so that no start compiles them, wherever Python is told not to write any
	@$(BIN)/python -m compileall -q src

demo: $(VENV)/installed bytecode  ## the table server on the synthetic census; prints its address
	$(BIN)/discreet demo --folder $(DEMO) --port $(PORT)

test: system lint bytecode  ## everything, browser and database included
	$(BIN)/pytest -n auto --dist loadgroup

system:  # Debian packages that the tests need: a browser, a database server, a proxy, Java for Spark, R, and a spreadsheet program
	@missing=; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$$missing postgresql"; \
	command -v nginx >/dev/null || test -x /usr/sbin/nginx || missing="$$missing nginx-light"; \
	command -v java >/dev/null || missing="$$missing default-jre-headless"; \
	command -v soffice >/dev/null || missing="$$missing libreoffice-calc-nogui"; \
	command -v pdftotext >/dev/null || missing="$$missing poppler-utils"; \
	command -v Rscript >/dev/null || missing="$$missing r-base-core"; \
	for name in reticulate testthat; do \
		test -d /usr/lib/R/site-library/$$name || missing="$$missing r-cran-$$name"; \
	done; \
	shared=$$($(PYTHON) -c "$(SHARED)"); test -z "$$shared" || missing="$$missing $$shared"; \
	test -z "$$missing" || { test "$$(id -u)" = 0 && apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing; } || \
		{ echo "these are missing:$$missing (apt-get install$$missing)"; exit 1; }

lint: $(VENV)/installed
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy

docs: $(VENV)/installed  ## run every example of the documentation
	$(BIN)/pytest tests/test_docs.py

site: $(VENV)/installed  ## the documentation as pages that need no network: site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/installed  ## what is timed against a goal, about 25 minutes; writes docs/benchmarks.md
	$(BIN)/python benchmarks/page.py $(BENCH)

dist: $(VENV)/installed  ## what is uploaded: source distribution and wheel, the same bytes for the same commit
	rm -rf $(DIST)
	$(BIN)/python -m build --no-isolation --outdir $(DIST) .
	$(BIN)/python -m twine check --strict $(DIST)/*

bundle: dist  ## a folder of wheels for machines without a network, with a note on how to install them
	rm -rf $(BUNDLE)
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --only-binary :all: -c constraints.txt \
		-d $(BUNDLE)/wheels "$$(ls $(DIST)/*.whl)[$(EXTRAS)]"
	cp deploy/bundle.txt $(BUNDLE)/INSTALL.txt

clean:
	rm -rf $(VENV) $(DEMO) $(DIST) $(BUNDLE) site .pytest_cache .mypy_cache .ruff_cache .hypothesis
