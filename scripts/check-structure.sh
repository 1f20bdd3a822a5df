#!/usr/bin/env bash
# What the compiler does not check of docs/ARCHITECTURE.md: which way dependencies go, and how files are cut.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0

problem() {
    echo "error: $*" >&2
    failed=1
}

# Directly or not: the domain has no runtime and no IO, the actors have no database, no protocol, no command line.
must_not_reach() {
    local package=$1 reached
    shift
    reached=$(cargo tree --locked -p "$package" --edges normal,build --prefix none --format '{p}' | cut -d' ' -f1 | sort -u)
    for forbidden in "$@"; do
        if grep -Eqx "$forbidden" <<<"$reached"; then
            problem "$package depends on $(grep -Ex "$forbidden" <<<"$reached" | tr '\n' ' ')"
        fi
    done
}
edges=('lancedb|lance(-.*)?' 'arrow(-.*)?' 'datafusion(-.*)?' 'rmcp(-.*)?' reqwest hyper fastembed 'ort(-.*)?' 'tract(-.*)?' axum 'clap(_.*)?' config)
must_not_reach reasoning-bank-domain "${edges[@]}" tokio ractor reasoning-bank-actors
must_not_reach reasoning-bank-actors "${edges[@]}"

# Another feature set of ractor changes every actor.
if cargo tree --locked --workspace -e features -i ractor 2>/dev/null | grep -Eq 'ractor feature "(cluster|async-trait)"'; then
    problem "ractor is built with cluster or async-trait"
fi

while read -r file; do
    lines=$(wc -l <"$file")
    case $file in
    tests/* | */tests/* | */tests.rs | benches/*) ;;
    *)
        [ "$lines" -le 500 ] || problem "$file has $lines lines; split it by concept, 500 at most"
        [[ $(head -n 1 "$file") == '//!'* ]] || problem "$file does not open with what it is for (//!)"
        ;;
    esac
    [ "$(basename "$file")" != mod.rs ] || problem "$file: modules are named by their own file"
done < <(git ls-files --cached --others --exclude-standard '*.rs')

exit "$failed"
