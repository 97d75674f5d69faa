# Everything runs in VENV, made here; PYTHON is the interpreter that makes it.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
TRAIN ?= data/english-train.conllu
DEV ?= data/english-dev.conllu
TEST ?= data/english-test.conllu
MODEL ?= out/model.pnlp
SENTENCE ?= The old man the boats .

CORE := $(wildcard perceptron_nlp/_core/*/*.pyx perceptron_nlp/_core/*/*.pxd perceptron_nlp/_core/*/*.h)

# The compiled modules, whose stubs are held against them.
STUBBED := $(subst /,.,$(patsubst %.pyi,%,$(wildcard perceptron_nlp/_core/*/*.pyi)))

.PHONY: train test laws lint bench instructions prefetches accuracy integrations trust sanitize fuzz clean pictures model models
.PHONY: wheel docs ray engines house everywhere sdist
SECONDS ?= 60

# Train on your own files: make train TRAIN=… DEV=… TEST=…
train: $(VENV)/built $(VENV)/models
	@mkdir -p $(dir $(MODEL))
	$(BIN)/perceptron-nlp train $(TRAIN) --dev $(DEV) --model $(MODEL)
	$(BIN)/perceptron-nlp evaluate $(MODEL) $(TEST)
	echo "$(SENTENCE)" | $(BIN)/perceptron-nlp tag $(MODEL) --format text

test: $(VENV)/tested
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup

# The laws on cases that were never tried, five times as many.
laws: $(VENV)/tested
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup --hypothesis-profile others tests/laws

lint: $(VENV)/linted
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	git ls-files '*.h' '*.c' | xargs $(BIN)/clang-format --dry-run --Werror
	$(BIN)/mypy
	$(BIN)/stubtest --mypy-config-file pyproject.toml --concise --ignore-missing-stub --ignore-disjoint-bases $(STUBBED)

# The size of the house and its streets, each against its limit.
house: $(VENV)/built
	$(BIN)/python scripts/house.py

# Speed, size and cost beside other taggers; needs PERCEPTRON_NLP_CORPORA, a quiet machine, and 11 GB
# of disc for 100 million words.
bench: $(VENV)/benched
	mkdir -p docs/images
	$(BIN)/python benchmarks/road.py
	$(BIN)/python benchmarks/natural.py
	$(BIN)/python benchmarks/speed.py --png docs/images/speed.png
	$(BIN)/python benchmarks/instructions.py
	$(BIN)/python benchmarks/main_job.py
	$(BIN)/python benchmarks/large.py 5000000 100000000 --max-memory 3GB --bounded-only
	$(BIN)/python benchmarks/averaging.py
	$(BIN)/python benchmarks/classifier.py
	$(BIN)/python benchmarks/family.py --png docs/images/cost-growth.png
	$(BIN)/python benchmarks/size.py
	$(BIN)/python benchmarks/doctor.py
	$(BIN)/python benchmarks/calibration.py --png docs/images/calibration.png
	$(BIN)/python benchmarks/insight.py

# Instructions a token against those in benchmarks/instructions.json; needs PERCEPTRON_NLP_CORPORA.
instructions: $(VENV)/built
	$(BIN)/python benchmarks/instructions.py

# Prefetches in the compiled core against those in benchmarks/instructions.json; needs objdump.
prefetches: $(VENV)/built
	$(BIN)/python benchmarks/prefetches.py

# The accuracy table; needs PERCEPTRON_NLP_CORPORA.
accuracy: $(VENV)/built
	$(BIN)/python benchmarks/accuracy.py

# The tests of integrations with every library installed (make test skips those that are not), and
# their speed; needs PERCEPTRON_NLP_CORPORA.
integrations: $(VENV)/integrated
	$(BIN)/python -m pytest -q tests/unit/integrations tests/laws/test_arrow_laws.py tests/unit/docs tests/tours
	$(BIN)/python benchmarks/integrations.py

# The tests of a real Ray, and of what comes with it, which make test skips where it is missing.
ray: $(VENV)/rayed
	$(BIN)/python -m pytest -q tests/unit/integrations tests/laws/test_arrow_laws.py tests/tours/test_engineer.py

# Shards, killed workers, memory and speed on Ray and Spark (which needs Java); needs
# PERCEPTRON_NLP_CORPORA.
engines: $(VENV)/rayed $(VENV)/sparked $(VENV)/benched
	$(BIN)/python -m pytest -q tests/unit/integrations/test_ray.py tests/unit/integrations/test_spark.py
	for what in accuracy time tagging; do $(BIN)/python benchmarks/engines.py $$what || exit; done

# Every promise of docs/promises.md in its full size; the suite under sanitizers; fuzzing.
trust: $(VENV)/benched
	$(BIN)/python -m benchmarks.trust

sanitize: $(VENV)/benched
	$(BIN)/python -m benchmarks.trust.sanitize

fuzz: $(VENV)/tested
	$(BIN)/python -m benchmarks.trust.fuzz --seconds $(SECONDS)

# The bundled model, made again.
PRESIDENTS = $(PERCEPTRON_NLP_CORPORA)/corpora/presidents
model: $(VENV)/built
	mkdir -p out
	$(BIN)/python benchmarks/rawtext.py --free out/free.txt
	$(BIN)/python scripts/make_model.py $(PERCEPTRON_NLP_CORPORA)/treebanks/UD_English-EWT \
	  --raw out/free.txt --text $(PRESIDENTS)/state_union.txt $(PRESIDENTS)/inaugural.txt \
	  --plain 20000 -o perceptron_nlp/models/en.model

# The models of all treebanks below a folder, each with its card, and their table; PACKAGE=name
# makes a distribution of them, which pip installs.
UD ?= $(PERCEPTRON_NLP_CORPORA)/languages
OUT ?= out/models
models: $(VENV)/built
	$(BIN)/python scripts/make_models.py $(UD) -o $(OUT) $(if $(PACKAGE),--package $(PACKAGE))

# A wheel, installed with NumPy alone where nothing else is, must tag English.
wheel: $(VENV)/built
	$(BIN)/python scripts/check_wheel.py

# What this machine can run of other compilers, interpreters, processors and systems, and what it
# lacks; all, or some: make everywhere ROWS="clang 'c-*'" PYTHONS=/path/to/python3.14t
everywhere: $(VENV)/building
	$(BIN)/python scripts/everywhere.py $(ROWS)

# The source distribution, in dist, after it was built elsewhere, twice, to the same wheel.
sdist: $(VENV)/building
	$(BIN)/python scripts/everywhere.py wheels
	mkdir -p dist
	cp out/everywhere/wheels/tree/dist/*.tar.gz dist/

# The pictures of docs/perceptron-family.md, and those of pages, which need a Chromium.
pictures: $(VENV)/benched
	$(BIN)/perceptron-nlp study --out out/study
	mkdir -p docs/images
	cp out/study/*.png docs/images/
	PERCEPTRON_NLP_PICTURES=docs/images $(BIN)/python -m pytest -q tests/unit/pages \
	  tests/unit/annotation/test_page.py -k pictures
	$(BIN)/python scripts/lesson_pictures.py docs/images

# The documentation as a site, in out/docs.
docs: $(VENV)/documented
	$(BIN)/python -m sphinx -W --keep-going -q -E -b html docs out/docs

clean:
	rm -rf $(VENV) .venv-3.* build dist out *.egg-info perceptron_nlp/_core/*/*.c perceptron_nlp/_core/*/*.so
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

# What an extra of pyproject.toml names, installed without building the core again.
define extra
$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['$(1)'], sep='\n')" > $(VENV)/$(1).txt
$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement $(VENV)/$(1).txt
endef

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# An editable install: Python files are used where they stand, the core is built again when it
# has changed.
$(VENV)/built: $(BIN)/python pyproject.toml setup.py $(CORE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

# The models of other languages, under their names.
$(VENV)/models: $(VENV)/built $(wildcard data/models/*)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps ./data/models
	@touch $@

$(VENV)/tested: $(VENV)/built $(VENV)/models
	$(call extra,test)
	@touch $@

# What builds the core outside of pip.
$(VENV)/building: $(VENV)/tested
	$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'], sep='\n')" > $(VENV)/building.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement $(VENV)/building.txt
	@touch $@

$(VENV)/integrated: $(VENV)/tested
	$(call extra,integrations)
	$(call extra,datatrove)
	@touch $@

$(VENV)/rayed: $(VENV)/tested
	$(call extra,ray)
	@touch $@

$(VENV)/sparked: $(VENV)/tested
	$(call extra,spark)
	@touch $@

$(VENV)/linted: $(VENV)/tested
	$(call extra,lint)
	@touch $@

$(VENV)/documented: $(VENV)/built
	$(call extra,docs)
	@touch $@

$(VENV)/benched: $(VENV)/tested
	$(call extra,bench)
	@touch $@
