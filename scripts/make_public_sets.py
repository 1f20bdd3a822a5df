#!/usr/bin/env python3
"""Makes retrieval sets from public repositories: for each set a corpus, queries with their right documents, and a notice.

Usage: make_public_sets.py DIRECTORY_OF_REPOSITORIES [TARGET_DIRECTORY] [NAME_OF_SET ...]

The directory of repositories holds a git repository for each entry of REPOSITORIES, bare or checked out. A repository
may be at OWNER/NAME or NAME. Files are read from the commit that is written here, never
from the work tree. The target directory is the one of this script when none is given.

Every query was written by the people who wrote the repository. The script only cuts, cleans and pairs. Where there is
more material than a set may hold, a hash of the text decides, so the same commits make the same files.
"""

import ast
import hashlib
import json
import re
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

SEED = "public-sets-1"
MOST_BYTES = 900_000
MOST_TEXT = 6000

# Repository: commit, licence, copyright line.
REPOSITORIES = {
    "ActiveState/code": ("e6378c55515c45eb8eab07ca64c59ddefba9bf94", "per recipe: MIT, PSF or BSD", "Copyright (c) the author of each recipe, named below, and ActiveState Software Inc."),
    "networkx/networkx": ("cfc6b79fc53f583aa15a79b2187ae30bd4f480ed", "BSD-3-Clause", "Copyright (c) 2004-2026, NetworkX Developers, Aric Hagberg, Dan Schult, Pieter Swart"),
    "TheAlgorithms/Python": ("f5988cc09713315817df6a7e327e258013a94440", "MIT", "Copyright (c) 2016-2022 TheAlgorithms and contributors"),
    "more-itertools/more-itertools": ("2fe1b2eeb9d75f994113fe3ac76d14b6bcd6fb10", "MIT", "Copyright (c) 2012 Erik Rose"),
    "mahmoud/boltons": ("967864f89791509f9eb36b22b4579d36b72a6df2", "BSD-3-Clause", "Copyright (c) 2013, Mahmoud Hashemi"),
    "pytoolz/toolz": ("568c2b8393973cd172a466546c9d95779c452438", "BSD-3-Clause", "Copyright (c) 2013 Matthew Rocklin"),
    "rust-lang/rfcs": ("354518a8c9025f40be6f730452c1bfe71a12dc22", "MIT OR Apache-2.0", "Copyright (c) The Rust Project Developers and the authors of each RFC"),
    "swiftlang/swift-evolution": ("0105e139a22938561c700cfbb89ddc3ebe402f0c", "Apache-2.0 with Runtime Library Exception", "Copyright (c) Apple Inc. and the Swift project authors"),
    "kubernetes/enhancements": ("64765b4b02389318f2113119dd9e491479f978a0", "Apache-2.0", "Copyright The Kubernetes Authors"),
    "exercism/problem-specifications": ("03f83310ed0547b902d211a05d23b3d74661df02", "MIT", "Copyright (c) 2014, 2019, 2021 Exercism"),
    "exercism/python": ("9eb657d4507d91efef99f484e7f2a1f4074911b5", "MIT", "Copyright (c) 2021 Exercism"),
    "exercism/rust": ("afe248a156c147bed54f08ed52d88e50d17b0e7b", "MIT", "Copyright (c) 2021 Exercism"),
    "openai/frontier-evals": ("51052cede8cc608f95bb00346635e03759013e5a", "MIT", "Copyright (c) 2025 (project/swelancer). The issues and patches are from github.com/Expensify/App, MIT, Copyright (c) 2020 Expensify Inc."),
    "web-arena-x/webarena": ("f62e0b99bc7d9e0cd996d0cf5ebb2225780ec279", "Apache-2.0", "Copyright the WebArena authors (Shuyan Zhou, Frank F. Xu and others)"),
    "web-arena-x/visualwebarena": ("89f5af29305c3d1e9f97ce4421462060a70c9a03", "MIT", "Copyright (c) 2024 Jing Yu Koh, Robert Lo, Lawrence Jang, Vikram Duvvur, Ming Chong Lim, and Po-Yu Huang"),
    "tldr-pages/tldr": ("08e345f42639f67d99282813247ac670dc6e87cb", "CC-BY-4.0", "Copyright (c) 2014-present the tldr-pages team and contributors"),
}


def order(*parts):
    """A number that looks random and depends only on the parts and the seed."""
    return hashlib.sha256("\0".join((SEED, *map(str, parts))).encode()).hexdigest()


def words(text):
    return len(text.split())


def plain(text):
    """The letters and digits of a text, in lower case, with single spaces: what texts are compared by."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


class Repository:
    def __init__(self, root, name):
        self.name, (self.commit, self.licence, self.copyright) = name, REPOSITORIES[name]
        owner, short = name.split("/")
        places = [root / owner / short, root / short]
        places = [git for place in places for git in (place / ".git", place)]
        self.git = next((git for git in places if (git / "HEAD").is_file() and (git / "objects").is_dir()), None)
        if self.git is None:
            raise SystemExit(f"There is no repository {name} in {root}.")

    def run(self, *arguments, given=None):
        done = subprocess.run(["git", f"--git-dir={self.git}", *arguments], input=given, capture_output=True)
        if done.returncode != 0 and given is None:
            raise SystemExit(f"{self.name}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def files(self, pattern, under=()):
        """The paths that the pattern matches and their texts, sorted by path."""
        listing = self.run("ls-tree", "-r", "-z", self.commit, *under).decode(errors="replace").split("\0")
        entries = [line.split("\t", 1) for line in listing if "\t" in line]
        entries = sorted((path, left.split()[2]) for left, path in entries if re.search(pattern, path))
        out = self.run("cat-file", "--batch", given="".join(hash_ + "\n" for _, hash_ in entries).encode())
        result, at = {}, 0
        for path, _ in entries:
            end = out.index(b"\n", at)
            head = out[at:end].split()
            if len(head) != 3:
                at = end + 1
                continue
            size = int(head[2])
            result[path] = out[end + 1 : end + 1 + size].decode(errors="replace").replace("\r\n", "\n")
            at = end + 1 + size + 1
        return result


def cut(text, chars):
    """The text up to the last paragraph, or else the last line, that ends within the number of characters."""
    text = text.strip()
    if len(text) <= chars:
        return text
    head = text[:chars]
    for mark in ("\n\n", "\n", " "):
        at = head.rfind(mark)
        if at > chars * 0.6:
            head = head[:at]
            break
    if head.count("```") % 2:
        head += "\n```"
    return head.strip()


def cut_words(text, most):
    """The text without the paragraphs that would bring it over the number of words."""
    kept, count = [], 0
    for paragraph in text.split("\n\n"):
        count += words(paragraph)
        if kept and count > most:
            break
        kept.append(paragraph)
    return "\n\n".join(kept).strip()


def shingles(text):
    tokens = re.findall(r"\w+", text.lower())
    return {" ".join(tokens[at : at + 5]) for at in range(max(1, len(tokens) - 4))}


def without_near_copies(documents, limit):
    """The documents without those that share most of their five-word runs with an earlier one, and who stands for whom."""
    kept, stands, holders, sizes = [], {}, defaultdict(list), {}
    for key, title, text in documents:
        own = shingles(text)
        shared = Counter(holder for shingle in own for holder in holders[shingle])
        twin = next((holder for holder, count in sorted(shared.items()) if count / (len(own) + sizes[holder] - count) > limit), None)
        stands[key] = key if twin is None else twin
        if twin is None:
            kept.append((key, title, text))
            sizes[key] = len(own)
            for shingle in own:
                holders[shingle].append(key)
    return kept, stands


class Set:
    """Documents and queries by their keys, before they are cut to size, numbered and written."""

    def __init__(self, name, made, documents, queries, repositories, most_documents=500, most_queries=200, query_words=(1, 10_000), extra="", near=0.9):
        self.name, self.made, self.repositories, self.extra = name, made, repositories, extra
        documents = sorted({key: (key, title, cut(text, MOST_TEXT)) for key, title, text in documents}.values(), key=lambda entry: order(name, entry[0]))
        documents, stands = without_near_copies(documents, near)
        texts = {key: plain(text) for key, _, text in documents}
        titles = {plain(title) for _, title, _ in documents}
        whole = set(texts.values())
        self.queries, seen = [], {}
        queries = sorted(queries, key=lambda entry: order(name, "query", entry[0]))
        # Only the first of long queries that are nearly one text stays, and the documents of all of them are right.
        long = [(at, "", text) for at, (text, _) in enumerate(queries) if words(text) >= 60]
        twins = without_near_copies(long, 0.6)[1]
        also = defaultdict(list)
        for at, first in twins.items():
            also[first] += queries[at][1]
        queries = [(text, gold + [key for key in also[at] if key not in gold]) for at, (text, gold) in enumerate(queries) if twins.get(at, at) == at]
        for text, gold in queries:
            bare, gold = plain(text), sorted({stands[key] for key in gold if key in stands})
            if not gold or not query_words[0] <= words(text) <= query_words[1] or bare in whole or bare in titles:
                continue
            if any(f" {bare} " in f" {texts[key]} " for key in gold):
                continue
            if bare in seen:
                twin = self.queries[seen[bare]]
                self.queries[seen[bare]] = (twin[0], sorted({*twin[1], *gold}))
                continue
            seen[bare] = len(self.queries)
            self.queries.append((text.strip(), gold))
        self.queries = self.queries[:most_queries]
        needed = {key for _, gold in self.queries for key in gold}
        spare = [entry for entry in documents if entry[0] not in needed]
        self.documents = [entry for entry in documents if entry[0] in needed] + spare[: max(0, most_documents - len(needed))]
        self.documents.sort(key=lambda entry: order(name, "place", entry[0]))

    def lines(self):
        number = {key: f"{self.name}-{at}" for at, (key, _, _) in enumerate(self.documents)}
        corpus = [{"id": number[key], "title": title, "text": text} for key, title, text in self.documents]
        queries = [{"id": f"q-{at}", "text": text, "gold": [number[key] for key in gold]} for at, (text, gold) in enumerate(self.queries)]
        return ["".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines) for lines in (corpus, queries)]

    def notice(self):
        parts = [f"{self.name}: {self.made}", "Made by make_public_sets.py, which cuts and cleans the texts, from:"]
        for repository in self.repositories:
            parts.append(f"- https://github.com/{repository.name}, commit {repository.commit}, licence {repository.licence}. {repository.copyright}")
        return "\n".join(parts) + "\n" + (self.extra(self) if callable(self.extra) else self.extra)

    def write(self, target):
        corpus, queries = self.lines()
        notice = self.notice()
        if len((corpus + queries + notice).encode()) > MOST_BYTES:
            # The last query goes first, with the documents that only it needs, until the set is small enough.
            while len((corpus + queries + notice).encode()) > MOST_BYTES:
                needed = {key for _, gold in self.queries for key in gold}
                spare = [entry for entry in self.documents if entry[0] not in needed]
                if len(spare) > len(self.documents) // 3:
                    self.documents.remove(max(spare, key=lambda entry: order(self.name, "drop", entry[0])))
                else:
                    _, gold = self.queries.pop()
                    needed = {key for _, other in self.queries for key in other}
                    self.documents = [entry for entry in self.documents if entry[0] in needed or entry[0] not in gold]
                corpus, queries = self.lines()
                notice = self.notice()
        folder = target / self.name
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in (("corpus.jsonl", corpus), ("queries.jsonl", queries), ("NOTICE", notice)):
            (folder / file).write_text(text, encoding="utf-8")
        size = sum(file.stat().st_size for file in folder.iterdir())
        middle = lambda texts: int(statistics.median(map(words, texts)))
        print(self.name, len(self.documents), "documents", len(self.queries), "queries",
              "median query words", middle([text for text, _ in self.queries]),
              "median document words", middle([text for _, _, text in self.documents]),
              "mean gold", round(statistics.mean(len(gold) for _, gold in self.queries), 2), "bytes", size)


# ---------------------------------------------------------------------------------------------- kind a: phrase to code


def telling_words(title):
    """The beginnings of the words of a heading that say what a recipe is about."""
    common = """a an the of in to for from and or with is by on at your my this that it as into another yet simple simplest easy easily useful
        example examples python pythonic implementation implementing implement recipe program utility using use version basic convenient fast faster
        quick quickly small simplified how do one way ways class function functions module script code tool hope i""".split()
    return {re.sub(r"(?:ings?|ers?|ies|es|ed|s|e|y)$", "", word) for word in plain(title).split() if word not in common}


def activestate(root):
    repository = Repository(root, "ActiveState/code")
    files = repository.files(r"^recipes/Python/[^/]+/(README\.md|LICENSE\.md|recipe-\d+\.py)$", ("recipes/Python/",))
    recipes = defaultdict(dict)
    for path, text in files.items():
        _, _, folder, file = path.split("/")
        recipes[folder][file.split("-")[0]] = text
    documents, queries, authors, by_author = [], [], {}, Counter()
    for folder in sorted(recipes, key=lambda folder: order("activestate", folder)):
        recipe = recipes[folder]
        if set(recipe) != {"README.md", "LICENSE.md", "recipe"}:
            continue
        licence = next((name for name, mark in (("MIT", "Permission is hereby granted, free of charge"), ("PSF", "Python Software Foundation"), ("BSD", "Redistribution and use in source")) if mark in recipe["LICENSE.md"]), None)
        heading = re.match(r"## (.+?)\s*\n", recipe["README.md"])
        author = re.search(r"^Author: (.+?)\s*$", recipe["README.md"], re.M)
        owner = re.match(r"Copyright (.+)", recipe["LICENSE.md"])
        code = recipe["recipe"].strip()
        if not licence or not heading or not author or "GNU General Public" in code or re.search(r"\bGPL\b", code):
            continue
        title = re.sub(r"\s*\(?\bPython recipe\b\)?|[.\s]+$", "", heading[1]).strip()
        names = {plain(name.replace("_", " ")).replace(" ", "") for name in re.findall(r"^\s*(?:def|class) (\w+)", code, re.M)}
        if not names or not 200 <= len(code) <= 2600 or not title.isascii() or not 2 <= words(title) <= 8 or plain(title).replace(" ", "") in names:
            continue
        by_author[author[1]] += 1
        if by_author[author[1]] > 8:
            continue
        # The heading is taken out of the code, where a comment or a docstring repeats it.
        code = "\n".join(line for line in code.splitlines() if plain(title) not in plain(line)).strip()
        number = re.match(r"\d+", folder)[0]
        documents.append((folder, f"recipe-{number}.py", code))
        queries.append((title, [folder]))
        authors[folder] = f"recipe-{number}: {licence}, Copyright {owner[1].strip() if owner else author[1]}"
    # A recipe whose heading has all the telling words of a query answers the query, too.
    telling = {folder: telling_words(title) for title, (folder,) in queries}
    queries = [(title, [other for other in telling if telling[folder] == telling[other] or len(telling[folder]) > 1 and telling[folder] < telling[other]]) for title, (folder,) in queries if telling[folder]]
    queries = [(title, gold) for title, gold in queries if len(gold) <= 5]
    extra = lambda made: "Licences and authors:\n" + "\n".join(sorted(authors[key] for key, _, _ in made.documents)) + "\n"
    return Set("python-recipes", "The query is the heading of a Python recipe, the document is the code of the recipe, without lines that repeat the heading.",
               documents, queries, [repository], most_documents=450, most_queries=220, query_words=(2, 8), extra=extra)


def functions(repository, pattern, skip, prefix=""):
    """The documented functions of some length: each with its path, its name, the first sentence of its docstring, and
    its code without the docstring."""
    for path, source in repository.files(pattern).items():
        if re.search(skip, path):
            continue
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        lines = source.splitlines()
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef) or not ast.get_docstring(node) or len(node.body) < 2:
                continue
            if node.name.startswith("__") or node.name.startswith("test"):
                continue
            sentence = re.split(r"\n\s*\n|\n\s*(?=>>>|:(?:param|type|return|rtype|arg)|@)", ast.get_docstring(node).strip())[0]
            sentence = re.split(r"(?<=[a-z`)*])\.(?:\s|$)", sentence.replace("\n", " "))[0]
            sentence = re.sub(r":\w+:`~?([^`]*)`", r"\1", sentence)
            sentence = re.sub(r"[`*]|\s+$", "", re.sub(r"\s+", " ", sentence)).strip(" .:")
            first = node.body[0]
            code = lines[node.lineno - 1 : first.lineno - 1] + lines[first.end_lineno : node.end_lineno]
            indent = len(code[0]) - len(code[0].lstrip())
            code = "\n".join(line[indent:] if not line[:indent].strip() else line for line in code)
            code = re.sub(r"\n\s*\n(\s*\n)+", "\n\n", code).strip()
            yield path, node.name, sentence, code


def name_is_phrase(name, sentence):
    """Tells whether the phrase says no more than the name of the function does."""
    small = {"a", "an", "the", "of", "in", "to", "for", "from", "and", "or", "with", "is", "by", "on", "if", "return", "returns", "it", "as"}
    stem = lambda word: re.sub(r"(?:ing|es|ed|s|e)$", "", word)
    told = {stem(word) for word in plain(sentence).split()} - {stem(word) for word in small}
    named = {stem(word) for word in plain(re.sub(r"([a-z])([A-Z])", r"\1 \2", name).replace("_", " ")).split()}
    return told <= named


# Beginnings of sentences that do not say what the function is for.
EMPTY_PHRASES = r"take in|input|return f\(|helper|this (method|function|is)|divide and conquer approach$|like |same as |see |pure implementation|for |it "


def phrases(name, made, repositories, sources, most_of_a_file, **limits):
    documents, queries, names = [], [], set()
    for repository, pattern, skip in sources:
        found = defaultdict(list)
        for path, function, sentence, code in functions(repository, pattern, skip):
            if 120 <= len(code) <= 4000 and code.count("\n") >= 3 and sentence.isascii():
                found[path].append((function, sentence, code))
        # Functions of one name mostly do one thing, so that a phrase would fit them all: only one of them is kept.
        for path, entries in sorted(found.items(), key=lambda entry: order(name, entry[0])):
            entries = [entry for entry in sorted(entries, key=lambda entry: order(name, path, entry[0], entry[2])) if entry[0].strip("_") not in names]
            for function, sentence, code in entries[:most_of_a_file]:
                if function.strip("_") in names:
                    continue
                names.add(function.strip("_"))
                key = f"{repository.name}/{path}:{function}"
                documents.append((key, path, code))
                asked = 2 <= words(sentence) <= 8 and not function.startswith("_") and not re.search(r"[=<>\[\]{}|\\:]|--", sentence)
                if asked and not name_is_phrase(function, sentence) and not re.match(r"main|bench|time|print|sample|solution|build_tree|make_tree|test", function) and not re.match(EMPTY_PHRASES, sentence.lower()):
                    queries.append((sentence, [key]))
    return Set(name, made, documents, queries, repositories, query_words=(2, 8), **limits)


def graph_functions(root):
    repository = Repository(root, "networkx/networkx")
    return phrases("graph-functions", "The query is the first line of a function's docstring, the document is the function without its docstring.",
                   [repository], [(repository, r"^networkx/.*\.py$", r"tests/|conftest|__init__")], 6, most_documents=450, most_queries=220)


def python_helpers(root):
    pack = [Repository(root, name) for name in ("TheAlgorithms/Python", "more-itertools/more-itertools", "mahmoud/boltons", "pytoolz/toolz")]
    sources = [(pack[0], r"\.py$", r"^(scripts|project_euler)/|test"), (pack[1], r"^more_itertools/\w+\.py$", r"test"),
               (pack[2], r"^boltons/\w+\.py$", r"test"), (pack[3], r"^toolz/.*\.py$", r"test|compat|_version")]
    return phrases("python-helpers", "The query is the first sentence of a function's docstring, the document is the function without its docstring.",
                   pack, sources, 8, most_documents=500, most_queries=220)


# ------------------------------------------------------------------------------- kind b: long problem text to its answer


def sections(text, level=2):
    """The sections of a Markdown text under headings of at most this level, by their headings in lower case."""
    result, heading, fenced = defaultdict(list), "", False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        found = None if fenced else re.match(r"(#{1,6})\s+(.+?)\s*#*\s*$", line)
        if found and len(found[1]) <= level:
            heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found[2]).strip().lower()
        else:
            result[heading].append(line)
    return {heading: "\n".join(lines).strip() for heading, lines in result.items()}


def prose(text):
    """A Markdown text without comments, link targets, anchors and pictures."""
    text = re.sub(r"<!--.*?-->|<a\s[^>]*>|</a>", "", text, flags=re.S)
    text = re.sub(r"^\[[^\]]+\]:\s*\S.*$", "", text, flags=re.M)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\((?:[^()]|\([^)]*\))*\)", r"\1", text)
    text = re.sub(r"\[([^\]]*)\]\[[^\]]*\]", r"\1", text)
    text = re.sub(r"https?://\S+", "", text)
    text = re.sub(r"^[ \t]*[-*+][ \t]*$\n?", "", text, flags=re.M)
    return re.sub(r"\n\s*\n(\s*\n)+", "\n\n", text).strip()


def without_stories(text):
    """A section without its parts that tell who wants the change and what may go wrong, for these repeat the motivation."""
    kept, dropping = [], 0
    for line in text.splitlines():
        found = re.match(r"(#{3,6})\s+(.+)", line)
        if found and (not dropping or len(found[1]) <= dropping):
            dropping = len(found[1]) if re.match(r"user stor|stor(y|ies)\b|risks|notes/constraints|motivation|goals|non-goals", found[2].lower()) else 0
        if not dropping:
            kept.append(line)
    return "\n".join(kept)


def proposals(name, made, repository, texts, problem, answers, title, document_chars, most_documents, most_queries):
    documents, queries = [], []
    for path, text in texts:
        parts = sections(text)
        heading = prose(title(path, text))
        told = [prose(without_stories(parts.get(key, ""))) for key in answers]
        answer = next((part for part in told if words(part) >= 80), None)
        asked = prose(next((parts[key] for key in problem if parts.get(key)), ""))
        if not answer or not heading:
            continue
        documents.append((path, heading, cut(answer, document_chars)))
        asked = cut_words(asked, 800)
        if 200 <= words(asked) <= 800:
            queries.append((asked, [path]))
    return Set(name, made, documents, queries, [repository], most_documents=most_documents, most_queries=most_queries, query_words=(200, 800))


def rfc(root):
    repository = Repository(root, "rust-lang/rfcs")
    # RFC 2044 put later contributions under MIT OR Apache-2.0, so only RFCs with a higher number are read.
    texts = [(path, text) for path, text in repository.files(r"^text/\d{4}-[^/]+\.md$").items() if int(path[5:9]) > 2044]
    title = lambda path, text: path[10:-3].replace("-", " ").replace("_", " ")
    # Old RFCs use headings of the first level, where new ones use the second.
    return proposals("rfc-motivations", "The query is the motivation section of a Rust RFC, the document is its guide-level explanation or design, cut to 2,800 characters.",
                     repository, texts, ("motivation",), ("guide-level explanation", "detailed design", "explanation", "proposal", "reference-level explanation"), title, 2800, 230, 110)


def swift(root):
    repository = Repository(root, "swiftlang/swift-evolution")
    texts = repository.files(r"^proposals/(testing/)?[^/]*\d{4}-[^/]+\.md$").items()
    title = lambda path, text: next(iter(re.findall(r"^# (.+?)\s*$", text, re.M)), "").replace("`", "")
    return proposals("swift-motivations", "The query is the motivation section of a Swift evolution proposal, the document is its proposed solution, cut to 2,800 characters.",
                     repository, texts, ("motivation",), ("proposed solution", "proposed approach", "proposal", "detailed design"), title, 2800, 240, 110)


def kep(root):
    repository = Repository(root, "kubernetes/enhancements")
    texts = repository.files(r"^keps/sig-[^/]+/.+/README\.md$", ("keps/",)).items()
    title = lambda path, text: re.sub(r"^KEP[- ]?\d*\s*[:-]?\s*|`", "", next(iter(re.findall(r"^# (.+?)\s*$", text, re.M)), "")).strip()
    return proposals("kep-motivations", "The query is the motivation section of a Kubernetes enhancement proposal with its goals, the document is its proposal or design section, cut to 2,800 characters.",
                     repository, texts, ("motivation",), ("proposal", "design details"), title, 2800, 240, 110)


# -------------------------------------------------------------------------------- kind c: long task description to solution


def exercises(root):
    pack = [Repository(root, name) for name in ("exercism/problem-specifications", "exercism/python", "exercism/rust")]
    tasks = pack[0].files(r"^exercises/[^/]+/(description|instructions|introduction|\.deprecated)(\.md)?$")
    python = pack[1].files(r"^exercises/(practice/[^/]+/\.meta/example\.py|concept/[^/]+/(\.meta/exemplar\.py|\.docs/instructions\.md))$")
    rust = pack[2].files(r"^exercises/(practice/[^/]+/\.meta/example\.rs|concept/[^/]+/\.meta/exemplar\.rs)$")
    documents, by_slug = [], defaultdict(list)
    for ending, files in (("py", python), ("rs", rust)):
        for path, text in files.items():
            slug = path.split("/")[2]
            if path.endswith("." + ending) and len(text) >= 120:
                documents.append((path, f"{slug.replace('-', '_')}.{ending}", cut(text, 4000)))
                by_slug[slug].append(path)
    queries = []
    for slug, gold in sorted(by_slug.items()):
        told = [tasks.get(f"exercises/{slug}/{part}.md", "") for part in ("introduction", "description", "instructions")]
        told = [*told, python.get(f"exercises/concept/{slug}/.docs/instructions.md", "")]
        told = "\n\n".join(re.sub(r"\A\s*# .*\n", "", part).strip() for part in told if part)
        queries.append((cut_words(prose(told), 800), gold))
    return Set("exercise-tasks", "The query is the description of an Exercism exercise, the documents are its example solutions in Python and in Rust, all right.",
               documents, queries, pack, most_documents=400, most_queries=200, query_words=(100, 800))


def issues(root):
    repository = Repository(root, "openai/frontier-evals")
    files = repository.files(r"^project/swelancer/issues/[^/]+/(issue_data\.json|bug_reintroduce\.patch)$", ("project/swelancer/issues/",))
    documents, queries = [], []
    for path in sorted(path for path in files if path.endswith("issue_data.json")):
        issue, folder = json.loads(files[path]), path.rsplit("/", 1)[0]
        body = re.sub(r"<!--.*?-->|<details>.*?</details>|</?\w+[^>]*>", "", issue["html_description"].replace("\r", ""), flags=re.S)
        dropped = r"If you haven|\[?View all open jobs|_{3,}|.*(?:Slack conversation|Issue reported by|Email or phone|Issue URL|Logs|Commit Link)\b.*:|.*@[\w.-]+"
        body = "\n".join(line for line in body.splitlines() if not re.match(dropped, line.strip()))
        title = re.sub(r"^(?:\s*\[[^\]]*\])+\s*", "", issue["title"]).strip()
        asked = cut_words(f"{title}\n\n{prose(body)}", 800)
        # The patch brings the fault back, so its lines are turned round to have the fix.
        fix = [re.sub(r"^[-+]", lambda sign: "+" if sign[0] == "-" else "-", line) for line in files.get(f"{folder}/bug_reintroduce.patch", "").strip().splitlines()
               if not re.match(r"index |--- |\+\+\+ |similarity|old mode|new mode", line)]
        fix = [re.sub(r"^(new|deleted) file mode.*", lambda found: {"new": "deleted file", "deleted": "new file"}[found[1]], line) for line in fix]
        fix = [re.sub(r"^@@ -(\S+) \+(\S+) @@", r"@@ -\2 +\1 @@", line) for line in fix]
        fix = [re.sub(r"^diff --git a/(\S+) b/\S+", r"\1", line) for line in fix]
        pieces, start = [], 0
        for at, line in enumerate(fix[1:], 1):
            if line[:1] not in ("+", "-", " ", "@", "\\") and re.fullmatch(r"[\w./@ -]+\.\w+", line):
                pieces.append("\n".join(fix[start:at]))
                start = at
        pieces.append("\n".join(fix[start:]))
        # Files that the fix only takes away, and patches that were left in the tree, say nothing of the fix.
        pieces = [piece for piece in pieces if not re.match(r"\S*\.(patch|orig|lock|npmrc|gitignore)\n|\S+\ndeleted file", piece)] or pieces
        # A long fix is packed into parts of whole files, of which the three longest are kept. All of them are right.
        parts = []
        for piece in pieces:
            piece = cut(piece, 5000)
            if parts and len(parts[-1]) + len(piece) < 5000:
                parts[-1] += "\n" + piece
            else:
                parts.append(piece)
        parts = sorted((part for part in parts if len(re.findall(r"^[+-]", part, re.M)) >= 2), key=len, reverse=True)[:3]
        gold = []
        for at, part in enumerate(parts):
            gold.append(f"{folder}:{at}")
            documents.append((gold[-1], part.split("\n", 1)[0].rsplit("/", 1)[-1], part))
        queries.append((asked, gold))
    return Set("issue-fixes", "The query is an issue of the Expensify app as it was given to a paid contributor, the document is the change that fixed it (a patch of the SWE-Lancer tasks, turned round); the parts of a long change are all right.",
               documents, queries, [repository], most_documents=400, most_queries=200, query_words=(100, 800))


# ------------------------------------------------------------------------------ kind d: short task to its like or its steps


def told_answer(task):
    check = task["eval"]
    parts = []
    for answers in (check.get("reference_answers") or {}).values():
        for answer in answers if isinstance(answers, list) else [answers]:
            parts.append(str(answer))
    if check.get("reference_url"):
        parts.append(check["reference_url"])
    for page in check.get("program_html") or []:
        wanted = (page.get("required_contents") or {}).values()
        wanted = ["; ".join(map(str, value)) if isinstance(value, list) else str(value) for value in wanted]
        parts.append(f"{page.get('url', '')} {' '.join(wanted)}".strip())
    text = "; ".join(part for part in parts if part and part != "N/A")
    return re.sub(r"\s+", " ", re.sub(r"func:\S+|__page__|__last_url__", "", text)).strip()[:600]


def templates(name, made, repository, tasks, most_of_a_template, most_queries=220):
    """A task of every template is a query or, where the template has many, two; up to some others are the documents."""
    groups = defaultdict(dict)
    for site, task in tasks:
        # Templates that differ only in the names of their places are one template.
        template = plain(re.sub(r"\{\{.*?\}\}", "", task["intent_template"]))
        groups[template].setdefault(plain(task["intent"]), (site, task))
    documents, queries = [], []
    for template in sorted(groups, key=lambda template: order(name, template)):
        entries = sorted(groups[template].items(), key=lambda entry: order(name, entry[0]))
        asked = entries[: (0, 0, 1, 1, 1, 2)[min(len(entries), 5)]]
        gold = []
        for bare, (site, task) in entries[len(asked) :][:most_of_a_template]:
            key = f"{template}:{bare}"
            gold.append(key)
            answer = told_answer(task)
            start = re.sub(r"__(\w+)__", lambda found: found[1].lower(), task["start_url"].split(" |AND| ")[0])
            documents.append((key, site.replace("_", " "), f"Task: {task['intent']}\nStart: {start}" + (f"\nExpected: {re.sub(r'__([A-Z_]+)__', lambda found: found[1].lower(), answer)}" if answer else "")))
        # A template that is nearly all places says too little of what its tasks have in common.
        queries += [(task["intent"], gold) for _, (_, task) in asked if words(template) >= max(4, 0.5 * words(task["intent"]))]
    # Tasks of one template are alike on purpose, so only equal texts are taken for copies.
    return Set(name, made, documents, queries, [repository], most_documents=550, most_queries=most_queries, query_words=(4, 40), near=0.97)


def webarena(root):
    repository = Repository(root, "web-arena-x/webarena")
    tasks = json.loads(repository.files(r"^config_files/test\.raw\.json$")["config_files/test.raw.json"])
    tasks = [(" and ".join(task["sites"]), task) for task in tasks]
    return templates("web-tasks", "The query is a WebArena task, the documents are other tasks of the same template with what is expected of them.", repository, tasks, 3)


def visualwebarena(root):
    repository = Repository(root, "web-arena-x/visualwebarena")
    tasks = []
    for path, text in repository.files(r"^config_files/vwa/test_\w+\.raw\.json$").items():
        tasks += [(" and ".join(task["sites"]), task) for task in json.loads(text)]
    return templates("visual-web-tasks", "The query is a VisualWebArena task, the documents are other tasks of the same template with what is expected of them.", repository, tasks, 3)


def commands(root):
    repository = Repository(root, "tldr-pages/tldr")
    bare = lambda text: re.sub(r"\[(\w+)\]", r"\1", text).rstrip(":").strip()
    pages, seen = {}, Counter()
    for path, text in repository.files(r"^pages/(common|linux|osx|windows)/[^/]+\.md$", ("pages/",)).items():
        name = re.match(r"# (.+)", text)
        about = [line[2:] for line in re.findall(r"^> .*$", text, re.M) if not re.match(r"> (More information|See also|Note:)", line)]
        steps = [(bare(told), command) for told, command in re.findall(r"^- (.+?):?\s*\n\n`(.+)`\s*$", text, re.M)]
        seen.update(plain(told) for told, _ in steps)
        if name and len(steps) >= 4:
            pages[path] = (name[1].strip(), about, steps)
    documents, queries = [], []
    for path in sorted(pages, key=lambda path: order("commands", path))[:560]:
        name, about, steps = pages[path]
        # An option of many commands, such as a dry run, does not say which page is meant.
        common = r"dry.run|without (actually )?(making|performing|execut)|would (do|have|be)|verbos|more detail|help\b|version|simulate|selected|config(uration)? file"
        fit = [told for told, _ in steps if not re.search(common, told.lower()) and 7 <= words(told) <= 25 and seen[plain(told)] == 1 and "`" not in told and plain(name) not in plain(told)]
        asked = min(fit, key=lambda told: order("commands", path, told), default=None)
        lines = [f"{told}:\n{command}" if told != asked else command for told, command in steps]
        documents.append((path, name, "\n".join(about) + "\n\n" + "\n\n".join(lines)))
        if asked:
            queries.append((asked, [path]))
    return Set("command-tasks", "The query is what one example of a tldr page does, the document is the page with the command of the example but without these words.",
               documents, queries, [repository], most_documents=550, most_queries=230, query_words=(5, 25))


SETS = (activestate, graph_functions, python_helpers, rfc, swift, kep, exercises, issues, webarena, visualwebarena, commands)

if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).resolve().parent
    for make in SETS:
        if len(sys.argv) < 4 or make.__name__ in sys.argv[3:]:
            make(Path(sys.argv[1])).write(target)
