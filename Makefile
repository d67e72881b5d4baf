# Everything a newcomer types. Needs Python 3.11 or later and make; the rest is installed into .venv.

PYTHONS := python3.14 python3.13 python3.12 python3.11 python3 python
PYTHON := .venv/bin/python
DEMO_FOLDER := .demo
PIP := $(PYTHON) -m pip install --quiet --disable-pip-version-check --no-input

.PHONY: help demo demo-reset test test-long lint format messages bench screens bench-lists eval

help:
	@echo "make demo        run the desk on http://localhost:8000 (PORT=8001 make demo for another port)"
	@echo "make demo-reset  clear the demo's data"
	@echo "make test        run every test (ARGS='-k refund' for some)"
	@echo "make bench       measure what a story costs and how fast the chat is (about 5 minutes)"
	@echo "make bench-lists measure staff's lists with 2,000 and with 200,000 orders (about 10 minutes)"
	@echo "make eval        measure how often refunds come out right, ours and raw calls (about a minute)"
	@echo "make test-long   the generated conversations with a hostile model, a thousand of them"
	@echo "make screens     take the pictures of every page in docs/screens/ anew"
	@echo "make lint        check style, types and who imports whom"
	@echo "make format      let ruff rewrite what it can"
	@echo "make messages    bring the translation files up to date with the sources"

demo: .venv/runtime.stamp
	@exec $(PYTHON) -m backoffice.local.demo --folder $(DEMO_FOLDER)

demo-reset: .venv/runtime.stamp
	@$(PYTHON) -m backoffice.local.demo reset --folder $(DEMO_FOLDER)

test: .venv/dev.stamp
	@CHROMIUM=$$($(PYTHON) -m backoffice.local.chromium) && export CHROMIUM && $(PYTHON) -m backoffice.local.suite $(ARGS)

# Prints what the story of order 5531 costs, and how fast the chat is beside the bare SDK.
bench: .venv/dev.stamp
	@$(PYTHON) -m bench.story
	@$(PYTHON) -m bench.chat $(ARGS)

# Prints whether staff's search and lists stay as fast when there are a hundred times as many orders.
bench-lists: .venv/dev.stamp
	@$(PYTHON) -m bench.lists $(ARGS)

# Prints the table of the three toolsets, played by the stand-in, or by the model of ANTHROPIC_API_KEY.
eval: .venv/runtime.stamp
	@exec $(PYTHON) -m backoffice.local.evaluate $(ARGS)

test-long: export HOSTILE_CONVERSATIONS ?= 1000
test-long: .venv/dev.stamp
	@$(PYTHON) -m pytest tests/generated/test_hostile_conversations.py -q $(ARGS)

screens: .venv/dev.stamp
	@CHROMIUM=$$($(PYTHON) -m backoffice.local.chromium) && export CHROMIUM && $(PYTHON) -m tests.gallery $(ARGS)

# mypy reads the settings, so they must be readable; nothing connects to these addresses.
lint: export SECRET_KEY = read-while-types-are-checked-and-never-used
lint: export DATABASE_URL = postgres://127.0.0.1/none
lint: export REDIS_URL = redis://127.0.0.1/0
lint: .venv/dev.stamp
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy .
	.venv/bin/lint-imports

format: .venv/dev.stamp
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

messages: .venv/runtime.stamp
	$(PYTHON) -m backoffice.local.messages extract
	$(PYTHON) -m backoffice.local.messages compile

# Packages are installed again only when the lists of packages change.
.venv/runtime.stamp: requirements.txt | $(PYTHON)
	@echo "Installing packages (once, about a minute)…"
	@$(PIP) -r requirements.txt && touch $@

.venv/dev.stamp: requirements.txt requirements-dev.txt | $(PYTHON)
	@echo "Installing packages for tests and checks (once, about a minute)…"
	@$(PIP) -r requirements-dev.txt && touch $@ .venv/runtime.stamp

$(PYTHON):
	@for python in $(PYTHONS); do \
	  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  $$python -c 'import ensurepip, venv' 2>/dev/null || { without=$$python; continue; }; \
	  exec $$python -m venv --clear .venv; \
	done; \
	if [ -n "$$without" ]; then \
	  echo "$$without cannot make virtual environments: install its venv module (Debian: apt-get install python3-venv)." >&2; \
	else \
	  echo "Refund Desk needs Python 3.11 or later, and found none under the names $(PYTHONS)." >&2; \
	fi; exit 1
