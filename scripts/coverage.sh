#!/usr/bin/env bash
# Line coverage of the packages where the decisions are, domain and actors, by their own tests. Fails below the given
# percentage. Only they are instrumented, so their dependencies are built as for any other test.
# Usage: scripts/coverage.sh [MINIMUM], default 80
set -euo pipefail
cd "$(dirname "$0")/.."

minimum=${1:-80}
packages=(-p reasoning-bank-domain -p reasoning-bank-actors)
scripts/setup.sh coverage

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export RUSTC_WORKSPACE_WRAPPER="$PWD/scripts/rustc-with-coverage"
export LLVM_PROFILE_FILE="$work/%p-%m.profraw"

cargo test --locked "${packages[@]}" --lib --tests --no-run --message-format=json-render-diagnostics >"$work/build.json"
cargo test --locked --quiet "${packages[@]}" --lib --tests >"$work/tests.log" 2>&1 || { cat "$work/tests.log"; exit 1; }
"$(scripts/setup.sh tool llvm-profdata)" merge -sparse "$work"/*.profraw -o "$work/all.profdata"

objects=()
while read -r binary; do objects+=(-object "$binary"); done < <(
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' "$work/build.json"
)
"$(scripts/setup.sh tool llvm-cov)" export --summary-only --instr-profile "$work/all.profdata" "${objects[@]}" \
    --ignore-filename-regex '/(tests|samples)\.rs$|/tests/|/testkit|/benches/|/\.cargo/|/rustc/' >"$work/coverage.json"

python3 - "$work/coverage.json" "$minimum" "$PWD/" <<'PYTHON'
import json, sys

path, minimum, root = sys.argv[1], float(sys.argv[2]), sys.argv[3]
files = [
    (file["filename"].removeprefix(root), file["summary"]["lines"])
    for file in json.load(open(path))["data"][0]["files"]
    if file["filename"].startswith(root)
]
failed = False
for package in ("domain", "actors"):
    own = [(name, lines) for name, lines in files if name.startswith(package + "/")]
    count, covered = sum(l["count"] for _, l in own), sum(l["covered"] for _, l in own)
    percent = 100 * covered / count if count else 0.0
    print(f"line coverage of {package}: {percent:.1f} % of {count} lines, at least {minimum:g} % are asked for")
    failed |= percent < minimum
    if percent < minimum:
        for name, lines in sorted(own, key=lambda entry: entry[1]["covered"] - entry[1]["count"])[:10]:
            print(f"    {lines['count'] - lines['covered']:5} lines not covered in {name}")
sys.exit(failed)
PYTHON
