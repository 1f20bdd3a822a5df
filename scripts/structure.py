#!/usr/bin/env python3
"""Checks the cut of the sources, as CONTRIBUTING.md says. Usage: scripts/structure.py [ROOT]

Prints one line for each breach and exits with 1 where there is one. `scripts/test_structure.py` shows that each rule can
fail. Which way packages depend on each other is checked by `scripts/check-structure.sh`, with cargo.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

PACKAGES = ["domain", "index", "actors", "store", "clients", "importers", "."]
MAX_LINES = 500
# A longer test is told in steps, each a function that is named by the thing that it shows.
MAX_TEST_LINES = 60

# The places that may name a crate or a part of std. Everything else may not. A path is matched from its crate on,
# whatever name a file imports it under.
HOMES = {
    # The domain and the clients are pure: they are told the time, and read and start nothing. The index computes on
    # threads, and no more. The actors reach files and the network through their ports.
    r"std::(?:env|fs|net|os|process)": ["store/src/", "importers/src/", "src/"],
    r"std::io": ["actors/src/", "store/src/", "importers/src/", "src/"],
    r"std::thread": ["index/src/", "actors/src/", "store/src/", "src/"],
    r"std::time::(?:Instant|SystemTime|UNIX_EPOCH|\*)": ["actors/src/", "store/src/", "src/"],
    r"(?:\w+::)*(?:(?:Instant|Timestamp|Zoned)::now|TimeZone::(?:try_)?system|Uuid::now_v\d)": [
        "actors/src/",
        "store/src/",
        "src/",
    ],
    r"rayon": ["index/src/", "actors/src/banks/remembered.rs", "src/embed/tract.rs", "store/src/lance/"],
}
# The same, for tests and benchmarks too.
HOMES_WITH_TESTS = {
    r"(?:arrow|lance|datafusion)\w*": [
        "store/src/",
        "tests/it/store_erase.rs",
        "tests/it/store_formats.rs",
        "tests/it/store_reembed.rs",
    ],
    r"ractor": ["actors/"],
    r"rmcp": ["src/mcp/", "src/mcp.rs"],
    r"unsafe": [
        "index/src/kernels.rs",
        "src/cli/doctor/disk.rs",
        "src/cli/solve/verify.rs",
        "src/embed/runtime.rs",
        "src/main.rs",
        "store/benches/store.rs",
        "store/src/allocator.rs",
        "store/src/lance/threads.rs",
        "tests/it/attacks/disk.rs",
        "tests/it/terminal.rs",
    ],
}
# Names that each file of a folder gives to a type of its own.
TEMPLATES = {"Arguments": "src/mcp/tools/"}
# The files whose handlers may wait: for children to start, or, in the last one, for the one call that a worker is for.
HANDLERS_THAT_WAIT = ["actors/src/agents.rs", "actors/src/runtime/supervise/actor.rs", "actors/src/matts.rs"]
# Outside of these no public signature has a type of ractor, or one of the glue around it.
SHOW_RACTOR = ("actors/src/runtime", "actors/src/testkit")
GLUE = {"Slot", "Gate"}

TEST_ITEM = re.compile(
    r"#\[cfg\((?:test|all\(test[^\]]*)\)\]\s*(?:#\[[^\]]*\]\s*)*"
    r"(?:pub(?:\([^)]*\))?\s+)?(?:mod|fn|use|impl|struct|const|static|type|macro_rules!)\b[^;{]*"
)
USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?(?:use|extern\s+crate)\s+([^;]+);")
PATH = re.compile(r"(?<![\w:])(?:::)?(\w+(?:::\w+)+)")
OF_A_TYPE = re.compile(r"<([\w:]+)(?:\s+as\s+[\w:]+)?>(?=::)")
TYPE = re.compile(r"\b(?:struct|enum|trait|union)\s+([A-Z]\w*)")
ALIAS = re.compile(r"\btype\s+([A-Z]\w*)[^=;{]*=\s*([\w:]*)")
IMPL = re.compile(r"^[ \t]*(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(?:impl|trait)\b[^{]*", re.M)


def is_test(path):
    return bool({"tests", "benches"} & set(path.parts)) or path.stem == "tests"


def without_comments_and_strings(text):
    """Rust source with each comment dropped and each literal emptied."""
    token = re.compile(
        r"//[^\n]*|/\*.*?\*/|(?<![\w])b?r(#*)\".*?\"\1|\"(?:\\.|[^\"\\])*\"|'(?:\\[^']*|[^'\\])'", re.S
    )
    return token.sub(lambda found: "" if found.group().startswith("/") else '""', text)


def without(item, text):
    """The text without what begins as `item` says, each with its block."""
    while found := item.search(text):
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


def paths(code):
    """The paths that code names, each from where it begins, whatever it is called here."""
    bound, globs = defaultdict(set), []
    named = {tuple(path.split("::")) for path in PATH.findall(OF_A_TYPE.sub(r"\1", USE.sub("", code)))}
    for _, tree in USE.findall(code):
        for names, name in leaves(tree):
            named.add(names)
            if name == "*":
                globs.append(names[:-1])
            elif names != (name,):
                bound[name].add(names)
    for name, path in ALIAS.findall(code):
        bound[name].add(tuple(filter(None, path.split("::"))) or (name,))

    def meant(names, seen=frozenset()):
        if names[0] in bound and names[0] not in seen:
            for path in bound[names[0]]:
                yield from meant(path + names[1:], seen | {names[0]})
        else:
            yield names
            yield from (glob + names for glob in globs)

    return {path for names in named for path in meant(names)}


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
            self.code[path] = without(TEST_ITEM, without_comments_and_strings(file.read_text()))
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
        return {self.resolve(module, names) for names in paths(self.code[module])} - {None, module}

    def circles(self):
        """Modules of one parent that use each other, their own children counted as theirs. A parent and its children
        may use each other."""
        edges = defaultdict(lambda: defaultdict(set))
        for module in self.code:
            for used in self.uses(module):
                common = 0
                while common < min(len(module), len(used)) and module[common] == used[common]:
                    common += 1
                if common < min(len(module), len(used)):
                    edges[module[:common]][module[common]].add(used[common])
        for parent in sorted(edges):
            for circle in components(edges[parent]):
                yield "::".join(parent) or "the package", circle

    def later_rooms(self):
        """The modules that use a room which comes after their own, each with what is wrong. A room is a module at the
        root; its place is where the documentation of lib.rs first names it."""
        documentation = re.findall(r"^//!.*", (self.src / "lib.rs").read_text(), re.M)
        order = re.findall(r"`(\w+)`", "".join(documentation))
        for room in sorted({module[0] for module in self.code if module} - set(order)):
            yield "lib", f"gives the room {room} no place in the order"
        for module in sorted(filter(None, self.code)):
            after = order[order.index(module[0]) + 1 :] if module[0] in order else []
            for room in sorted({used[0] for used in self.uses(module) if used} & set(after) - {module[0]}):
                yield "/".join(module), f"uses {room}, a later room than its own"


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


def strays(file, code, homes_of):
    """The names in a file whose homes are elsewhere, the first of each kind."""
    named = {"::".join(names) for names in paths(code)} | {"unsafe"} & set(re.findall(r"\w+", code))
    for word, homes in homes_of.items():
        found = [begins.group() for name in named if (begins := re.match(rf"(?:{word})(?!\w)", name))]
        if found and not file.startswith(tuple(homes)):
            yield min(found), homes


def block(text, begin):
    """The text from the first brace after `begin` to the one that closes it."""
    begin = text.index("{", begin)
    depth = 0
    for end in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[begin : end + 1]
    return text[begin:]


def long_tests(text):
    """The tests of a file that are too long. The brace below its first line ends one."""
    test = re.compile(r"^( *)#\[(?:\w+::)*(?:test|rstest)\b.*\n(?:.*\n)*?\1(?:\w+ )*fn (\w+)(?:.*\n)*?\1}$", re.M)
    for found in test.finditer(text):
        lines = found.group()[found.start(2) - found.start() :].count("\n") + 1
        if lines > MAX_TEST_LINES:
            yield found.group(2), lines


def waiting_handlers(code):
    """The handlers of actors that await something themselves. The tasks that they start await in an async block."""
    for found in re.finditer(r"\basync fn (handle(?:_supervisor_evt)?)\b", code):
        body = without(re.compile(r"\basync\s+(?:move\s*)?(?={)"), block(code, found.end()))
        if re.search(r"\.\s*await\b", body):
            yield found.group(1)


def shown(code, named):
    """The public items of code that name one of these, or are an actor of the framework."""
    public = r"\bpub\s+(?:async\s+|const\s+|unsafe\s+)*"
    items = re.findall(public + r"fn\s+\w+[^{;]*", code)
    items += re.findall(public + r"(?:use|type)\s[^;]*", code)
    items += re.findall(r"\bpub\s+\w+\s*:(?!:)[^,}\n]*", code)
    items += re.findall(r"\bpub\s+struct\s+\w+[^{(;]*\([^;]*\bpub\s[^;]*;", code)
    for found in re.finditer(r"\bpub\s+(?:enum|trait)\s+\w+[^{;]*", code):
        items.append(found.group() + block(code, found.start()))
    for name in re.findall(r"\bimpl\b[^{;]*?\b(?:Actor|Worker|Message)\s+for\s+(\w+)", code):
        items += [found + " ractor" for found in re.findall(rf"\bpub\s+\w+\s+{name}\b", code)]
    for item in items:
        if found := sorted(named & set(re.findall(r"\w+", item))):
            yield " ".join(item.split()), found[0]


def nowhere(root, page):
    """The files that a page names and that are not there, and the tests that their files do not have."""
    for path, _, test in re.findall(r"`([\w./-]+\.(?:rs|py|sh|toml|md)|[\w.-]+/[\w./-]*/)(::(\w+))?`", page):
        file = root / path
        if not file.exists():
            yield path
        elif test and not re.search(rf"\b(?:fn|def) {test}\b", file.read_text()):
            yield f"{path}::{test}"


def other_than_the_tree(page, started):
    """The actors that are started and not in the tree of a page, and the other way round. A page may have no tree."""
    tree = re.search(r"^## The tree\n+```\n(.*?)^```", page, re.M | re.S)
    named = set(re.findall(r"^[|`]- (\w+)", tree[1], re.M)) if tree else started
    return sorted(started ^ named)


def problems(root):
    sources = [file for name in PACKAGES for file in sorted((root / name).glob("src/**/*.rs"))]
    tests = [
        file
        for name in PACKAGES
        for folder in ("tests", "benches")
        for file in sorted((root / name / folder).glob("**/*.rs"))
    ]
    types, started = defaultdict(list), set()
    for file in sources + tests:
        path = file.relative_to(root)
        text = file.read_text()
        lines = text.count("\n")
        if lines > MAX_LINES:
            yield f"{path} has {lines} lines; split it by concept, {MAX_LINES} at most"
        for name, length in long_tests(text):
            yield f"{path}: {name} has {length} lines; tell it in steps, {MAX_TEST_LINES} lines at most"
        if file.name == "mod.rs":
            yield f"{path}: modules are named by their own file"
        with_tests = without_comments_and_strings(text)
        code = "" if is_test(path) else without(TEST_ITEM, with_tests)
        for homes_of, searched in ((HOMES, code), (HOMES_WITH_TESTS, with_tests)):
            for named, homes in strays(str(path), searched, homes_of):
                yield f"{path} uses {named}, which belongs into {', '.join(homes)}"
        if is_test(path):
            continue
        if str(path).startswith("actors/src/"):
            started.update(re.findall(r'ChildSpec::(?:actor|factory)\(\s*"(\w+)"', without(TEST_ITEM, text)))
            if str(path) not in HANDLERS_THAT_WAIT:
                for handler in waiting_handlers(code):
                    yield f"{path}: {handler} awaits; start a task, and take its outcome as a message"
            if not str(path).startswith(SHOW_RACTOR):
                bound = {name for _, tree in USE.findall(code) for names, name in leaves(tree) if names[0] == "ractor"}
                for item, name in shown(code, bound | GLUE | {"ractor"}):
                    yield f"{path} shows {name} in `{item}`"
        if not text.startswith("//!"):
            yield f"{path} does not open with what it is for (//!)"
        for name in TYPE.findall(code) + [name for name, _ in ALIAS.findall(without(IMPL, code))]:
            if not str(path).startswith(TEMPLATES.get(name, "/")):
                types[name].append(str(path))
    for name, places in sorted(types.items()):
        if len(places) > 1:
            yield f"the type {name} is defined {len(places)} times: {', '.join(places)}"
    map_of_all = root / "docs/ARCHITECTURE.md"
    page = map_of_all.read_text() if map_of_all.exists() else ""
    for name in nowhere(root, page):
        yield f"docs/ARCHITECTURE.md names {name}, which is not there"
    for name in other_than_the_tree(page, started):
        yield f"the actor {name} is in one of actors/src/ and the tree of docs/ARCHITECTURE.md, and not in the other"
    for name in PACKAGES:
        for parent, circle in Package(root, name).circles():
            yield f"{name}: modules of {parent} use each other: {', '.join(circle)}"
    for module, breach in Package(root, "domain").later_rooms():
        yield f"domain/src/{module}.rs {breach}"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()))
    for problem in found:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(1 if found else 0)
