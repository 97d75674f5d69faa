"""Run what this machine can, and name what it cannot: ``make everywhere``.

    python scripts/everywhere.py [ROW ...]        # all rows, or some: "c-*" clang arm64
    python scripts/everywhere.py --list

A row builds the package, or its headers, for another compiler, interpreter, processor or system,
and compares what it computes with what the checkout computes here: `kept`, or `DIFFERS`. What the
machine lacks is `not run`, with the command that installs it, and no failure. Copies of the tree
stay in out/everywhere, so that a second run compiles only what has changed. Status 1 where a row
differs. PYTHONS names further interpreters, separated by spaces; KINDS some kinds of models, so
that a row which is slow can be run in parts.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import glob
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out" / "everywhere"
CORE_LAWS = [
    "tests/unit/core",
    *(
        f"tests/laws/test_{name}.py"
        for name in ("weights", "decode", "decoding_forms", "packing", "model_rows", "buffers")
    ),
]
KINDS = os.environ.get("KINDS", "").split()
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
SELFTEST = ROOT / "tests" / "unit" / "core" / "selftest"
# Optimizations of whole programs, and instructions that fuse products with sums.
FORMS = {"": "", "-O0": "-O0", "-native": "-march=native", "-lto": "-flto"}
COMPILERS = [
    "gcc",
    *(f"gcc-{n}" for n in range(12, 17)),
    "clang",
    *(f"clang-{n}" for n in range(15, 23)),
]


LIBRARIES = [
    "libpython3-dev",
    *(f"python3-{name}" for name in ("numpy", "pytest", "hypothesis", "xxhash")),
]
# The Python of Debian's next release, and what builds and runs the suite there.
NEXT_PYTHON, NEXT_GCC = "3.14", "gcc-14"
NEXT = [
    *(f"python{NEXT_PYTHON}-venv", f"libpython{NEXT_PYTHON}-dev", NEXT_GCC, "libc6-dev", "make"),
    *(
        "bash",
        "coreutils",
        "dash",
        "diffutils",
        "findutils",
        "git",
        "grep",
        "gzip",
        "mawk",
        "sed",
        "tar",
    ),
]


class Missing(Exception):
    """The machine lacks something; the text says how it is installed."""


class Differs(Exception):
    """Something else was computed than here, or nothing; the text says what."""


class Row(NamedTuple):
    name: str
    about: str
    check: Callable[[], str]


class Processor(NamedTuple):
    """A processor that is emulated: Debian's name, GCC's and QEMU's."""

    debian: str
    triplet: str
    qemu: str


PROCESSORS = [
    Processor("arm64", "aarch64-linux-gnu", "qemu-aarch64-static"),
    Processor("s390x", "s390x-linux-gnu", "qemu-s390x-static"),
]


def run(
    *command: str | Path, folder: Path = ROOT, env: Mapping[str, str] | None = None, what: str = ""
) -> str:
    """Return what a program prints on standard output.

    Raises
    ------
    Differs : it failed; the end of what it said
    """
    cleaned = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env={**cleaned, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        said = f"{done.stdout}\n{done.stderr}".strip()
        (OUT / "failed.txt").write_text(f"{command}\n{said}\n", "utf-8")
        last = said.splitlines()[-1] if said else ""
        raise Differs(f"{what or command[0]}: status {done.returncode}: {last[-300:]}")
    return done.stdout


def program(install: str, *names: str) -> list[str]:
    """The paths of programs, all of which are needed.

    Raises
    ------
    Missing : one is not there
    """
    paths = [shutil.which(name) for name in names]
    if None in paths:
        raise Missing(install)
    return [path for path in paths if path]


def cached(compiler: str) -> str:
    """The command of a compiler, by way of ccache where it is there."""
    return f"ccache {compiler}" if shutil.which("ccache") else compiler


def copied(name: str) -> Path:
    """A copy of the checkout, with Cython's C where it is fresh; only what has changed is new."""
    tree = OUT / name / "tree"
    files = run("git", "ls-files", "-co", "--exclude-standard").splitlines()
    wanted = [path for path in map(Path, files) if (ROOT / path).is_file()]
    for source in (ROOT / "perceptron_nlp" / "_core").glob("*/*.pyx"):
        made = source.with_suffix(".c")
        if made.exists() and made.stat().st_mtime >= source.stat().st_mtime:
            wanted.append(made.relative_to(ROOT))
    for path in wanted:
        old, new = ROOT / path, tree / path
        if not new.exists() or new.read_bytes() != old.read_bytes():
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(old, new)
    for path in {p.relative_to(tree) for p in (tree / "tests").rglob("*.py")} - set(wanted):
        (tree / path).unlink()
    # Cython compares times, and a copy of its C is older than what it was made of.
    for source in (tree / "perceptron_nlp" / "_core").glob("*/*.pyx"):
        made = source.with_suffix(".c")
        if made.exists() and made.stat().st_mtime < source.stat().st_mtime:
            made.touch()
    return tree


def built(name: str, env: Mapping[str, str]) -> Path:
    """A copy whose core setup.py builds in place, in an environment that names the compiler."""
    tree = copied(name)
    run(sys.executable, "setup.py", "build_ext", "--inplace", folder=tree, env=env, what="build")
    return tree


def laws(tree: Path, python: list[str], env: Mapping[str, str] | None = None) -> str:
    """The laws of the core, run in a copy; how many passed."""
    told = run(
        *python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        *CORE_LAWS,
        folder=tree,
        env={"PERCEPTRON_NLP_CORPORA": "", **(env or {})},
        what="laws",
    )
    passed = re.findall(r"(\d+) passed", told)
    if not passed:
        raise Differs("laws: no test ran")
    return f"{passed[-1]} laws of the core"


@functools.cache
def hashes_here() -> dict[str, str]:
    """The lines of same_bytes.py in the checkout, by kind."""
    return lines_by_kind(run(sys.executable, ROOT / "scripts" / "same_bytes.py", *KINDS))


def lines_by_kind(told: str) -> dict[str, str]:
    return {line.split()[-1]: line for line in told.splitlines()}


def same_bytes(tree: Path, python: list[str], env: Mapping[str, str] | None = None) -> str:
    """Compare the models and labels of every kind with those of the checkout."""
    script = tree / "scripts" / "same_bytes.py"
    told = run(*python, script, *KINDS, folder=tree, env=env, what="same bytes")
    there, here = lines_by_kind(told), hashes_here()
    wrong = [kind for kind in here if there.get(kind) != here[kind]]
    if wrong:
        raise Differs(f"other models or labels: {', '.join(wrong)}")
    return f"{len(here)} kinds of models and their labels, the same bytes: {', '.join(here)}"


def compiled_by(compiler: str, flags: str) -> str:
    """Build with a compiler and flags after setup.py's own; its laws and bytes."""
    (path,) = program(f"apt-get install {compiler}", compiler)
    name = f"{compiler}{flags}".replace("=", "")
    if "lto" in flags and "clang" in compiler:
        program("apt-get install lld", "ld.lld")
        flags += " -fuse-ld=lld"
    env = {"CC": cached(path), "LDSHARED": f"{path} -shared {flags}"}
    env["PERCEPTRON_NLP_FLAGS"] = flags
    tree = built(name, env)
    return f"{same_bytes(tree, [sys.executable])}; {laws(tree, [sys.executable])}"


def system_of(name: str, architecture: str, suite: str, packages: list[str]) -> Path:
    """Unpack Debian's packages, of another processor or release; none of them is set up.

    Raises
    ------
    Missing : they cannot be had
    """
    folder = OUT / name
    root = folder / "root"
    if (folder / "unpacked").exists():
        return root
    program("(a Debian or a system made from it)", "apt-get", "dpkg-deb")
    targets = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN)")
    mirrors = [line.split()[0] for line in targets.splitlines() if line.endswith(" Debian")]
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    if not mirrors or not Path(keys).exists():
        raise Missing("apt-get update && apt-get install debian-archive-keyring")
    own = folder / "apt"
    for made in ("state/lists/partial", "cache/archives/partial", "etc/preferences.d"):
        (own / made).mkdir(parents=True, exist_ok=True)
    (own / "status").touch()
    (own / "sources.list").write_text(f"deb [signed-by={keys}] {mirrors[0]} {suite} main\n")
    options = {
        "APT::Architecture": architecture,
        "APT::Architectures::": architecture,
        "APT::Sandbox::User": "root",
        "Debug::NoLocking": "1",
        "Dir::State": own / "state",
        "Dir::State::status": own / "status",
        "Dir::Cache": own / "cache",
        "Dir::Etc": own / "etc",
        "Dir::Etc::sourcelist": own / "sources.list",
        "Dir::Etc::sourceparts": "-",
    }
    apt = ["apt-get", "-q", *(f"-o{name}={value}" for name, value in options.items())]
    try:
        run(*apt, "update")
        run(*apt, "install", "-dy", "--no-install-recommends", *packages)
    except Differs as error:
        raise Missing(f"(Debian's packages of {name} cannot be fetched: {error})") from None
    for name in ("lib", "bin", "sbin", "lib64"):
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        if not (root / name).exists():
            (root / name).symlink_to(f"usr/{name}")
    for package in sorted((own / "cache" / "archives").glob("*.deb")):
        packed = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], stdout=-1, check=True)
        unpack = ["tar", "-x", "--keep-directory-symlink", "-C", root]
        subprocess.run(unpack, input=packed.stdout, check=True)
    (folder / "unpacked").touch()
    return root


def next_debian() -> list[str]:
    """The command that runs another with the programs and libraries of Debian's next release.

    All but /usr is as it is here.
    """
    if platform.machine() != "x86_64":
        raise Missing("(an x86-64 machine)")
    program("apt-get install util-linux", "unshare", "chroot")
    root = system_of("next", "amd64", "testing", NEXT)
    kept = [path for path in Path("/").iterdir() if path.is_dir() and not path.is_symlink()]
    lines = ["set -e"]
    for place in sorted(path.name for path in kept if path.name != "usr"):
        (root / place).mkdir(exist_ok=True)
        lines.append(f"mount --rbind /{place} {root}/{place}")
    lines.append(f'exec chroot {root} /bin/sh -c \'cd "$0" && exec "$@"\' "$PWD" "$@"')
    alone = ["unshare", "-m" if os.getuid() == 0 else "-rm"]
    command = [*alone, "/bin/sh", "-c", "\n".join(lines), "sh"]
    try:
        run(*command, "true")
    except Differs as error:
        raise Missing(f"(the right to mount folders: {error})") from None
    return command


def emulated(processor: Processor) -> str:
    """Compile the core for another processor; its bytes and laws in the system's own Python."""
    qemu, gcc = program(installs(processor), processor.qemu, f"{processor.triplet}-gcc")
    root = system_of(processor.debian, processor.debian, "stable", LIBRARIES)
    (python,) = [path for path in (root / "usr/bin").glob("python3.*") if path.name[8:].isdigit()]
    headers = OUT / processor.debian / "headers"
    shutil.copytree(root / "usr/include" / python.name, headers, dirs_exist_ok=True)
    shutil.copy(root / "usr/include" / processor.triplet / python.name / "pyconfig.h", headers)
    suffix = f".cpython-3{python.name[8:]}-{processor.triplet}.so"
    env = {
        "CC": cached(gcc),
        "LDSHARED": f"{gcc} -shared",
        "CFLAGS": f"-I{headers}",
        "SETUPTOOLS_EXT_SUFFIX": suffix,
    }
    tree = built(processor.debian, env)
    libraries = Path("/usr/lib") / processor.triplet
    own = {"LD_LIBRARY_PATH": f"{libraries}/blas:{libraries}/lapack", "PYTHONPATH": str(tree)}
    emulator = [qemu, "-L", str(root)]
    for name, value in own.items():
        emulator += ["-E", f"{name}={value}"]
    emulator.append(str(python))
    return f"{same_bytes(tree, emulator)}; {laws(tree, emulator)}"


def installs(processor: Processor) -> str:
    """The command that installs the emulator and the compiler for a processor."""
    gcc = f"gcc-{processor.triplet} libc6-dev-{processor.debian}-cross"
    return f"apt-get install qemu-user-static {gcc}"


def self_test(name: str, compiler: list[str], runner: list[str] | None) -> str:
    """Compile the self-test of the headers with every warning an error; run it.

    Parameters
    ----------
    name : of the row
    compiler : the command, with its options
    runner : what runs the result, maybe nothing; None: nothing here can
    """
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    source = ["-std=c11", "-O2", "-ffp-contract=off", *WARNINGS, SELFTEST / "selftest.c"]
    paths = [f"-I{ROOT / 'perceptron_nlp' / '_core'}", f"-I{SELFTEST}"]
    made = folder / "selftest.exe"
    run(*compiler, *source, *paths, "-o", made, "-lm", what="self-test does not compile")
    if runner is None:
        return "compiled without a warning; nothing here can run it"
    # Wine's folder has a link to the whole disk: it must not stay.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as prefix:
        env = {"WINEPREFIX": prefix, "WINEDEBUG": "-all"}
        told = run(*runner, made, env=env, what="self-test").split("\n")
    return f"compiled without a warning; {sum(bool(line.strip()) for line in told)} parts, the same"


def self_test_by(compiler: str) -> str:
    if compiler == NEXT_GCC and not shutil.which(compiler):
        command = next_debian()
        return self_test(f"c-{compiler}", [*command, compiler], command)
    return self_test(f"c-{compiler}", program(f"apt-get install {compiler}", compiler), [])


def self_test_on(processor: Processor) -> str:
    qemu, gcc = program(installs(processor), processor.qemu, f"{processor.triplet}-gcc")
    return self_test(f"c-{processor.debian}", [gcc, "-static"], [qemu])


def self_test_on_windows() -> str:
    """By MinGW-w64, under Wine where it is there."""
    install = "apt-get install gcc-mingw-w64-x86-64 wine64"
    (gcc,) = program(install, "x86_64-w64-mingw32-gcc")
    wines = ["wine64", "wine", "/usr/lib/wine/wine64"]
    wine = next((path for path in map(shutil.which, wines) if path), None)
    told = self_test("c-windows", [gcc, "-static"], [wine] if wine else None)
    return told if wine else f"{told}: {install}"


def self_test_for_macos() -> str:
    """By Zig's clang, which has the headers of macOS; both processors."""
    try:
        run(sys.executable, "-m", "ziglang", "version")
    except Differs:
        raise Missing("pip install ziglang") from None
    for processor in ("aarch64", "x86_64"):
        zig = [sys.executable, "-m", "ziglang", "cc", "-target", f"{processor}-macos"]
        self_test(f"c-macos-{processor}", zig, None)
    return "compiled without a warning for ARM and Intel; nothing here can run it"


# Runs a program of WASI, whose path is the argument.
WASI = """
import sys, wasmtime
store = wasmtime.Store()
config = wasmtime.WasiConfig()
config.inherit_stdout()
config.inherit_stderr()
store.set_wasi(config)
linker = wasmtime.Linker(store.engine)
linker.define_wasi()
module = wasmtime.Module.from_file(store.engine, sys.argv[1])
try:
    linker.instantiate(store, module).exports(store)["_start"](store)
except wasmtime.ExitTrap as end:
    sys.exit(end.code)
"""


def self_test_for_wasi() -> str:
    """By Zig's clang for wasm32, in Wasmtime: pointers of 32 bits, and no processor's vectors."""
    for module in ("ziglang", "wasmtime"):
        if importlib.util.find_spec(module) is None:
            raise Missing("pip install ziglang wasmtime")
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", "wasm32-wasi"]
    return self_test("c-wasm32-wasi", zig, [sys.executable, "-c", WASI])


INTERPRETER = """
import sys, sysconfig, venv, ensurepip
free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
if sys.implementation.name == "cpython" and sys.version_info >= (3, 11):
    print("%d.%d" % sys.version_info[:2] + free, sys.executable)
"""


@functools.cache
def interpreters() -> dict[str, str]:
    """The interpreters that can make environments, by version: 3.12, or 3.14t without the lock."""
    named = os.environ.get("PYTHONS", "").split()
    usual = [f"python3.{minor}{free}" for minor in range(11, 20) for free in ("", "t")]
    pyenv = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))
    found: dict[str, str] = {}
    for path in [*named, *filter(None, map(shutil.which, usual)), *pyenv]:
        told = subprocess.run(
            [path, "-c", INTERPRETER], capture_output=True, text=True, check=False
        )
        version, _, real = told.stdout.strip().partition(" ")
        if version:
            found.setdefault(version, real)
    return found


def suite(version: str) -> str:
    """Build for an interpreter, and run the whole suite there."""
    found, command = interpreters().get(version), list[str]()
    env = {"CC": cached("gcc")} if shutil.which("gcc") else {}
    if found is None and version == NEXT_PYTHON:
        found, command = f"/usr/bin/python{version}", next_debian()
        env = {"CC": NEXT_GCC, "LDSHARED": f"{NEXT_GCC} -shared"}
    if found is None:
        raise Missing(f"pyenv install {version}, or PYTHONS=/path/to/python{version}")
    venv = f".venv-{version}"
    make = ["make", f"VENV={venv}", f"PYTHON={found}", f"{venv}/tested"]
    run(*command, *make, env=env, what="build")
    python = [*command, f"{venv}/bin/python"]
    told = run(*python, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", what="suite")
    bytes_there = same_bytes(ROOT, python)
    return f"{told.strip().splitlines()[-1].strip('= ')}; {bytes_there}"


def wheels() -> str:
    """The sdist builds where there is no git and no network, and two builds give the same bytes."""
    tree = copied("wheels")
    shutil.rmtree(tree / "dist", ignore_errors=True)
    backend = "from setuptools import build_meta as b; b.build_sdist('dist')"
    run(sys.executable, "-c", backend, folder=tree, what="sdist")
    (sdist,) = (tree / "dist").glob("*.tar.gz")
    alone = ["unshare", "-rn"] if _can_leave_the_network() else []
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index"]
    made = []
    for place in ("one", "a-folder-of-another-name"):
        folder = OUT / "wheels" / place
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        run("tar", "-xzf", sdist, "-C", folder)
        (source,) = folder.iterdir()
        env = {"SOURCE_DATE_EPOCH": "1700000000", "GIT_DIR": "/nonexistent"}
        build = [*alone, *pip, "--no-build-isolation", "-w", folder, source]
        run(*build, folder=folder, env=env, what="wheel of the sdist")
        made += folder.glob("*.whl")
    one, other = (hashlib.sha256(path.read_bytes()).hexdigest() for path in made)
    if one != other:
        raise Differs(f"two builds, two wheels: diffoscope {made[0]} {made[1]}")
    network = "without a network" if alone else "without an index"
    return f"the sdist builds outside git and {network}; two builds, one wheel: {one[:16]}"


def _can_leave_the_network() -> bool:
    return not subprocess.run(
        ["unshare", "-rn", "true"], capture_output=True, check=False
    ).returncode


def rows() -> list[Row]:
    """All rows of this machine: those of what it has, and one for each thing that it lacks."""
    found = []
    for compiler in [*COMPILERS[:1], "gcc-14", "clang"]:
        found.append(Row(f"c-{compiler}", "headers", functools.partial(self_test_by, compiler)))
    for processor in PROCESSORS:
        check = functools.partial(self_test_on, processor)
        found.append(Row(f"c-{processor.debian}", "headers, emulated", check))
    found.append(Row("c-windows", "headers, MinGW-w64 and Wine", self_test_on_windows))
    found.append(Row("c-macos", "headers, Zig's clang", self_test_for_macos))
    found.append(Row("c-wasm32-wasi", "headers, Zig's clang and Wasmtime", self_test_for_wasi))
    for compiler in COMPILERS:
        if compiler not in ("gcc", "gcc-14", "clang") and not shutil.which(compiler):
            continue
        for name, flags in FORMS.items() if compiler in ("gcc", "clang") else [("", "")]:
            check = functools.partial(compiled_by, compiler, flags)
            found.append(Row(compiler + name, "bytes and laws", check))
    for processor in PROCESSORS:
        check = functools.partial(emulated, processor)
        found.append(Row(processor.debian, "bytes and laws, emulated", check))
    found.append(Row("wheels", "sdist, reproducible wheels", wheels))
    for version in sorted({"3.11", "3.12", "3.13", "3.14", "3.14t", *interpreters()}):
        found.append(Row(f"python-{version}", "whole suite", functools.partial(suite, version)))
    return found


def main() -> int:
    """Run the rows that were asked for; 1 where one differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help="such as clang or 'c-*'")
    parser.add_argument("--list", action="store_true", help="name the rows, and run none")
    asked = parser.parse_args()
    chosen = [
        r for r in rows() if not asked.rows or any(fnmatch.fnmatch(r.name, a) for a in asked.rows)
    ]
    if not chosen:
        parser.error(f"no row is named {' '.join(asked.rows)}; --list names them")
    OUT.mkdir(parents=True, exist_ok=True)
    different = 0
    for row in chosen:
        if asked.list:
            print(f"{row.name:14} {row.about}")
            continue
        begin = time.monotonic()
        try:
            word, told = "kept", row.check()
        except Missing as error:
            word, told = "not run", f"install: {error}"
        except Differs as error:
            word, told = "DIFFERS", str(error)
            different += 1
        print(f"{row.name:14} {word:8} {told} [{time.monotonic() - begin:.0f} s]", flush=True)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
