"""A real Ray on this machine: training, killed workers, data sets and folders."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn
from benchmarks.here import train
from perceptron_nlp.cli.main import main

ray = pytest.importorskip("ray", reason="the extra ray is not installed")
pytest.importorskip("pyarrow", reason="the extra arrow is not installed")

from perceptron_nlp.integrations import arrow, engines  # noqa: E402

# Ray's own: sockets and processes that it leaves to the system, and options that are to change.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.xdist_group("ray"),
]
OPTIONS: dict[str, Any] = {"templates": "fast", "epochs": 3, "seed": 5}


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Two processors and a small object store, and nothing written to the home folder."""
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(
        address="local",
        num_cpus=2,
        object_store_memory=100 << 20,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        configure_logging=False,
    )
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def many(small: list[tuple[list[str], list[str]]]) -> list[tuple[list[str], list[str]]]:
    """The small sentences, and each of them backwards."""
    return [*small, *((words[::-1], labels[::-1]) for words, labels in small)]


def trained(data: object, **options: Any) -> bytes:
    return bytes(engines.train(data, **{**OPTIONS, **options}).to_bytes())


def test_workers_on_ray_learn_what_workers_in_one_process_do(
    cluster: None, many: list[tuple[list[str], list[str]]]
) -> None:
    here = train(many, workers=3, **OPTIONS)
    assert trained(many, workers=3) == bytes(here.to_bytes())


def test_a_worker_that_is_killed_changes_no_byte(
    cluster: None, small: list[tuple[list[str], list[str]]], tmp_path: Path
) -> None:
    class Killed(str):
        """A word that kills the first worker that it comes to."""

        def __reduce__(self) -> Any:
            return killing, (str(self), str(tmp_path / "killed"), os.getpid())

    def killing(word: str, place: str, begun_at: int) -> str:
        if os.getpid() != begun_at:
            # Of two workers that come here at once, the one that makes the file dies.
            with contextlib.suppress(FileExistsError):
                open(place, "x").close()
                os.kill(os.getpid(), signal.SIGKILL)
        return word

    deadly = [([Killed(word) for word in words], labels) for words, labels in small]
    assert trained(deadly, workers=3) == trained(small, workers=3)
    assert (tmp_path / "killed").exists()


def test_a_worker_that_dies_again_and_again_ends_the_work(cluster: None) -> None:
    def job(_: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(pn.EngineError, match="a worker died 4 times over one job"):
        list(engines.RayWorkers().call(job, [(1,)]))


def test_a_cluster_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}", "127.0.0.1:99999"):
        monkeypatch.setenv("RAY_ADDRESS", address)
        with pytest.raises(pn.EngineError, match=f"RAY_ADDRESS is {address}, and no Ray answers"):
            engines.RayWorkers()


def test_an_object_store_that_is_full_is_said_to_be(cluster: None) -> None:
    with (
        pytest.raises(pn.MemoryLimitError, match="object store is full, and so is the disk"),
        engines.RayWorkers().typed(),
    ):
        raise ray.exceptions.ObjectStoreFullError


def test_a_data_set_gets_labels_in_the_order_of_its_rows(
    cluster: None, model: Path, tagger: pn.Tagger, small: list[tuple[list[str], list[str]]]
) -> None:
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    rows = [{"number": number, "tokens": words} for number, (words, _) in enumerate(small)]
    dataset = ray.data.from_items(rows).repartition(3)
    found = arrow.tag_dataset(dataset, model, batch_size=5).take_all()
    assert [row["number"] for row in found] == list(range(len(small)))
    assert [list(row["tag"]) for row in found] == tagger.tag_sents([w for w, _ in small])


def test_a_job_whose_process_dies_is_done_again(cluster: None, tmp_path: Path) -> None:
    def job(number: int) -> int:
        begun = tmp_path / str(number)
        if number == 3 and not begun.exists():
            begun.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number * number

    numbers = ((number,) for number in range(6))
    assert sorted(engines.RayWorkers().call(job, numbers)) == [0, 1, 4, 9, 16, 25]


def test_the_command_line_tags_a_folder_and_goes_on_with_what_is_not_done(
    cluster: None, folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder.parent / "out"
    command = ["tag", "--engine", "ray", str(model), str(folder), str(out)]
    assert main([*command, "--column", "upos"]) == 0
    assert "files tagged: 3, done before: 0" in capsys.readouterr().err
    for name in ("a.conllu", "deeper/b.conllu"):
        assert main(["tag", str(model), str(folder / name), "--column", "upos"]) == 0
        assert (out / name).read_text() == capsys.readouterr().out
    before = (out / "a.conllu").stat().st_mtime_ns
    (out / "deeper" / "b.conllu").unlink()
    assert main([*command, "--column", "upos"]) == 0
    assert "files tagged: 1, done before: 2, not tagged: 0" in capsys.readouterr().err
    assert (out / "a.conllu").stat().st_mtime_ns == before
    assert main(command) == 2
    assert "column: the files in" in capsys.readouterr().err


def test_bad_files_are_named_and_the_others_are_tagged(
    cluster: None, folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.conllu").write_text("1\tno\ttabs\n\n")
    (folder / "worse.parquet").write_text("none")
    (folder / "gone.conllu").symlink_to(folder / "nowhere")
    out = folder.parent / "out"
    assert (
        main(["tag", "--engine", "ray", str(model), str(folder), str(out), "--column", "upos"]) == 2
    )
    said = capsys.readouterr().err
    assert f"{folder / 'bad.conllu'}:1: " in said and said.count("\n") == 4
    assert "worse.parquet: is no Parquet file" in said and "gone.conllu: " in said
    assert "files tagged: 3, done before: 0, not tagged: 3" in said
    assert not (out / "bad.conllu").exists() and (out / "words.parquet").exists()


def test_the_command_line_trains_with_workers(
    cluster: None, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "new.model"
    options = ["--engine", "ray", "--workers", "2", "--templates", "fast", "--epochs", "2"]
    assert main(["train", str(folder / "a.conllu"), *options, "--model", str(model)]) == 0
    assert pn.load(model).model.record["sharding"]["workers"] == 2
