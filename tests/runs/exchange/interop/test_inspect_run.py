"""A run's battles as logs that Inspect's viewer opens."""

from __future__ import annotations

import json
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from tests.support.clips import draw_folder
from tests.support.inspect_logs import read_log, read_logs
from tests.support.played import battle, call, invoke, lineage, manifest, play, slot, video
from tests.support.small_runs import play as play_small
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import Nonce, Usage
from videoautoarena.runs.exchange.interop.inspect_log import plain_id

AS_LOGS = ("--what", "battles", "--format", "inspect", "--to")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A run of four videos with a forfeit and a void, and what was asked for its first battle."""
    films = [video(f"clip {k}".encode(), path=f"{k}.mp4") for k in range(4)]
    battles = [one for film in films for one in lineage(film)]
    lost = {"answer_a": None, "frames_a": (), "verdicts": ()}
    battles[-2] = battle(slot(films[-1], 1), verdict="forfeit_a", reason="too long", **lost)
    battles[-1] = battle(slot(films[-1], 2), verdict="void", reason="frames changed", **lost)
    first = battles[0].id
    spoken = call(
        first,
        nonce=Nonce(scope=first, role="contestant"),
        model="offline:hawk",
        alias="hawk",
        usage=Usage(input_tokens=70, output_tokens=7),
        ending="length",
    )
    return play(tmp_path / "out", battles, videos=films, calls=[spoken, call(first)])


def test_a_battle_stands_in_the_logs_of_both_with_answers_and_the_judges_words(
    out: Path, tmp_path: Path
) -> None:
    told = invoke("export", out, *AS_LOGS, tmp_path / "logs")
    assert told.exit_code == 0, told.output
    logs = read_logs(tmp_path / "logs")
    assert list(logs) == ["hawk", "mole", "owl"]
    with_hawk, with_owl = (next(iter(logs[name].samples.values())) for name in ("hawk", "owl"))
    assert with_hawk["id"] == with_owl["id"]
    assert [m["role"] for m in with_hawk["messages"]] == ["system", "user", "assistant", "user"]
    assert "A person who cooks." in with_hawk["messages"][0]["content"]
    assert with_hawk["input"][0]["content"] == "What is in the pan in round 0?"
    assert with_hawk["output"]["completion"] == "An onion, diced, from second 3 on."
    assert with_hawk["target"] == "A carrot."
    assert with_hawk["output"]["choices"][0]["stop_reason"] == "max_tokens"
    assert with_hawk["scores"]["battle"]["value"] == 1.0
    assert with_hawk["scores"]["battle"]["answer"] == "win over owl"
    assert with_owl["scores"]["battle"]["answer"] == "loss to hawk"
    # The judge read owl's answer first, as its A.
    words = with_hawk["scores"]["battle"]["explanation"]
    assert "**judge** (A is owl, B is hawk): hawk" in words
    assert "accuracy: B is right, A is not." in words
    assert with_hawk["model_usage"]["hawk"]["total_tokens"] == 77
    assert with_hawk["role_usage"]["judge"]["total_tokens"] == 1050
    assert with_hawk["metadata"]["frames_s"] == [float(second) for second in range(12)]
    assert with_hawk["metadata"]["battle_prompts"] == {"judge": digest("judge")}
    assert with_hawk["metadata"]["rival"] == "owl"


def test_its_figures_are_those_of_the_leaderboard(out: Path, tmp_path: Path) -> None:
    invoke("export", out, *AS_LOGS, tmp_path / "logs")
    rows = json.loads(invoke("leaderboard", out, "--json").stdout)["models"]
    logs = read_logs(tmp_path / "logs")
    for row in rows:
        figures = logs[row["model"]].metrics["battle"]
        names = ("rating", "low", "high", "battles", "wins", "losses", "ties", "forfeits")
        assert {name: figures[name] for name in names} == {name: row[name] for name in names}
    assert next(iter(logs["hawk"].metrics["battle"])) == "rating"


def test_what_one_model_takes_the_other_gives(out: Path, tmp_path: Path) -> None:
    invoke("export", out, *AS_LOGS, tmp_path / "logs")
    taken: dict[str, list[float]] = {}
    for log in read_logs(tmp_path / "logs").values():
        for id_, sample in log.samples.items():
            taken.setdefault(id_, []).extend(s["value"] for s in sample["scores"].values())
    assert {sum(points) for points in taken.values() if points} == {1.0}
    assert sorted(map(len, taken.values())) == [0, 0, *[2] * 10]


def test_a_void_is_an_error_and_a_forfeit_one_of_who_forfeits(out: Path, tmp_path: Path) -> None:
    invoke("export", out, *AS_LOGS, tmp_path / "logs")
    logs = read_logs(tmp_path / "logs")
    errors = {
        name: [s["error"]["message"] for s in log.samples.values() if "error" in s]
        for name, log in logs.items()
    }
    assert errors["hawk"] == ["forfeit: too long", "void: frames changed"]
    assert errors["owl"] == ["void: frames changed"]
    results = logs["hawk"].header["results"]
    assert results["total_samples"] - results["completed_samples"] == 2


def test_the_same_run_makes_the_same_bytes_and_replaces_none_unasked(
    out: Path, tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    invoke("export", out, *AS_LOGS, logs)
    before = {file.name: file.read_bytes() for file in logs.iterdir()}
    refused = invoke("export", out, *AS_LOGS, logs)
    assert "already exists" in str(refused.exception)
    assert invoke("export", out, *AS_LOGS, logs, "--force").exit_code == 0
    assert {file.name: file.read_bytes() for file in logs.iterdir()} == before


def test_text_and_names_of_strangers_stay_text(tmp_path: Path) -> None:
    evil = "../../x\x1b[2J\x00<script>alert(1)</script>"
    film = video()
    cast = {name: {"model": f"offline:{name}", "key_env": "A_KEY"} for name in (evil, "owl")}
    settings = manifest(models=[evil, "owl"], cast=cast)
    told = {"question": evil, "answer_a": evil, "persona_text": evil, "category": evil}
    fight = battle(slot(film, 0), model_a=evil, **told)
    out = play(tmp_path / "out", [fight], videos=[film], settings=settings)
    assert invoke("export", out, *AS_LOGS, tmp_path / "logs").exit_code == 0
    files = list((tmp_path / "logs").iterdir())
    for file in files:
        content = read_log(file)
        assert "A_KEY" not in json.dumps(content)
        (sample,) = content.samples.values()
        assert sample["input"][0]["content"] == evil
    assert len(files) == 2


def test_an_id_that_could_be_a_path_is_replaced_by_one_of_its_own() -> None:
    ours = "0123456789ab-p1-r0~1"
    assert plain_id(ours) == ours
    strange = ["../x", "a/b", "", ".", "x" * 200, "a b", "é"]
    made = {plain_id(text) for text in strange}
    assert len(made) == len(strange)
    assert all(plain_id(text) == text for text in made)


def test_a_run_that_is_not_finished_says_so(tmp_path: Path) -> None:
    film = video()
    battles = lineage(film)
    places = [slot(film, k, ordinal=k) for k in range(3)]
    out = play(tmp_path / "out", battles[:2], videos=[film], slots=places)
    invoke("export", out, *AS_LOGS, tmp_path / "logs")
    assert {log.header["status"] for log in read_logs(tmp_path / "logs").values()} == {"cancelled"}


def test_thumbnails_are_of_frames_that_were_sent(tmp_path: Path) -> None:
    out = tmp_path / "out"
    play_small(draw_folder(tmp_path / "videos", 1, seconds=2), out, rounds=1)
    told = invoke("export", out, *AS_LOGS, tmp_path / "logs", "--frames", 2)
    assert told.exit_code == 0, told.output
    seen = 0
    for name, log in read_logs(tmp_path / "logs").items():
        for sample in log.samples.values():
            kept = sample["attachments"].values()
            assert len(kept) == (0 if name == "offline:blind" else 2)
            for one in kept:
                with Image.open(BytesIO(b64decode(one.split(",")[1]))) as picture:
                    assert 100 <= max(picture.size) <= 192
                    seen += 1
    assert seen > 0


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        (("--format", "inspect", "--to", "x"), "needs --what battles"),
        (("--what", "battles", "--format", "inspect"), "name it with --to"),
        (("--frames", "2"), "--frames needs"),
    ],
)
def test_what_does_not_go_together_is_refused(
    out: Path, typed: tuple[str, ...], wrong: str
) -> None:
    told = invoke("export", out, *typed)
    assert told.exit_code == 2
    assert wrong in told.output
