# One command each: make demo, make test, make lint, make bench, ... (make help names all). The first makes .venv and installs what it needs; the
# stamps in .venv make the second quick.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/.stamps

EXAMPLES ?= 20

.PHONY: help demo test lint format docs site gallery bench bench-gpu array-api-tests scipy-tests sklearn-tests torch-tests clean
.DELETE_ON_ERROR:

help:
	@echo "make demo    run a photograph through NumPy and through gpuarray, and compare"
	@echo "make test    run the tests; they need a Vulkan device, and llvmpipe will do"
	@echo "make lint    check format, lint, types, layers and docs"
	@echo "make format  format the code"
	@echo "make docs    write the generated pages of docs again"
	@echo "make site    build the documentation as a site, in docs/_build"
	@echo "make gallery run the programs of docs/gallery, and draw their figures and the pictures of the pages again"
	@echo "make bench   run the benchmarks at 1/16 of their size (BENCH='--workloads sum --seconds 2' for others)"
	@echo "make bench-gpu"
	@echo "             run them in full size on a GPU, beside the libraries that are installed for it"
	@echo "make torch-tests  install PyTorch (several GB of it on Linux) and run the tests that need it"
	@echo "make array-api-tests SUITE=path [EXAMPLES=20]"
	@echo "             run a checkout of the Array API standard's test suite (see array_api_tests_config/README.md)"
	@echo "make scipy-tests, make sklearn-tests [RUN='--devices cpu']"
	@echo "             run SciPy's or scikit-learn's own tests with gpuarray (see tests/clients/suites/README.md)"
	@echo "make clean   remove .venv and everything that was generated"

demo: $(STAMPS)/demo
	$(BIN)/python -m gpuarray demo $(DEMO)

test: $(STAMPS)/test
	@sh .ci/vulkan.sh $(BIN)/python
	$(BIN)/python -m pytest -n 2 $(TESTS)

lint: $(STAMPS)/lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/numpydoc lint $$(find gpuarray -name '*.py')
	$(BIN)/python docs/generate.py --check

format: $(STAMPS)/lint
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(STAMPS)/lint
	$(BIN)/python docs/generate.py

site: $(STAMPS)/docs
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build
	@echo "docs/_build/index.html"

gallery: $(STAMPS)/test
	cd docs/gallery && for program in *.py; do MPLBACKEND=agg ../../$(BIN)/python $$program || exit 1; done
	MPLBACKEND=agg $(BIN)/python docs/pictures/draw.py

bench: $(STAMPS)/bench
	$(BIN)/python -m bench $(BENCH)

bench-gpu: $(STAMPS)/bench
	$(BIN)/python -m bench --device wgpu --scale 1 $(BENCH)

array-api-tests: $(STAMPS)/test
	@test -f "$(SUITE)/requirements.txt" || { echo "SUITE=path must name a checkout of array-api-tests"; exit 1; }
	@sh .ci/vulkan.sh $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement "$(SUITE)/requirements.txt"
	$(BIN)/python array_api_tests_config/run.py "$(SUITE)" --examples $(EXAMPLES)

scipy-tests sklearn-tests: $(STAMPS)/test
	@sh .ci/vulkan.sh $(BIN)/python
	$(BIN)/python tests/clients/suites/run.py $(@:-tests=) $(RUN)

torch-tests: $(STAMPS)/test
	@sh .ci/vulkan.sh $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch
	$(BIN)/python -m pytest tests/clients/test_torch.py "tests/test_docs.py::test_python_blocks_run[docs/how-to/pytorch.md]"

clean:
	rm -rf $(VENV) build dist bench/results demo-output docs/_build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Each stamp stands for an extra of pyproject.toml that is installed, the package itself in place and compiled.
$(STAMPS)/venv:
	@sh .ci/venv.sh $(PYTHON) $(VENV)
	@mkdir -p $(STAMPS)
	@touch $@

$(STAMPS)/%: pyproject.toml hatch_build.py $(wildcard gpuarray/*.h gpuarray/array/*.[ch] gpuarray/jit/*.[ch] gpuarray/ops/*.[ch]) $(STAMPS)/venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@
