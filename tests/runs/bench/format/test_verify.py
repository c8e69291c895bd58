"""A bench that is not what was frozen is noticed, whatever was done to it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.played import CLIP_BYTES, invoke, lineage, play, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.schema import digest_of, manifest_bytes, sealed_file
from videoautoarena.runs.bench.format.verify import VerifiedBench, verify
from videoautoarena.runs.bench.freeze.freeze import freeze

FILES = ("manifest.json", "questions.jsonl", "card.md")


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The bytes of a bench that is in order."""
    folder = tmp_path_factory.mktemp("frozen")
    freeze(play(folder / "out", lineage(video())), folder / "bench")
    return {name: (folder / "bench" / name).read_bytes() for name in FILES}


@pytest.fixture
def bench(tmp_path: Path, intact: dict[str, bytes]) -> Path:
    return lay(tmp_path / "bench", intact)


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    return lay(tmp_path / "clips", {"clip.mp4": CLIP_BYTES})


def lay(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def problems(bench: Path, clips: Path | None = None) -> str:
    return "\n".join(verify(bench, clips).problems)


def reseal(bench: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the manifest as somebody would who also makes its own digest fit."""
    manifest = json.loads((bench / "manifest.json").read_bytes())
    del manifest["bench"]
    change(manifest)
    manifest["bench"] = digest_of(manifest)
    (bench / "manifest.json").write_bytes(manifest_bytes(manifest))


def check_elsewhere(files: dict[str, bytes]) -> VerifiedBench:
    with tempfile.TemporaryDirectory() as folder:
        return verify(lay(Path(folder) / "bench", files), None)


def test_a_fresh_bench_is_intact_and_its_videos_unchecked(bench: Path) -> None:
    result = invoke("bench", "verify", bench)
    assert result.exit_code == 0
    assert "intact" in result.output
    assert "1 video unchecked; pass --videos DIR" in result.output


def test_a_bench_with_its_videos_is_intact(bench: Path, clips: Path) -> None:
    result = invoke("bench", "verify", bench, "--videos", clips)
    assert result.exit_code == 0
    assert "1 video checked" in result.output


def test_json_says_the_same(bench: Path, clips: Path) -> None:
    told = json.loads(invoke("bench", "verify", bench, "--json").output)
    assert (told["schema"], told["ok"], told["questions"]) == (1, True, 2)
    assert (told["videos"], told["videos_checked"], told["problems"]) == (1, False, [])


def test_a_problem_is_a_line_and_exit_code_1(bench: Path) -> None:
    (bench / "card.md").write_text("nicer")
    result = invoke("bench", "verify", bench)
    assert result.exit_code == 1
    assert result.output.startswith("card.md has changed")
    assert json.loads(invoke("bench", "verify", bench, "--json").output)["ok"] is False


@given(st.sampled_from(FILES), st.integers(0, 10**6), st.integers(1, 255))
def test_any_changed_byte_of_any_file_is_noticed(
    intact: dict[str, bytes], name: str, place: int, change: int
) -> None:
    content = bytearray(intact[name])
    content[place % len(content)] ^= change
    assert check_elsewhere({**intact, name: bytes(content)}).problems


@given(st.sampled_from(FILES), st.integers(0, 10**6), st.binary(max_size=3))
def test_any_cut_or_longer_file_is_noticed(
    intact: dict[str, bytes], name: str, length: int, more: bytes
) -> None:
    changed = intact[name][: length % len(intact[name])] + more
    assert check_elsewhere({**intact, name: changed}).problems
    assert check_elsewhere({**intact, name: intact[name] + b"\n" + more}).problems


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else ()
    for key, below in enumerate(value) if isinstance(value, list) else inner:
        yield (*path, key)
        yield from places(below, (*path, key))


def put(value: Any, path: tuple[Any, ...], new: Any) -> None:
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = new


@given(st.data(), JSON | st.just(10**400))
def test_no_value_anywhere_in_a_manifest_brings_verify_down(
    intact: dict[str, bytes], data: st.DataObject, value: Any
) -> None:
    manifest = json.loads(intact["manifest.json"])
    put(manifest, data.draw(st.sampled_from(list(places(manifest)))), value)
    forged = json.dumps(manifest).encode()
    assert check_elsewhere({**intact, "manifest.json": forged}).problems


@given(st.data(), JSON | st.just(10**400))
def test_no_value_anywhere_in_a_question_brings_verify_down(
    intact: dict[str, bytes], data: st.DataObject, value: Any
) -> None:
    question = json.loads(intact["questions.jsonl"].splitlines()[0])
    put(question, data.draw(st.sampled_from(list(places(question)))), value)
    forged = json.dumps(question).encode()
    with tempfile.TemporaryDirectory() as folder:
        bench = lay(Path(folder) / "bench", intact)
        forge(bench, forged)
        assert verify(bench, None).problems


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not ASCII JSON"),
        (b"\xff\xfe", "is not ASCII JSON"),
        (b"[" * 10**6, "nested too deep"),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, "nested too deep"),
        (b'{"schema": 1, "run": ' + b"[" * 900 + b"]" * 900 + b"}", "manifest.json"),
        (b"9" * 10**5, "is not ASCII JSON"),
        (b'{"schema": 1e999}', "holds invalid values"),
        (b'{"schema": NaN}', "holds invalid values"),
        (b'{"schema": true}', "is invalid"),
        (b"[]", "holds no JSON object"),
        (b'"' + b"x" * (17 * 2**20) + b'"', "is larger than 16 MB"),
        (b'{"schema": 3}', "newer than 2; update"),
        (b'{"schema": 1' + b"0" * 400 + b"}", "newer than 2; update"),
    ],
    ids=range(13),
)
def test_a_hostile_manifest_is_one_clear_line(bench: Path, content: bytes, said: str) -> None:
    (bench / "manifest.json").write_bytes(content)
    lines = invoke("bench", "verify", bench).output.splitlines()
    assert len(lines) == 2
    assert said in lines[0]


def test_a_missing_file_is_named(bench: Path) -> None:
    for name in FILES:
        (bench / name).rename(bench.parent / name)
        assert f"{name} is missing" in problems(bench)
        (bench.parent / name).rename(bench / name)


def test_a_file_too_many_is_named_safely(bench: Path) -> None:
    (bench / "extra\x1b[2J").write_text("")
    assert "extra\\x1b[2J does not belong" in invoke("bench", "verify", bench).output


def test_a_pipe_or_a_link_in_place_of_a_file_is_not_opened(bench: Path) -> None:
    (bench / "card.md").rename(bench.parent / "card.md")
    (bench / "card.md").symlink_to(bench.parent / "card.md")
    assert "card.md is missing or no regular file" in problems(bench)
    (bench / "manifest.json").unlink()
    os.mkfifo(bench / "manifest.json")
    assert "manifest.json is missing or no regular file" in problems(bench)


@pytest.mark.parametrize("name", FILES[1:])
def test_a_removed_hash_entry_is_noticed_even_when_the_manifest_is_resealed(
    bench: Path, name: str
) -> None:
    reseal(bench, lambda manifest: manifest["files"].pop(name))
    assert f"manifest.json lacks {name}" in problems(bench)


def test_a_removed_entry_alone_breaks_the_manifests_own_digest(bench: Path) -> None:
    manifest = json.loads((bench / "manifest.json").read_bytes())
    manifest["files"].pop("card.md")
    (bench / "manifest.json").write_bytes(manifest_bytes(manifest))
    assert "its own digest does not match" in problems(bench)


def test_a_manifest_that_says_the_same_in_other_bytes_is_noticed(bench: Path) -> None:
    same = json.dumps(json.loads((bench / "manifest.json").read_bytes()))
    (bench / "manifest.json").write_text(same)
    assert "not written as it was frozen" in problems(bench)


def test_a_question_about_an_unlisted_video_is_named(bench: Path) -> None:
    reseal(bench, lambda manifest: manifest["videos"].clear())
    assert f"asks about video {video().id}, which manifest.json does not list" in problems(bench)


def test_a_video_under_another_digest_is_named(bench: Path) -> None:
    reseal(bench, lambda manifest: manifest["videos"][video().id].update(sha256="0" * 64))
    assert "under a digest that is not its own" in problems(bench)


def forge(bench: Path, content: bytes) -> None:
    """Put other questions into a bench and seal it anew."""
    (bench / "questions.jsonl").write_bytes(content)
    entry = sealed_file(content).model_dump()
    reseal(bench, lambda manifest: manifest["files"].update({"questions.jsonl": entry}))


def test_a_repeated_question_is_named_even_when_all_is_resealed(bench: Path) -> None:
    first, _ = (bench / "questions.jsonl").read_bytes().splitlines(keepends=True)
    forge(bench, first * 2)
    assert "line 2 repeats the qid" in problems(bench)


def test_an_answer_changed_and_resealed_no_longer_fits_its_qid(bench: Path) -> None:
    forge(bench, (bench / "questions.jsonl").read_bytes().replace(b"A carrot.", b"A turnip"))
    assert "does not belong to its content" in problems(bench)


def test_a_lost_question_is_counted_even_when_all_is_resealed(bench: Path) -> None:
    forge(bench, (bench / "questions.jsonl").read_bytes().splitlines(keepends=True)[0])
    assert "holds 1 question, not 2" in problems(bench)


def test_a_question_that_was_edited_is_named_whether_it_became_longer_or_not(bench: Path) -> None:
    file = bench / "questions.jsonl"
    for new in (b"A turnip", b"A turnip, of course."):
        before = file.read_bytes()
        file.write_bytes(before.replace(b"A carrot.", new, 1))
        told = problems(bench)
        assert "questions.jsonl has changed" in told
        assert "questions.jsonl line 1 has the qid" in told
        assert "question or an answer changed" in told
        assert "holds 0" not in told
        file.write_bytes(before)


def test_a_model_that_was_renamed_is_named_by_what_there_is_more_and_less_of(bench: Path) -> None:
    file = bench / "questions.jsonl"
    said = b'"selected_model": "mole"'
    file.write_bytes(file.read_bytes().replace(said, said.replace(b"mole", b"nobody")))
    assert "holds 0 of selected_model mole, not 1" in problems(bench)
    assert "holds 1 of selected_model nobody, not 0" in problems(bench)


def test_a_file_that_grew_beyond_reason_is_not_read(bench: Path) -> None:
    with (bench / "questions.jsonl").open("ab") as file:
        file.write(b"[\n" * 10**5)
    (told,) = verify(bench, None).problems
    assert "questions.jsonl has changed: 2" in told


@pytest.mark.parametrize("line", [b"{}\n", b"[]\n", b"\xff\n", b"[" * 10**5, b"null\n", b"\n"])
def test_a_hostile_line_is_named(bench: Path, line: bytes) -> None:
    forge(bench, (bench / "questions.jsonl").read_bytes() + line)
    assert "questions.jsonl line 3 " in problems(bench)


def test_many_problems_are_cut_to_a_readable_number(bench: Path) -> None:
    forge(bench, b"{}\n" * 500)
    lines = invoke("bench", "verify", bench).output.splitlines()
    assert len(lines) == 52
    assert lines[-2:] == ["... and 451 more", "not intact: 501 problems"]


def test_a_missing_video_is_named(bench: Path, clips: Path) -> None:
    (clips / "clip.mp4").unlink()
    assert problems(bench, clips) == f"video {video().id} (clip.mp4) is missing"


@pytest.mark.parametrize("content", [CLIP_BYTES + b"!", b"N" + CLIP_BYTES[1:], b""])
def test_a_swapped_or_changed_video_is_named(bench: Path, clips: Path, content: bytes) -> None:
    (clips / "clip.mp4").write_bytes(content)
    assert "(clip.mp4) has changed" in problems(bench, clips)


@pytest.mark.parametrize(
    "path", ["../clips/clip.mp4", "/etc/passwd", "a/../clip.mp4", "", ".", "a\x00b", "\ud800"]
)
def test_a_path_never_leads_out_of_the_folder(bench: Path, clips: Path, path: str) -> None:
    reseal(bench, lambda manifest: manifest["videos"][video().id].update(path=path))
    assert "lies outside the folder" in problems(bench, clips)


def test_a_link_that_leads_out_is_not_followed(bench: Path, clips: Path, tmp_path: Path) -> None:
    (clips / "clip.mp4").rename(tmp_path / "clip.mp4")
    (clips / "clip.mp4").symlink_to(tmp_path / "clip.mp4")
    assert "lies outside the folder" in problems(bench, clips)


def test_a_link_inside_the_folder_is_as_good_as_the_file(bench: Path, clips: Path) -> None:
    (clips / "clip.mp4").rename(clips / "moved.mp4")
    (clips / "clip.mp4").symlink_to("moved.mp4")
    assert problems(bench, clips) == ""


def test_a_link_to_itself_is_a_missing_video(bench: Path, clips: Path) -> None:
    (clips / "clip.mp4").unlink()
    (clips / "clip.mp4").symlink_to("clip.mp4")
    assert "is missing" in problems(bench, clips)


def test_a_video_whose_name_is_no_unicode_is_found(tmp_path: Path) -> None:
    film = video(path="caf\udce9.mp4")
    freeze(play(tmp_path / "out", lineage(film), videos=[film]), tmp_path / "bench")
    assert problems(tmp_path / "bench", lay(tmp_path / "clips", {film.path: CLIP_BYTES})) == ""


def test_a_folder_that_is_none_is_the_users_error(bench: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    assert isinstance(invoke("bench", "verify", nothing).exception, BadInput)
    assert isinstance(invoke("bench", "verify", bench, "--videos", nothing).exception, BadInput)


def test_a_bench_copied_elsewhere_is_the_same_bench(bench: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(bench, tmp_path / "copy")
    assert verify(copy, None) == verify(bench, None)


def test_bench_offers_verify_alone() -> None:
    assert invoke("bench", "--help").output.count("verify") == 2
    assert invoke("bench", "score").exit_code == 2
