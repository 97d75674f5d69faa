"""The core's headers keep to standard C, and compute the same without Python."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CORE = ROOT / "perceptron_nlp" / "_core"
SELFTEST = Path(__file__).parent / "selftest"


@pytest.mark.parametrize("sanitizer", [[], ["-fsanitize=undefined", "-fno-sanitize-recover"]])
def test_the_headers_compile_without_a_warning_and_compute_what_they_compute_elsewhere(
    tmp_path: Path, sanitizer: list[str]
) -> None:
    compiler = shutil.which(shlex.split(sysconfig.get_config_var("CC") or "cc")[-1])
    if compiler is None or sys.platform == "win32":
        pytest.skip("no compiler with the options of GCC")
    flags = ["-std=c11", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    command = [compiler, *flags, f"-I{CORE}", f"-I{SELFTEST}", *sanitizer, "-o"]
    if sanitizer:
        (tmp_path / "empty.c").write_text("int main(void) { return 0; }\n", "utf-8")
        line = [*command, str(tmp_path / "empty"), str(tmp_path / "empty.c")]
        if subprocess.run(line, capture_output=True, check=False).returncode:
            pytest.skip("the compiler has no sanitizers")
    line = [*command, str(tmp_path / "selftest"), str(SELFTEST / "selftest.c"), "-lm"]
    subprocess.run(line, check=True)
    done = subprocess.run([tmp_path / "selftest"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_standard_c_lacks_stands_in_portable_h_alone() -> None:
    extension = re.compile(r"__attribute__|__builtin_|__asm__|\basm\b|__typeof|\btypeof\b|__int128")
    sources = [path for suffix in ("h", "pyx", "pxd") for path in CORE.glob(f"*/*.{suffix}")]
    found = {
        f"{path.relative_to(CORE)}:{number}: {line.strip()}"
        for path in sources
        if path.name != "portable.h"
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if extension.search(line)
    }
    assert len(sources) > 40
    assert not found


def test_the_self_test_includes_every_header_but_those_that_hold_objects_of_python() -> None:
    found: set[str] = set()
    left = {str(SELFTEST / "selftest.c")}
    while left:
        text = (CORE / left.pop()).read_text("utf-8")
        new = set(re.findall(r'^#include "([\w/.]+)"', text, re.MULTILINE)) - found
        found |= new
        left |= new
    missing = {path.relative_to(CORE).as_posix(): path for path in CORE.glob("*/*.h")}
    for name in found:
        missing.pop(name)
    assert [n for n, path in missing.items() if "Py" not in path.read_text("utf-8")] == []
