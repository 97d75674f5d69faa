"""Build a wheel, install it where nothing else is, and tag English with it.

    python scripts/check_wheel.py [FOLDER]

The wheel must be small, bring NumPy alone, hold the model, its licence and a list of its contents,
be installed and tag within a second without a network, from the shell and from Python, and run the
Python of README.md in a checkout. FOLDER holds what is made (default: one that goes again).
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 9_000_000
# Seconds of CPU from the installed program to the first tags, nothing in a cache yet: on a machine
# that others use, too, those of the clock say how busy it is.
SLOWEST_FIRST = 1.0
SENTENCE = "They don't sink!"
TAGGED = "They/PRON do/AUX n't/PART sink/VERB !/PUNCT\n"


def main() -> None:
    """Build, install, tag; leaves the program with a message where something is wrong."""
    if len(sys.argv) > 1:
        check(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        check(Path(folder))


def check(folder: Path) -> None:
    """Do it all in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    )
    (wheel,) = folder.glob("perceptron_nlp-*.whl")
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
    page = archive.read(metadata).decode("utf-8")
    require("# perceptron_nlp" in page, "the wheel says nothing of itself")
    relative = re.findall(r"\]\((?!https?:)[^)]*\)", page)
    require(not relative, f"an index cannot follow {', '.join(relative)}")
    for name in (
        "perceptron_nlp/models/en.model",
        "perceptron_nlp/models/LICENSE",
        "perceptron_nlp/models/README.md",
    ):
        require(name in names, f"{name} is not in the wheel")
    lists = [name for name in names if ".dist-info/sboms/" in name]
    require(len(lists) == 1, "the wheel has no list of what is in it (PEP 770)")
    require(json.loads(archive.read(lists[0]))["bomFormat"] == "CycloneDX", "its list is no SBOM")
    require(wheel.stat().st_size <= LARGEST, f"the wheel has {wheel.stat().st_size:,} bytes")
    venv.create(folder / "bare", with_pip=True, clear=True)
    programs = folder / "bare" / ("Scripts" if os.name == "nt" else "bin")
    python = str(programs / "python")
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run(*pip, "download", "--only-binary", ":all:", "--dest", str(folder), "numpy")
    alone = ["--no-index", "--find-links", str(folder)]
    run(*without_network(), *pip, "install", *alone, str(wheel))
    installed = run(python, "-m", "pip", "list", "--format", "freeze").splitlines()
    brought = sorted(
        {line.partition("==")[0].lower() for line in installed} - {"pip", "setuptools", "wheel"}
    )
    require(
        brought in (["numpy", "perceptron-nlp"], ["numpy", "perceptron_nlp"]),
        f"installed are {', '.join(brought)}",
    )
    begin = spent()
    told = run(
        *without_network(),
        str(programs / "perceptron-nlp"),
        "tag",
        "en",
        "--column",
        "upos",
        "--quiet",
        text=SENTENCE,
        folder=folder,
    )
    first = spent() - begin
    require(told == TAGGED, f"the shell prints {told!r}")
    require(first <= SLOWEST_FIRST, f"the first sentence takes {first:.1f} s")
    code = (
        "import perceptron_nlp as pn; print(' '.join(f'{w.form}/{w.label}' for s in"
        f" pn.load('en').tag_text({SENTENCE!r}) for w in s))"
    )
    told = run(python, "-c", code, folder=folder)
    require(told == TAGGED, f"Python prints {told!r}")
    # A checkout that was not built, in which a Python finds the sources first.
    checkout = folder / "checkout"
    built = shutil.ignore_patterns("*.so", "*.pyd", "*.c", "__pycache__")
    shutil.copytree(ROOT / "perceptron_nlp", checkout / "perceptron_nlp", ignore=built)
    shutil.copytree(ROOT / "data", checkout / "data")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    (checkout / "readme.py").write_text("\n".join(blocks), "utf-8")
    run(python, "readme.py", folder=checkout)
    print(
        f"{wheel.name}: {wheel.stat().st_size:,} bytes; installed with it: numpy; tags English"
        f" {first:.2f} s of CPU after the installation,"
        f" {'without a' if without_network() else 'with the'} network;"
        f" {len(blocks)} blocks of README.md run in a checkout"
    )


def spent() -> float:
    """CPU seconds of the programs that were run."""
    times = os.times()
    return times.children_user + times.children_system


@functools.cache
def without_network() -> list[str]:
    """The command that runs another one without a network; empty where there is none."""
    command = ["unshare", "--net", "--map-root-user"]
    there = shutil.which(command[0]) and not subprocess.run([*command, "true"]).returncode
    return command if there else []


def run(*command: str, text: str | None = None, folder: Path | None = None) -> str:
    """What a program prints; leaves this one if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command,
        input=text,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    require(done.returncode == 0, f"{' '.join(command[:4])} …: {done.stderr}")
    return done.stdout


def require(true: bool, message: str) -> None:
    """Leave the program with the message unless it is so."""
    if not true:
        sys.exit(message)


if __name__ == "__main__":
    main()
