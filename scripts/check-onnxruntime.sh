#!/usr/bin/env bash
# Both runtimes of the embedding model make the same vectors: with the library of ONNX Runtime that its package on PyPI
# carries. Where that cannot be had there is nothing to compare, and this says so. And a process with the library ends in
# order, whenever it ends.
# The package is installed once, into REASONING_BANK_ONNXRUNTIME, by default in ~/.cache/reasoning-bank.
set -euo pipefail
cd "$(dirname "$0")/.."

version=1.32.0
test=both_runtimes_make_the_same_vectors
home=${REASONING_BANK_ONNXRUNTIME:-$HOME/.cache/reasoning-bank/onnxruntime-$version}

if [ ! -d "$home" ]; then
    rm -rf "$home.new"
    mkdir -p "$(dirname "$home")"
    if ! python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$home.new" "onnxruntime==$version"
    then
        echo "onnx runtime: not checked, version $version cannot be had here"
        exit 0
    fi
    mv "$home.new" "$home"
fi
ORT_DYLIB_PATH=$(find "$home" -name 'libonnxruntime.so*' -print -quit)
export ORT_DYLIB_PATH
said=$(cargo test --locked --workspace --lib --bins --tests "$test" -- --nocapture 2>&1) || { echo "$said"; exit 1; }
# The test passes where there is no library: then nothing was compared.
if grep -q '^skipped' <<<"$said" || ! grep -q "$test ... ok" <<<"$said"; then
    echo "$said"
    exit 1
fi
echo "onnx runtime: $version makes the vectors that tract makes"

# A process that ends while the model still loads ends in order.
binary=${CARGO_TARGET_DIR:-target}/debug/reasoning-bank
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
cargo build --quiet --locked --workspace --bin reasoning-bank --test it
for _ in $(seq 20); do
    "$binary" --data-dir "$data/bank" --llm none --quiet mcp </dev/null 2>"$data/said" || { echo "it ended with $?"; exit 1; }
    if [ -s "$data/said" ]; then cat "$data/said"; exit 1; fi
done
echo "onnx runtime: a process that ends while it loads the model ends in order"
