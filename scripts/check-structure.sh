#!/usr/bin/env bash
# Checks rules of docs/ARCHITECTURE.md that no compiler checks: the direction of dependencies and the cut of files.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0

problem() {
    echo "error: $*" >&2
    failed=1
}

# Directly or not: the domain, the index and the clients have no runtime and no IO, the actors no database, no protocol,
# no command line.
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
must_not_reach reasoning-bank-domain "${edges[@]}" rusqlite tokio ractor reasoning-bank-actors
must_not_reach reasoning-bank-index "${edges[@]}" tokio ractor reasoning-bank-actors
must_not_reach reasoning-bank-clients "${edges[@]}" tokio ractor 'reasoning-bank-(domain|actors|store)'
must_not_reach reasoning-bank-importers "${edges[@]}" tokio ractor 'reasoning-bank-(actors|store)'
must_not_reach reasoning-bank-actors "${edges[@]}"
must_not_reach reasoning-bank-store 'rmcp(-.*)?' 'tract(-.*)?' axum 'clap(_.*)?'

# Another feature set of ractor changes every actor.
if cargo tree --locked --workspace -e features -i ractor 2>/dev/null | grep -Eq 'ractor feature "(cluster|async-trait)"'; then
    problem "ractor is built with cluster or async-trait"
fi

scripts/structure.py || failed=1
# A rule that cannot fail checks nothing.
(cd scripts && python3 -B -m unittest --quiet test_structure.py) || failed=1

exit "$failed"
