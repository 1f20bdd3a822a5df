#!/usr/bin/env python3
"""Checks how the sources are cut, as CONTRIBUTING.md says. Usage: scripts/structure.py [ROOT]

Prints one line for each breach and exits with 1 where there is one. `scripts/test_structure.py` shows that each rule can
fail. Which way packages depend on each other is checked by `scripts/check-structure.sh`, with cargo.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

PACKAGES = ["domain", "index", "actors", "."]
MAX_LINES = 500

# Who may name a crate, or use a word of the language: everything else may not.
HOMES = {
    r"\b(?:arrow\w*|lance\w*|datafusion\w*)::": ["src/store/", "src/store.rs"],
    r"\brmcp::": ["src/mcp/", "src/mcp.rs"],
    # The domain is pure: it is told the time, and reads and starts nothing.
    r"\bstd::(?:env|fs|io|net|process|thread)\b": ["index/src/", "actors/src/", "src/"],
    r"\b(?:Instant|SystemTime|Timestamp|Zoned)::now\b": ["index/src/", "actors/src/", "src/"],
    r"\brayon::": ["index/src/", "src/embed/tract.rs", "src/store/lance/"],
    r"\bunsafe\b": [
        "index/src/kernels.rs",
        "src/allocator.rs",
        "src/cli/doctor/disk.rs",
        "src/cli/solve/verify.rs",
        "src/embed/runtime.rs",
        "src/main.rs",
        "src/store/lance/threads.rs",
    ],
}

TEST_ITEM = re.compile(
    r"#\[cfg\((?:test|all\(test[^\]]*)\)\]\s*(?:#\[[^\]]*\]\s*)*"
    r"(?:pub(?:\([^)]*\))?\s+)?(?:mod|fn|use|impl|struct|const|static|type|macro_rules!)\b[^;{]*"
)
USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
PATH = re.compile(r"\b((?:crate|super|self)(?:::\w+)+)|(?<![:\w])(\w+)::\w+")
VISIBLE_TYPE = re.compile(r"^[ \t]*pub(?:\([^)]*\))?\s+(?:struct|enum|trait|union)\s+([A-Z]\w*)", re.M)


def is_test(path):
    return bool({"tests", "benches"} & set(path.parts)) or path.stem.endswith("tests")


def without_comments_and_strings(text):
    """Rust source with each comment dropped and each literal emptied."""
    token = re.compile(
        r"//[^\n]*|/\*.*?\*/|(?<![\w])b?r(#*)\".*?\"\1|\"(?:\\.|[^\"\\])*\"|'(?:\\[^']*|[^'\\])'", re.S
    )
    return token.sub(lambda found: "" if found.group().startswith("/") else '""', text)


def without_tests(text):
    while found := TEST_ITEM.search(text):
        end = found.end()
        if text[end : end + 1] == "{":
            depth = 0
            for end in range(end, len(text)):
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                if depth == 0:
                    break
        text = text[: found.start()] + text[end + 1 :]
    return text


def leaves(tree, prefix=()):
    """The paths of a use tree, with the name that each is bound to."""
    depth, part = 0, ""
    for char in tree + ",":
        if char == "," and depth == 0:
            part = part.strip()
            if "{" in part:
                head, rest = part.split("{", 1)
                names = tuple(name.strip() for name in head.split("::") if name.strip())
                yield from leaves(rest.rsplit("}", 1)[0], prefix + names)
            elif part:
                path, _, alias = (piece.strip() for piece in part.partition(" as "))
                names = prefix + tuple(name.strip() for name in path.split("::") if name.strip())
                names = names[:-1] if names[-1] == "self" and len(names) > 1 else names
                yield names, alias or names[-1]
            part = ""
            continue
        depth += {"{": 1, "}": -1}.get(char, 0)
        part += char


class Package:
    """The modules of a package, by their paths, and which of them use which."""

    def __init__(self, root, name):
        self.src = root / name / "src"
        self.code, self.exports = {}, defaultdict(dict)
        for file in sorted(self.src.rglob("*.rs")):
            relative = file.relative_to(self.src)
            if is_test(relative) or relative.stem in ("main", "samples"):
                continue
            path = () if relative.stem == "lib" else relative.with_suffix("").parts
            self.code[path] = without_tests(without_comments_and_strings(file.read_text()))
        for module, code in self.code.items():
            for visible, tree in USE.findall(code):
                for names, bound in leaves(tree) if visible else ():
                    self.exports[module][bound] = names

    def resolve(self, module, names, seen=frozenset()):
        """The module that defines what `names` stand for in `module`; none where that is outside of the package."""
        here, names = module, list(names)
        if names[0] == "crate":
            here, names = (), names[1:]
        elif names[0] == "self":
            names = names[1:]
        elif names[0] == "super":
            while names and names[0] == "super":
                here, names = here[:-1], names[1:]
        elif here + (names[0],) not in self.code:
            return None
        while names and here + (names[0],) in self.code:
            here, names = here + (names[0],), names[1:]
        if names and names[0] in self.exports[here] and (here, names[0]) not in seen:
            further = self.resolve(here, self.exports[here][names[0]], seen | {(here, names[0])})
            return further if further is not None else here
        return here if here in self.code else None

    def uses(self, module):
        code = self.code[module]
        for visible, tree in USE.findall(code):
            for names, _ in () if visible else leaves(tree):
                yield self.resolve(module, names)
        for path, head in PATH.findall(USE.sub("", code)):
            yield self.resolve(module, path.split("::") if path else [head])

    def circles(self):
        """Modules of one parent that use each other, their own children counted as theirs. A parent and its children
        may use each other."""
        edges = defaultdict(lambda: defaultdict(set))
        for module in self.code:
            for used in set(self.uses(module)) - {None, module}:
                common = 0
                while common < min(len(module), len(used)) and module[common] == used[common]:
                    common += 1
                if common < min(len(module), len(used)):
                    edges[module[:common]][module[common]].add(used[common])
        for parent in sorted(edges):
            for circle in components(edges[parent]):
                yield "::".join(parent) or "the package", circle


def components(edges):
    """The strongly connected components of more than one node, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for after in sorted(edges.get(node, ())):
            if after not in index:
                visit(after)
            if after in stack:
                low[node] = min(low[node], low[after])
        if low[node] == index[node]:
            component = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def problems(root):
    sources = [file for name in PACKAGES for file in sorted((root / name).glob("src/**/*.rs"))]
    tests = [
        file
        for name in PACKAGES
        for folder in ("tests", "benches")
        for file in sorted((root / name / folder).glob("**/*.rs"))
    ]
    types = defaultdict(list)
    for file in sources + tests:
        path = file.relative_to(root)
        text = file.read_text()
        lines = text.count("\n")
        if lines > MAX_LINES:
            yield f"{path} has {lines} lines; split it by concept, {MAX_LINES} at most"
        if file.name == "mod.rs":
            yield f"{path}: modules are named by their own file"
        if is_test(path):
            continue
        if not text.startswith("//!"):
            yield f"{path} does not open with what it is for (//!)"
        code = without_tests(without_comments_and_strings(text))
        for word, homes in HOMES.items():
            found = re.search(word, code)
            if found and not str(path).startswith(tuple(homes)):
                yield f"{path} uses {found.group().strip(':')}, which belongs into {', '.join(homes)}"
        for name in VISIBLE_TYPE.findall(code):
            types[name].append(str(path))
    for name, places in sorted(types.items()):
        if len(places) > 1:
            yield f"the type {name} is defined {len(places)} times: {', '.join(places)}"
    for name in PACKAGES:
        for parent, circle in Package(root, name).circles():
            yield f"{name}: modules of {parent} use each other: {', '.join(circle)}"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()))
    for problem in found:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(1 if found else 0)
