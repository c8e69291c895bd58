"""What others are given: a word on what to check before, and nothing of the machine it was made on.

One run is played over a server of its own, in a folder of somebody's home.
"""

from __future__ import annotations

import getpass
import json
import os
import re
import socket
import zlib
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile, is_zipfile

import pytest
from click.testing import Result

from tests.support.clips import draw_folder
from tests.support.loopback import serving
from tests.support.played import invoke
from tests.support.small_runs import play, toml
from videoautoarena.agents.offline import KINDS
from videoautoarena.runs.analysis.audit.label_sample import draw_sample
from videoautoarena.runs.bench.format.writer import BEFORE_PASSING_ON

HOME = "home-of-somebody"
PLACE = "a private place"
VARIABLE = "VARIABLE_OF_MINE"
KEY = "key-of-mine"
EXPORTS = ("calls", "battles", "labels", "trials", "setup", "videos", "users", "costs", "rounds",
           "standards", "preferences", "conversations")  # fmt: skip
FORMS = ("fastchat", "videoautoarena")
WORD = "before others get them,\ncheck licences, faces and personal data\n"


class Ground(NamedTuple):
    """A run, what is of its machine alone, and the folder for what others get."""

    out: Path
    given: Path
    private: tuple[str, ...]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    root = tmp_path_factory.mktemp("publishing")
    place = root / HOME / PLACE
    given = root / "given"
    given.mkdir()
    place.mkdir(parents=True)
    videos = draw_folder(place / "videos", 2, seconds=2)
    (videos / "videos.csv").write_text("path,License\nclip00.mp4,CC0\nclip01.mp4,CC-BY-4.0\n")
    with pytest.MonkeyPatch.context() as env, serving(root / "log") as server:
        env.setenv(VARIABLE, KEY)
        env.setenv("HOME", str(root / HOME))
        own = {"base_url": server.openai_url, "key_env": VARIABLE}
        names = ("hawk", "owl", "mole", "examiner", "judge")
        lines = [
            '[roles]\nmodels = ["hawk", "owl", "mole"]\nexaminer = "examiner"\njudge = "judge"\n'
        ]
        most = {name: {"max_frames": KINDS[name]} for name in names}
        lines.append(
            toml({name: {"model": f"openai:{name}", **own, **most[name]} for name in names})
        )
        (place / "arena.toml").write_text("".join(lines))
        play(videos, place / "out", models=(), config=place / "arena.toml", rounds=2)
        words = (str(root), HOME, PLACE, VARIABLE, KEY, "127.0.0.1", f":{server.port}")
        machine = (socket.gethostname(), getpass.getuser(), str(Path.cwd()))
        named = tuple(word for word in machine if len(word) > 4 and word != "localhost")
        yield Ground(place / "out", given, (*words, *named))


def texts(file: Path) -> Iterator[bytes]:
    """Yield the bytes of a file, and of whatever is packed in it."""
    packed = [file.read_bytes()]
    if is_zipfile(file):
        with ZipFile(file) as whole:
            packed = [whole.read(name) for name in whole.namelist()]
    for body in packed:
        yield body
        for match in re.finditer(rb"[A-Za-z0-9+/]{64,}={0,2}", body):
            try:
                raw = b64decode(match.group())
            except Error:
                continue
            for form in (15, -15, 31):
                try:
                    yield zlib.decompress(raw, form)
                except zlib.error:
                    continue


def assert_private(file: Path, words: tuple[str, ...]) -> None:
    """Check that a file names nothing of the machine."""
    for text in texts(file):
        for word in words:
            assert word.encode() not in text, f"{file.name} holds {word}"


def published(ground: Ground, to: Path, *typed: object) -> Result:
    """Type a command that writes `to`; nothing of what it writes may tell of the machine."""
    done = invoke(*typed, "--to", to)
    assert done.exit_code == 0, done.output
    written = [file for one in to.parent.glob(f"{to.stem}*") for file in (one, *one.rglob("*"))]
    assert written
    for file in filter(Path.is_file, written):
        assert_private(file, ground.private)
    return done


def test_a_bench_with_videos_is_free_of_the_machine_and_warns(ground: Ground) -> None:
    to = ground.given / "bench"
    typed = ("--with-videos", "--parquet", "--only-licence", "cc0")
    done = published(ground, to, "freeze", ground.out, *typed)
    assert f"copies of videos are in {to}: {WORD}" in done.stderr
    assert len(list((to / "videos").iterdir())) == 1
    for name in ("card.md", "README.md"):
        assert BEFORE_PASSING_ON in (to / name).read_text()
    done = invoke("freeze", ground.out, "--to", ground.given / "plain")
    assert WORD not in done.stderr


def test_a_report_is_free_of_the_machine_and_warns_where_it_has_frames(ground: Ground) -> None:
    for more in ((), ("--split",)):
        to = ground.given / f"report{len(more)}.html"
        done = published(ground, to, "report", ground.out, *more)
        assert f"frames of videos are in {to}: {WORD}" in done.stderr
    done = published(ground, to, "report", ground.out, "--thumbs", 0, "--force")
    assert WORD not in done.stderr


@pytest.mark.parametrize("what", EXPORTS)
def test_what_is_exported_is_free_of_the_machine(ground: Ground, what: str) -> None:
    to = ground.given / f"{what}.jsonl"
    done = published(ground, to, "export", ground.out, "--what", what)
    assert WORD not in done.stderr


def test_calls_name_no_server_of_ones_own(ground: Ground) -> None:
    rows = [json.loads(line) for line in invoke("export", ground.out).output.splitlines()]
    assert {row["endpoint"] for row in rows} == {"own server"}


def test_battles_in_other_forms_are_free_of_the_machine_and_logs_warn(ground: Ground) -> None:
    battles = ("export", ground.out, "--what", "battles", "--format")
    for form in FORMS:
        published(ground, ground.given / f"{form}.jsonl", *battles, form)
    to = ground.given / "logs"
    done = published(ground, to, *battles, "inspect", "--frames", 1)
    assert f"frames of videos are in {to}: {WORD}" in done.stderr
    done = published(ground, to, *battles, "inspect", "--force")
    assert WORD not in done.stderr


def test_a_sample_to_label_is_free_of_the_machine(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(ground.out.parents[1]))
    published(ground, ground.given / "drawn.csv", "labels", "sample", ground.out, "--n", 1)
    assert "clip0" in (ground.given / "drawn.csv").read_text()


def test_a_sample_beside_the_run_names_the_way_to_each_video(ground: Ground) -> None:
    for folder in (ground.out.parent, ground.out.parent / "deeper"):
        folder.mkdir(exist_ok=True)
        to = folder / f"{folder.name}.jsonl"
        draw_sample(ground.out, to, number=1)
        (row,) = map(json.loads, to.read_text().splitlines()[-1:])
        assert not os.path.isabs(row["video"])
        assert (folder / row["video"]).resolve().parent == ground.out.parent / "videos"
        assert (folder / row["video"]).is_file()
        assert_private(to, ground.private)
