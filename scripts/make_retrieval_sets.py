#!/usr/bin/env python3
"""Makes the retrieval sets module-docs and test-bodies of tests/data/retrieval from the sources of crates.

Usage: scripts/make_retrieval_sets.py [DIRECTORY OF THE REPOSITORY]

It reads the sources that `cargo fetch` has put into the registry directory of cargo, and only crates whose licence is
MIT or Apache-2.0, nothing else beside it. The same sources make the same files.
"""

import hashlib
import json
import os
import re
import sys
from pathlib import Path

LICENCES = ("MIT", "Apache-2.0")
MOST_DOCUMENTS = 330
MOST_OF_A_CRATE = 12
TEXT_CHARS = (120, 900)


def crates():
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    for registry in sorted(home.glob("registry/src/*")):
        for crate in sorted(registry.iterdir()):
            manifest = crate / "Cargo.toml"
            found = re.search(r'^license = "([^"]+)"', manifest.read_text(errors="replace"), re.M) if manifest.exists() else None
            if found and all(any(licence in part for licence in LICENCES) for part in found[1].split(" AND ")):
                yield crate, crate.name.rsplit("-", 1)[0], found[1]


def plain(text):
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\[([^\]]*)\]\[[^\]]*\]", r"\1", text)
    text = re.sub(r"\(?\[?#\d+\]?\)?|https?://\S+", "", text)
    return re.sub(r"[ \t]+", " ", text).strip()


def split_sentence(text):
    """The first sentence and the rest, or nothing where there are not both."""
    found = re.match(r"(.{25,240}?[a-z`)][.!?])\s+(?=[A-Z`])(.*)", text, re.S)
    return (found[1].replace("\n", " "), found[2].strip()) if found else None


def module_docs(crate):
    for source in sorted(crate.glob("src/**/*.rs")):
        lines = source.read_text(errors="replace").splitlines()
        doc = []
        for line in lines[:80]:
            if line.startswith("//!"):
                doc.append(line[3:].removeprefix(" "))
            elif doc:
                break
        text = re.sub(r"```.*?```", "", "\n".join(doc), flags=re.S)
        text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        module = "::".join(part for part in source.relative_to(crate / "src").with_suffix("").parts if part not in ("mod", "lib"))
        yield "::" + module if module else "", re.sub(r"\n(?!\n)", " ", plain(text)).strip()


def test_bodies(crate):
    for source in sorted(crate.glob("src/**/*.rs")) + sorted(crate.glob("tests/*.rs")):
        text = source.read_text(errors="replace")
        for found in re.finditer(r"#\[(?:tokio::)?test\]\n(\s*)(?:async )?fn (\w+)\(\) \{\n(.*?)\n\1\}", text, re.S):
            words = [word for word in found[2].split("_") if word and word != "test"]
            if len(words) >= 4 and sum(map(len, words)) >= 18:
                yield "", (" ".join(words), re.sub(r"\n" + found[1], "\n", found[3]).strip())


def make(name, pieces, directory):
    documents, notices, seen = [], {}, set()
    for crate, crate_name, licence in crates():
        own = []
        for title, piece in pieces(crate):
            split = piece if isinstance(piece, tuple) else split_sentence(piece)
            if not split:
                continue
            query, text = split[0], split[1][: TEXT_CHARS[1]]
            if len(text) < TEXT_CHARS[0] or query in seen or text in seen or not query.isascii() or not text.isascii():
                continue
            seen.update((query, text))
            own.append((hashlib.sha256(query.encode()).hexdigest(), crate_name + title, query, text))
        for entry in sorted(own)[:MOST_OF_A_CRATE]:
            documents.append(entry)
            notices[crate.name] = licence
    documents = sorted(documents)[:MOST_DOCUMENTS]
    used = {title.split("::")[0] for _, title, _, _ in documents}
    target = directory / name
    target.mkdir(parents=True, exist_ok=True)
    with open(target / "corpus.jsonl", "w") as corpus, open(target / "queries.jsonl", "w") as queries:
        for number, (_, title, query, text) in enumerate(documents):
            corpus.write(json.dumps({"id": f"{name}-{number}", "title": title, "text": text}) + "\n")
            queries.write(json.dumps({"id": f"q-{number}", "text": query, "gold": [f"{name}-{number}"]}) + "\n")
    with open(target / "NOTICE", "w") as notice:
        notice.write("Made by scripts/make_retrieval_sets.py from the sources of these crates:\n\n")
        for crate, licence in sorted(notices.items()):
            if crate.rsplit("-", 1)[0] in used:
                notice.write(f"{crate}: {licence}\n")
    print(name, len(documents), sum(file.stat().st_size for file in target.iterdir()))


if __name__ == "__main__":
    data = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "tests/data/retrieval"
    make("module-docs", module_docs, data)
    make("test-bodies", test_bodies, data)
