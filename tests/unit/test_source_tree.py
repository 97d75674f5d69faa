"""A checkout that was not built, found before the installed package by a Python started in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from oracles.codeblocks import code_blocks

import perceptron_nlp as pn

PACKAGE = Path(pn.__file__).parent
ROOT = Path(__file__).parents[2]
COMPILED = shutil.ignore_patterns("*.so", "*.pyd", "*.c", "__pycache__")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sources of the package, and nothing that was compiled."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(PACKAGE, folder / "perceptron_nlp", ignore=COMPILED)
    return folder


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages with the built one."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(
        PACKAGE, folder / "perceptron_nlp", ignore=shutil.ignore_patterns("*.c", "__pycache__")
    )
    return folder


def run(folder: Path, packages: Path | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Start a Python in a folder, with no packages but NumPy's and those of another folder."""
    import numpy

    paths = [packages, Path(numpy.__file__).parents[1]]
    linked = folder / "numpy_alone"
    linked.mkdir(exist_ok=True)
    for name in ("numpy", "numpy.libs"):
        if (paths[1] / name).exists() and not (linked / name).exists():
            (linked / name).symlink_to(paths[1] / name)
    found = os.pathsep.join(str(path) for path in (packages, linked) if path is not None)
    return subprocess.run(
        [sys.executable, "-S", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": found},
        capture_output=True,
        text=True,
        timeout=300,
        input="They don't sink!\n",
    )


def test_a_source_tree_that_was_not_built_says_what_to_do(checkout: Path) -> None:
    done = run(checkout, None, "-c", "import perceptron_nlp")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: perceptron_nlp is imported from {checkout / 'perceptron_nlp'}, a source tree"
        f" that was not built for this Python: run pip install -e {checkout}, or work in another"
        " folder"
    )


def test_another_version_that_is_installed_does_not_serve(
    checkout: Path, installed: Path, tmp_path: Path
) -> None:
    shutil.copytree(checkout / "perceptron_nlp", tmp_path / "perceptron_nlp")
    version = tmp_path / "perceptron_nlp" / "_version.py"
    version.write_text(version.read_text("utf-8").replace('"0.', '"7.'), "utf-8")
    done = run(tmp_path, installed, "-c", "import perceptron_nlp")
    assert done.returncode == 1 and "a source tree that was not built" in done.stderr


def test_the_installed_package_serves_in_the_folder_of_a_checkout(
    checkout: Path, installed: Path
) -> None:
    code = "import perceptron_nlp as pn; print(pn.load('en').tag(['They', 'sink']))"
    done = run(checkout, installed, "-c", code)
    assert (done.stdout, done.returncode) == ("['PRON', 'VERB']\n", 0), done.stderr
    done = run(
        checkout, installed, "-m", "perceptron_nlp", "tag", "en", "--column", "upos", "--quiet"
    )
    assert done.stdout == "They/PRON do/AUX n't/PART sink/VERB !/PUNCT\n", done.stderr


@pytest.mark.skipif(
    not (ROOT / "data").is_dir(), reason="the sample corpus is not beside the tests"
)
def test_readme_runs_in_a_checkout_with_the_package_installed(
    checkout: Path, installed: Path
) -> None:
    shutil.copytree(ROOT / "data", checkout / "data", dirs_exist_ok=True)
    blocks = code_blocks((ROOT / "README.md").read_text("utf-8"), ("python",))
    (checkout / "readme.py").write_text("\n".join(block.code for block in blocks), "utf-8")
    done = run(checkout, installed, "readme.py")
    assert done.returncode == 0, done.stderr
