#!/usr/bin/env python3
"""Makes packages of one binary: a tarball, a Debian package and a Python wheel, with SHA256SUMS beside them.

Each carries the binary, the library of ONNX Runtime where its binary finds it, manual pages, completions and the
documents. The same binary gives the same bytes: names are in order, and times are those of SOURCE_DATE_EPOCH.

    scripts/package.py BINARY DIRECTORY [--onnxruntime DIRECTORY]

BINARY is stripped first. The directory of ONNX Runtime is one into which pip installed its package; without it the
packages carry no library, and tract runs the embedding model.
"""

import argparse
import base64
import gzip
import hashlib
import io
import os
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "reasoning-bank"
SUMMARY = "A memory that makes LLM agents better with use"
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
# A zip file knows no time before 1980.
EPOCH = max(int(os.environ.get("SOURCE_DATE_EPOCH", "1767225600")), 315532800)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("binary", type=Path)
    arguments.add_argument("directory", type=Path)
    arguments.add_argument("--onnxruntime", type=Path)
    given = arguments.parse_args()
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    machine = platform.machine()
    given.directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        files = installed_files(given.binary, given.onnxruntime, Path(work))
    glibc = needed_glibc(content for path, (content, _) in files.items() if "/man/" not in path)
    made = [
        tarball(files, given.directory, f"{NAME}-{version}-{machine}-linux-gnu"),
        debian(files, given.directory, version, DEBIAN[machine], glibc),
        wheel(files, given.directory, version, machine, glibc),
    ]
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made)
    (given.directory / "SHA256SUMS").write_text(sums)
    for path in made:
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB, needs glibc {'.'.join(map(str, glibc))}")


def installed_files(binary: Path, onnxruntime: Path | None, work: Path) -> dict[str, tuple[bytes, int]]:
    """Returns what is installed below a prefix: the content and the mode of each path."""
    stripped = work / NAME
    subprocess.run(["strip", "-o", stripped, binary], check=True)
    run = lambda *words: subprocess.run([stripped, *words], check=True, capture_output=True).stdout
    files = {f"bin/{NAME}": (stripped.read_bytes(), 0o755)}
    run("man", work / "man")
    for page in (work / "man").iterdir():
        files[f"share/man/man1/{page.name}.gz"] = (gzip.compress(page.read_bytes(), mtime=EPOCH), 0o644)
    completions = {
        "bash": f"share/bash-completion/completions/{NAME}",
        "zsh": f"share/zsh/site-functions/_{NAME}",
        "fish": f"share/fish/vendor_completions.d/{NAME}.fish",
    }
    for shell, path in completions.items():
        files[path] = (run("completions", shell), 0o644)
    documents = {"README.md": "", "CHANGELOG.md": "", "LICENSE": "", "config/default.toml": "examples/",
                 "deploy/reasoning-bank.service": "examples/"}
    for path, folder in documents.items():
        source = ROOT / path
        files[f"share/doc/{NAME}/{folder}{source.name}"] = (source.read_bytes(), 0o644)
    if onnxruntime:
        library = next(onnxruntime.rglob("libonnxruntime.so*"), None)
        if not library:
            sys.exit(f"error: there is no libonnxruntime.so below {onnxruntime}")
        files[f"lib/{NAME}/libonnxruntime.so"] = (library.read_bytes(), 0o644)
        for notice in ["LICENSE", "ThirdPartyNotices.txt"]:
            text = next(onnxruntime.glob(f"*/{notice}")).read_bytes()
            files[f"share/doc/{NAME}/onnxruntime/{notice}"] = (text, 0o644)
    return dict(sorted(files.items()))


def needed_glibc(contents) -> tuple[int, int]:
    """Returns the oldest glibc that has all that the programs ask of it."""
    asked = {match for content in contents if content.startswith(b"\x7fELF") for match in
             re.findall(rb"GLIBC_(\d+)\.(\d+)", content)}
    return max(((int(major), int(minor)) for major, minor in asked), default=(2, 17))


def archive(files: dict[str, tuple[bytes, int]], top: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        folders = {str(parent) for path in files for parent in Path(top, path).parents}
        for folder in sorted(folders - {".", "/"}):
            entry = tarfile.TarInfo(folder + "/")
            entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, 0o755, EPOCH
            tar.addfile(entry)
        for path, (content, mode) in files.items():
            entry = tarfile.TarInfo(str(Path(top, path)))
            entry.size, entry.mode, entry.mtime = len(content), mode, EPOCH
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def tarball(files: dict[str, tuple[bytes, int]], directory: Path, name: str) -> Path:
    path = directory / f"{name}.tar.gz"
    path.write_bytes(gzip.compress(archive(files, name), compresslevel=6, mtime=EPOCH))
    return path


def debian(files: dict[str, tuple[bytes, int]], directory: Path, version: str, architecture: str,
           glibc: tuple[int, int]) -> Path:
    path = directory / f"{NAME}_{version}_{architecture}.deb"
    size = sum(len(content) for content, _ in files.values()) // 1024
    # ONNX Runtime is written in C++, and calls of models go over TLS.
    needs = f"libc6 (>= {glibc[0]}.{glibc[1]}), libstdc++6, ca-certificates"
    control = (
        f"Package: {NAME}\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: The authors of ReasoningBank\n"
        f"Installed-Size: {size}\nDepends: {needs}\nRecommends: git\nSection: utils\nPriority: optional\n"
        f"Description: {SUMMARY}\n An agent asks it before a task what was learned, and reports how things went.\n"
    )
    moved = {f"usr/{name}".replace("zsh/site-functions", "zsh/vendor-completions"): file for name, file in files.items()}
    sums = "".join(f"{hashlib.md5(content).hexdigest()}  {name}\n" for name, (content, _) in moved.items())
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", gzip.compress(
            archive({"control": (control.encode(), 0o644), "md5sums": (sums.encode(), 0o644)}, "."), mtime=EPOCH)),
        ("data.tar.gz", gzip.compress(archive(moved, "."), compresslevel=6, mtime=EPOCH)),
    ]
    packed = b"!<arch>\n"
    for name, content in members:
        packed += f"{name:<16}{EPOCH:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode()
        packed += content + b"\n" * (len(content) % 2)
    path.write_bytes(packed)
    return path


def wheel(files: dict[str, tuple[bytes, int]], directory: Path, version: str, machine: str,
          glibc: tuple[int, int]) -> Path:
    package = NAME.replace("-", "_")
    tag = f"py3-none-manylinux_{glibc[0]}_{glibc[1]}_{machine}"
    path = directory / f"{package}-{version}-{tag}.whl"
    data, about = f"{package}-{version}.data", f"{package}-{version}.dist-info"
    # Files in `scripts` are put beside the interpreter, and files in `data` below its prefix.
    moved = {f"{data}/scripts/{NAME}" if name == f"bin/{NAME}" else f"{data}/data/{name}": file
             for name, file in files.items()}
    metadata = (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\nSummary: {SUMMARY}\n"
                "License: Apache-2.0\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n")
    moved[f"{about}/METADATA"] = (metadata.encode() + (ROOT / "README.md").read_bytes(), 0o644)
    described = f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\nTag: {tag}\n"
    moved[f"{about}/WHEEL"] = (described.encode(), 0o644)
    digest = lambda content: base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, (content, _) in moved.items())
    moved[f"{about}/RECORD"] = (f"{record}{about}/RECORD,,\n".encode(), 0o644)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
        for name, (content, mode) in moved.items():
            entry = zipfile.ZipInfo(name, date_time=time.gmtime(EPOCH)[:6])
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            packed.writestr(entry, content)
    return path


if __name__ == "__main__":
    main()
