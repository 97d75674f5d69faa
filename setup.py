"""Builds the Cython core; everything else about the package is in pyproject.toml.

Five switches of the environment change the build, for tests and measurements only:
``PERCEPTRON_NLP_CHECKED=1`` turns bounds checks on,
``PERCEPTRON_NLP_SANITIZE=address,undefined`` builds with those sanitizers,
``PERCEPTRON_NLP_VANILLA=1`` leaves the averages out of training,
``PERCEPTRON_NLP_NARROW=1`` leaves out code for wide vector instructions, and
``PERCEPTRON_NLP_FLAGS="-O1 -flto"`` gives the compiler these flags after all others.
"""

import json
import os
import re
import runpy
import sys
from pathlib import Path

from Cython import __version__ as cython_version
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel

checked = os.environ.get("PERCEPTRON_NLP_CHECKED") == "1"
sanitize = os.environ.get("PERCEPTRON_NLP_SANITIZE", "")

# Modules with loops over weights; in all others -O3 takes time and makes nothing faster. Code that
# runs a few times for a model or a file is to be small.
HOT = {
    "model.frozenmodel",
    "model.modelrows",
    "table.weights",
    "tag.decode",
    "text.cutter",
    "text.writer",
    "text.lemmatizer",
    "train.factored",
    "train.greedy",
    "train.search",
    "train.values",
}
SMALL = {
    "features.extract",
    "model.labelparts",
    "table.memoryviews",
    "train.driver",
    "train.history",
    "train.trainingset",
}
if sys.platform == "win32":
    # C11 for restrict; contraction is off unless asked for.
    compile_args = ["/O2", "/std:c11"]
    hot_args: list[str] = []
    small_args = ["/O1"]
else:
    # Floating-point contraction is off so that every machine computes the same bytes.
    # Debug information would make up nine tenths of a wheel; nothing is ever unwound in C.
    compile_args = ["-O2", "-std=c11", "-ffp-contract=off", "-fno-math-errno", "-g0"]
    compile_args += ["-fno-asynchronous-unwind-tables"]
    hot_args, small_args = ["-O3"], ["-Os"]
# Names of functions help to profile, but nobody who installs.
is_wheel = sys.platform == "linux" and "bdist_wheel" in sys.argv
link_args = ["-Wl,-s"] if is_wheel and not sanitize else []
if sanitize:
    compile_args += [f"-fsanitize={sanitize}", "-g", "-O1", "-fno-omit-frame-pointer"]
    hot_args, small_args = [], []
    link_args += [f"-fsanitize={sanitize}"]
last_args = os.environ.get("PERCEPTRON_NLP_FLAGS", "").split()

macros = [
    (name, "1")
    for name in ("PERCEPTRON_NLP_VANILLA", "PERCEPTRON_NLP_NARROW")
    if os.environ.get(name)
]


class WheelWithContents(bdist_wheel):
    """A wheel with a list of what is in it: CycloneDX in .dist-info/sboms, as PEP 770 has it."""

    def egg2dist(self, egginfo_path: str, distinfo_path: str) -> None:
        super().egg2dist(egginfo_path, distinfo_path)
        name, version = self.distribution.get_name(), self.distribution.get_version()
        contents = {
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {
                "component": {
                    "type": "library",
                    "bom-ref": name,
                    "name": name,
                    "version": version,
                    "purl": f"pkg:pypi/{name}@{version}",
                    "licenses": [{"expression": "MIT AND CC-BY-SA-4.0"}],
                }
            },
            # What Cython writes into each module is all that others wrote.
            "components": [
                {
                    "type": "library",
                    "bom-ref": "cython",
                    "name": "cython",
                    "version": cython_version,
                    "purl": f"pkg:pypi/cython@{cython_version}",
                    "licenses": [{"license": {"id": "Apache-2.0"}}],
                }
            ],
            "dependencies": [{"ref": name, "dependsOn": ["cython"]}],
        }
        folder = Path(distinfo_path) / "sboms"
        folder.mkdir(exist_ok=True)
        text = json.dumps(contents, indent=1) + "\n"
        (folder / f"{name}.cdx.json").write_text(text, encoding="utf-8")


core = Path("perceptron_nlp/_core")
NEEDED = re.compile(r'"(\w+/\w+\.h)"|^from perceptron_nlp\._core\.([\w.]+) cimport', re.MULTILINE)


def headers_of(path: Path, found: set[Path]) -> set[Path]:
    """The headers that a source includes, also by way of others."""
    for header, module in NEEDED.findall(path.read_text("utf-8")):
        needed = core / (header or f"{module.replace('.', '/')}.pxd")
        if needed not in found:
            found.add(needed)
            headers_of(needed, found)
    return {needed for needed in found if needed.suffix == ".h"}


def needs(source: Path) -> list[str]:
    """The headers whose change makes an extension old."""
    found = headers_of(source, set())
    if source.with_suffix(".pxd").exists():
        found |= headers_of(source.with_suffix(".pxd"), set())
    return sorted(map(str, found))


def args_of(name: str) -> list[str]:
    """The compiler's arguments for an extension."""
    own_args = hot_args if name in HOT else small_args if name in SMALL else []
    return compile_args + own_args + last_args


extensions = [
    Extension(
        f"perceptron_nlp._core.{path.parent.name}.{path.stem}",
        [str(path)],
        include_dirs=[str(core)],
        depends=needs(path),
        define_macros=macros,
        extra_compile_args=args_of(f"{path.parent.name}.{path.stem}"),
        extra_link_args=link_args,
    )
    for path in sorted(core.glob("*/*.pyx"))
]
# What Cython writes for every module that has views of memory: compiled once.
shared = "perceptron_nlp._core.table.memoryviews"
extensions.append(
    Extension(
        shared,
        [str(core / "table" / "memoryviews.c")],
        extra_compile_args=args_of("table.memoryviews"),
        extra_link_args=link_args,
    )
)
directives = {"boundscheck": True, "initializedcheck": True} if checked else {}
index_page = runpy.run_path("scripts/index_page.py")
# The translators that Cython starts may import this file.
if __name__ == "__main__":
    workers = os.cpu_count() or 1
    setup(
        long_description=index_page["long_description"](),
        long_description_content_type="text/markdown",
        ext_modules=cythonize(
            extensions,
            nthreads=workers,
            compiler_directives=directives,
            shared_utility_qualified_name=shared,
            quiet=True,
        ),
        cmdclass={"bdist_wheel": WheelWithContents},
        options={"build_ext": {"parallel": workers}},
    )
