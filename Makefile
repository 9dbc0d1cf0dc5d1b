# Two commands do all there is to do on a machine with Debian 12 and a Rust toolchain:
# `make run` and `make test`. `make help` lists the rest.

# LLVM and MLIR 22 come from Debian's security archive for bookworm.
PACKAGES := g++ llvm-22-dev libmlir-22-dev mlir-22-tools libpolly-22-dev lld-22 liblld-22-dev \
            liblld-22 clang-22 libclang1-22 zlib1g-dev libzstd-dev
SPEC ?= specs/gemm.toml

.PHONY: help setup build run test lint bench bless fuzz

help:
	@echo "make run     build, compile $(SPEC) and run it on the simulator"
	@echo "make test    every test"
	@echo "make lint    rustfmt, clippy and rustdoc, warnings being errors"
	@echo "make bench   benchmarks of the algebra, the compiler and the simulator"
	@echo "make bless   accept changed snapshots: read the difference before you commit it"
	@echo "make fuzz    fuzz specs, layout expressions and code objects for a minute each (needs cargo-fuzz)"
	@echo "make setup   install the Debian packages that are missing"

setup:
	@if ! command -v dpkg-query >/dev/null; then \
	    echo "This is no Debian: see README.md, 'Other distributions'. Going on without set-up."; \
	    exit 0; \
	fi; \
	missing=""; \
	for package in $(PACKAGES); do \
	    dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' \
	        || missing="$$missing $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
	    echo "installing:$$missing"; \
	    sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	    $$sudo apt-get update -qq \
	    && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends \
	        $$missing >/dev/null \
	    || { echo "Installing failed. Is bookworm-security among your apt sources?"; exit 1; }; \
	fi

build: setup
	cargo build --release --locked

run: build
	cargo run --quiet --release --locked -- run $(SPEC)

test: setup
	cargo test --workspace --locked

lint: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

bench: setup
	cargo bench --workspace --locked

bless: setup
	INSTA_UPDATE=always cargo test --workspace --locked

fuzz:
	cd dialect/fuzz && cargo fuzz run spec -- -max_total_time=60
	cd layout/fuzz && cargo fuzz run expression -- -max_total_time=60
	cd backends/sim/fuzz && cargo fuzz run code_object -- -max_total_time=60
