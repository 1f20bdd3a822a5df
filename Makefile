# These commands set up a fresh machine with cargo, gcc, Python and apt, and do their work:
#   make demo      build, then a tour on the simulated model
#   make test      every test
#   make clients   the official MCP SDKs, Inspector and conformance suite against the binary
#   make install   that binary, stripped, in PREFIX/bin (~/.local/bin)
#   make package   a tarball, a Debian package and a Python wheel of that binary in dist/, each tried in an empty system
#   make release   the binary with all of LanceDB optimised: most of an hour to build, three times as fast
#   make measure   numbers of docs/PERFORMANCE.md, with that binary
#   make load      the team daemon under the load of 500 clients, against its bars, with the binary of `make install`
#   make kills     200 kills of the team daemon under load, and 100 of servers that update a memory bank: nothing
#                  acknowledged may be lost or doubled
# demo, test, clients, install, package, load and kills build the same units of the same profile, so each reuses what another built.

SHELL := /bin/bash
PREFIX ?= $(HOME)/.local
TARGET_DIR = $(shell cargo metadata --no-deps --format-version 1 | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')

.PHONY: demo test clients install package release measure load kills setup

# The tests' dependencies switch on features of packages below LanceDB: without `--test it` the binary would be built
# with another set of them, and LanceDB built a second time (13 minutes) by `make test`.
demo: setup
	cargo build --locked --workspace --bin reasoning-bank --test it
	$(TARGET_DIR)/debug/reasoning-bank demo

test: setup
	cargo test --locked --workspace --doc
	@if cargo nextest --version >/dev/null 2>&1; then \
		echo cargo nextest run --locked --workspace; \
		cargo nextest run --locked --workspace --no-fail-fast; \
	else \
		echo cargo test --locked --workspace --lib --bins --tests; \
		cargo test --locked --workspace --lib --bins --tests --no-fail-fast; \
	fi

clients: setup
	cargo build --locked --workspace --bin reasoning-bank --test it
	scripts/clients/run $(TARGET_DIR)/debug/reasoning-bank "$$(cargo test --locked --workspace --lib --no-run \
		--message-format json | sed -n 's/.*"executable":"\([^"]*\/reasoning_bank-[^"]*\)".*/\1/p')"

install: setup
	cargo build --locked --workspace --bin reasoning-bank --test it
	install -D --strip $(TARGET_DIR)/debug/reasoning-bank $(DESTDIR)$(PREFIX)/bin/reasoning-bank
	@echo "the binary: $(DESTDIR)$(PREFIX)/bin/reasoning-bank"

package: setup
	cargo build --locked --workspace --bin reasoning-bank --test it
	scripts/check-packages $(TARGET_DIR)/debug/reasoning-bank dist

release: setup
	cargo build --release --locked --workspace --bin reasoning-bank
	@echo "the binary: $(TARGET_DIR)/release/reasoning-bank"

measure: release
	scripts/measure.py $(TARGET_DIR)/release/reasoning-bank

load: setup
	cargo build --locked --workspace --bin reasoning-bank --test it
	$(TARGET_DIR)/debug/reasoning-bank eval load

kills: setup
	cargo build --locked --workspace --bin reasoning-bank --test it
	$(TARGET_DIR)/debug/reasoning-bank eval kills
	REASONING_BANK_KILL_ROUNDS=50 cargo test --locked --workspace --test it -- banks::kills

setup:
	@scripts/setup.sh build
