"""K: kills, Ctrl-C, full disks and closed pipes."""

from __future__ import annotations

import errno
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import perceptron_nlp as pn
from benchmarks.trust import samples
from benchmarks.trust.children import ROOT, call, command, environment
from benchmarks.trust.reached import Reached, count_of

SECONDS_TO_STOP = 1.0


def kill_while(
    save: Callable[[int], None], path: Path, kills: int, seed: int
) -> list[bytes | None]:
    """Fork a process that saves to `path` again and again, kill it, and see what is there.

    ``save(i)`` saves for the i-th time. The kill comes at a random moment after the file has
    first changed. Returns the file's content after each kill, None where there is no file.
    """
    chance = random.Random(seed)
    contents = []
    for _ in range(kills):
        before = _state(path)
        pid = os.fork()
        if pid == 0:
            try:
                for i in range(1_000_000):
                    save(i)
            finally:
                os._exit(1)
        limit = time.monotonic() + 60
        while _state(path) == before and time.monotonic() < limit:
            time.sleep(0.0001)
        time.sleep(chance.random() * 0.02)
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if not os.WIFSIGNALED(status):
            raise RuntimeError("the process that saves ended by itself")
        contents.append(path.read_bytes() if path.exists() else None)
    return contents


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def kill_saves(folder: str, kills: int) -> dict[str, Any]:
    """Kill saves of two models in turn; runs in a child, since it forks."""
    models = [pn.Tagger.from_bytes(data) for data in (samples.small_model(), samples.other_model())]
    wholes = {model.to_bytes() for model in models}
    path = Path(folder) / "model.pnlp"
    # Where a path begins says nothing about what it leads to.
    through_dev = os.path.join("/dev", os.path.relpath(path, "/dev"))
    contents = [
        content
        for number, place in enumerate((path, through_dev), 1)
        for content in kill_while(
            lambda i, place=place: models[i % 2].save(place),
            path,
            (kills + number % 2) // 2,
            number,
        )
    ]
    left = len(os.listdir(folder))
    models[0].save(path)
    return {
        "broken": sum(content not in wholes for content in contents),
        "left": left,
        "after": len(os.listdir(folder)),
        "kinds": len({content for content in contents}),
    }


def kill_during_save(full: bool) -> Reached:
    """K1: after a kill there is one whole model, old or new, and at most one file of litter."""
    kills = 500 if full else 25
    with tempfile.TemporaryDirectory() as folder:
        child = call("benchmarks.trust.kills:kill_saves", folder, kills)
    if child.result is None:
        return Reached(child.fate, False)
    found = child.result
    return Reached(
        f"{kills - found['broken']} of {kills} whole; {found['left'] - 1} other files left, "
        f"{found['after'] - 1} after the next save",
        not found["broken"] and found["left"] <= 2 and found["after"] == 1 and found["kinds"] > 1,
    )


# ---- K3 ----


def train_for_ever(marker: str) -> None:
    """Train until somebody stops it; runs in a child."""
    sentences = list(pn.open_corpus(samples.TRAIN))

    def report(_: object) -> None:
        Path(marker).touch()

    pn.train(sentences, column="upos", epochs=10_000, patience=None, callback=report)


def cut_for_ever(marker: str) -> None:
    """Cut a paragraph in which no sentence ends until somebody stops it; runs in a child."""
    tagger = pn.load("en")
    threading.Timer(0.3, Path(marker).touch).start()
    while True:
        tagger.tag_text(".-" * 20_000_000)


def interrupt(
    line: list[str], ready: Callable[[], bool], stdin: Any = None
) -> tuple[int | None, float, str]:
    """Start a process, send it Ctrl-C when it is ready; its status, seconds to stop, its words."""
    process = subprocess.Popen(
        line,
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        cwd=ROOT,
    )
    try:
        limit = time.monotonic() + 120
        while not ready() and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.005)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        return process.returncode, time.monotonic() - begin, err
    except subprocess.TimeoutExpired:
        return None, 60.0, ""
    finally:
        process.kill()
        process.wait()


def interrupted(full: bool) -> Reached:
    """K3: Ctrl-C ends a training run within a second; tagging has written what is done."""
    times = 34 if full else 1
    wrong: list[str] = []
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.pnlp"
        model.write_bytes(samples.small_model())
        for number in range(times):
            for interrupt_one in (_training, _cutting, _on_the_command_line):
                said, seconds = interrupt_one(Path(folder), number)
                slowest = max(slowest, seconds)
                if said:
                    wrong.append(said)
                # The quick size runs beside other tests and promises no time.
                elif full and seconds > SECONDS_TO_STOP:
                    wrong.append(f"{seconds:.2f} s")
        wrong += _tagging_stopped(model)
    reached = count_of(wrong, 3 * times + 1, "runs stopped in order")
    return Reached(f"{reached.figure}; slowest {slowest:.2f} s", reached.kept)


def _training(folder: Path, number: int) -> tuple[str, float]:
    return _in_python("train_for_ever", folder / f"trained-{number}")


def _cutting(folder: Path, number: int) -> tuple[str, float]:
    return _in_python("cut_for_ever", folder / f"cut-{number}")


def _in_python(name: str, marker: Path) -> tuple[str, float]:
    status, seconds, err = interrupt(
        command(f"benchmarks.trust.kills:{name}", str(marker)), marker.exists
    )
    # Python ends itself with the signal after a KeyboardInterrupt.
    kept = status == -signal.SIGINT and "KeyboardInterrupt" in err
    return "" if kept else f"{name}: status {status}: {err[-200:]}", seconds


def _on_the_command_line(folder: Path, number: int) -> tuple[str, float]:
    checkpoint, model = folder / f"{number}.checkpoint", folder / f"{number}.pnlp"
    line = [
        sys.executable,
        "-m",
        "perceptron_nlp",
        "train",
        str(samples.TRAIN),
        "--model",
        str(model),
        "--epochs",
        "10000",
        "--checkpoint",
        str(checkpoint),
    ]
    status, seconds, err = interrupt(line, checkpoint.exists)
    kept = status == 130 and "--resume" in err and "Traceback" not in err and not model.exists()
    return "" if kept else f"train: status {status}: {err[-200:]}", seconds


def _tagging_stopped(model: Path) -> list[str]:
    """A stream is tagged as it comes; Ctrl-C leaves whole lines of what was there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "perceptron_nlp", "tag", str(model), "--format", "text"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(b"The old man the boats .\n" * 3)
        process.stdin.flush()
        lines = [process.stdout.readline() for _ in range(3)]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    kept = all(line.count(b"/") == 6 and line.endswith(b"\n") for line in lines)
    if kept and process.returncode == 130 and b"Traceback" not in err:
        return []
    return [f"tag: status {process.returncode}: {lines} {err.decode()[-200:]}"]


# ---- K4 ----


def save_without_room(path: str) -> str:
    """Save where files cannot grow; runs in a child. What was raised."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
    return _saving(path)


def save_as_nobody(path: str) -> str:
    """Save without the rights of the superuser; runs in a child. What was raised."""
    samples.other_model()
    if os.geteuid() == 0:
        os.seteuid(65534)
    return _saving(path)


def _saving(path: str) -> str:
    try:
        pn.Tagger.from_bytes(samples.other_model()).save(path)
    except pn.FileError as error:
        return str(error)
    return "saved"


def nowhere_to_write(full: bool) -> Reached:
    """K4: where a model cannot be written there is a clear error, and the old one stays."""
    del full
    old = samples.small_model()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = os.path.join(folder, "model.pnlp")
        Path(path).write_bytes(old)

        def expect(name: str, said: str | None, place: str, word: str) -> None:
            if said is None or not said.startswith(place) or word not in said:
                wrong.append(f"{name}: {said}")
            if Path(path).read_bytes() != old or len(os.listdir(folder)) != 1:
                wrong.append(f"{name}: the old model is gone, or litter is left")

        expect(
            "no room",
            call("benchmarks.trust.kills:save_without_room", path).result,
            path,
            "cannot be written",
        )
        os.chmod(folder, stat.S_IRUSR | stat.S_IXUSR | stat.S_IROTH | stat.S_IXOTH)
        expect(
            "read-only folder",
            call("benchmarks.trust.kills:save_as_nobody", path).result,
            path,
            os.strerror(errno.EACCES),
        )
        os.chmod(folder, 0o755)
        os.chmod(path, 0o444)
        expect(
            "read-only file",
            call("benchmarks.trust.kills:save_as_nobody", path).result,
            path,
            "read-only",
        )
        os.chmod(path, 0o644)
        for name, place, word in (
            ("a full device", "/dev/full", os.strerror(errno.ENOSPC)),
            ("a folder", folder, "folder"),
            ("no such folder", os.path.join(folder, "a", "b"), "No such file"),
            ("a file as a folder", os.path.join(path, "b"), "Not a directory"),
            ("a name too long", os.path.join(folder, "x" * 300), "too long"),
            ("a NUL in the name", os.path.join(folder, "\0"), "cannot be the name"),
        ):
            said = _saving(place)
            expect(name, said, repr(place) if "\0" in place else place, word)
        wrong += _vanished_pipe(Path(folder))
        wrong += _terminated(Path(folder))
        wrong += _planted(Path(folder))
    return count_of(wrong, 12, "places refused clearly, the old model whole")


def _terminated(folder: Path) -> list[str]:
    """SIGTERM in the middle of writing a private file: nothing is left that others could read."""
    output = folder / "out.txt"
    output.write_bytes(b"old")
    output.chmod(0o600)
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "perceptron_nlp",
            "tag",
            "en",
            "--format",
            "text",
            "-o",
            str(output),
        ],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
    )
    assert process.stdin is not None
    try:
        process.stdin.write(b"The old man the boats .\n")
        process.stdin.flush()
        limit = time.monotonic() + 60
        while not (parts := list(folder.glob(".*.part"))) and time.monotonic() < limit:
            time.sleep(0.005)
        modes = {stat.S_IMODE(part.stat().st_mode) for part in parts}
        process.terminate()
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    left = sorted(path.name for path in folder.iterdir())
    kept = left == ["model.pnlp", "out.txt"] and output.read_bytes() == b"old" and modes == {0o600}
    output.unlink()
    if kept and process.returncode == 143 and b"Traceback" not in err:
        return []
    return [f"SIGTERM: status {process.returncode}, modes {modes}, left {left}: {err[-200:]!r}"]


def _planted(folder: Path) -> list[str]:
    """Pipes named as temporary files were are neither waited for nor removed."""
    path = folder / "planted.pnlp"
    seen: list[str] = []

    def pieces() -> Iterator[bytes]:
        seen.extend(entry.name for entry in folder.glob(".*.part"))
        yield b""

    pn.replace_file(path, pieces())
    mark = seen[0].rsplit("-", 1)[0]
    pipes = [folder / f"{mark}-{os.getpid()}-{number}.part" for number in range(3)]
    for pipe in [*pipes, folder / seen[0]]:
        os.mkfifo(pipe)
    pipes.append(folder / seen[0])
    child = call("benchmarks.trust.kills:save_plainly", str(path), timeout=60)
    wrong = [] if child.result == "saved" and all(map(Path.exists, pipes)) else [f"pipes: {child}"]
    for planted in [path, *pipes]:
        planted.unlink(missing_ok=True)
    return wrong


def save_plainly(path: str) -> str:
    """Save where nothing is in the way; runs in a child. What was raised."""
    return _saving(path)


def _vanished_pipe(folder: Path) -> list[str]:
    """A reader that goes away is the caller's to handle: the system's own BrokenPipeError."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(
        [sys.executable, "-c", "import sys; open(sys.argv[1], 'rb').read(9)", str(pipe)]
    )
    try:
        pn.Tagger.from_bytes(samples.small_model()).save(pipe)
    except BrokenPipeError:
        return []
    except Exception as error:
        return [f"a closed pipe: {type(error).__name__}: {error}"]
    finally:
        reader.wait()
        pipe.unlink()
    return ["a closed pipe: nothing was raised"]
