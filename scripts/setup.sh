#!/usr/bin/env bash
# Installs what the build needs and this machine lacks: protoc, with which LanceDB reads its file formats' definitions.
# Prints each step. Where it cannot do one, it prints the command for it.
set -euo pipefail

fail() {
    printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
    exit 1
}

# Debian packages, as root or with sudo.
install_packages() {
    command -v apt-get >/dev/null || fail "missing: $*" "this is no Debian: install it with this system's package manager"
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "missing: $*, and neither root nor sudo is here" "as root: apt-get install $*"
        as_root=(sudo)
    fi
    echo "setup: installing $* with apt-get" >&2
    export DEBIAN_FRONTEND=noninteractive
    if ! "${as_root[@]}" apt-get install -qq -y --no-install-recommends "$@" >/dev/null 2>&1; then
        # The lists of packages may be missing or old.
        { "${as_root[@]}" apt-get update -qq &&
            "${as_root[@]}" apt-get install -qq -y --no-install-recommends "$@" >/dev/null; } ||
            fail "apt-get could not install $*" "run it by hand and look at what it says"
    fi
}

need_build() {
    command -v cargo >/dev/null || fail "cargo is missing" "install Rust from https://rustup.rs"
    command -v cc >/dev/null || install_packages gcc libc6-dev
    command -v make >/dev/null || install_packages make
    # PROTOC names one elsewhere. The definitions of Google's own types come in a package of their own.
    [ -n "${PROTOC:-}" ] || command -v protoc >/dev/null || install_packages protobuf-compiler libprotobuf-dev
}

# Python can make environments; what goes into them brings its own Node.
need_clients() {
    python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3-venv
}

# An image is built without an engine, on a base that is made of packages.
need_container() {
    command -v buildah >/dev/null && command -v mmdebstrap >/dev/null && command -v curl >/dev/null ||
        install_packages buildah mmdebstrap curl
    need_clients
}

# The coverage tools must be of the LLVM that the compiler was built with: older ones cannot read what it writes.
need_coverage() {
    local major
    major=$(llvm_major)
    llvm_tool llvm-profdata >/dev/null || install_packages "llvm-$major"
    llvm_tool llvm-profdata >/dev/null ||
        fail "llvm-profdata $major is missing" "rustup component add llvm-tools, or install LLVM $major"
}

llvm_major() {
    rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p'
}

# Prints the path of a tool of the compiler's LLVM: the toolchain's own component, else the system's.
llvm_tool() {
    local own
    own="$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/$1"
    if [ -x "$own" ]; then echo "$own"; else command -v "$1-$(llvm_major)"; fi
}

case "${1:-}" in
build) need_build ;;
coverage) need_coverage ;;
clients) need_clients ;;
container) need_container ;;
tool) llvm_tool "$2" ;;
*) fail "unknown: ${1:-nothing}" "scripts/setup.sh build | coverage | clients | container | tool NAME" ;;
esac
