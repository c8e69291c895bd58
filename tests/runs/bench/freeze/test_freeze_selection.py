"""`arena freeze` with options: labels, leaks, draws, copies, Parquet, licence and the card."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.support.labelled import label, season
from tests.support.played import CLIP_BYTES, battle, invoke, lineage, manifest, play, slot, video
from tests.support.set_cards import read_card
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Battle, Sampling, StoredAnswer, Subtitles
from videoautoarena.memory.store.evidence import Label
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import Item
from videoautoarena.runs.bench.format.verify import verify
from videoautoarena.runs.bench.freeze.freeze import BenchExtras, freeze
from videoautoarena.runs.bench.freeze.selection import BenchSelection, longer
from videoautoarena.runs.run.rundir.reader import SUBTITLES


def items(bench: Path) -> list[Item]:
    return open_bench(bench).items


def said(verdict: str, by: str = "anna", of: str | None = None) -> Label:
    told = {"battle": of or slot(video(), 0).id, "labeller": by, "verdict": verdict}
    return Label.model_validate(told)


def labelled(tmp_path: Path, *labels: Label) -> Path:
    out = play(tmp_path / "out", lineage(video()))
    label(out, *labels)
    freeze(out, tmp_path / "bench")
    return tmp_path / "bench"


def test_people_select_where_they_labelled_and_the_item_says_so(tmp_path: Path) -> None:
    first, second = items(labelled(tmp_path, said("b"), said("b", "ben"), said("a", "cem")))
    assert (first.selected_model, first.rejected_model) == ("owl", "hawk")
    assert (first.selected_seat, first.selected_answer) == ("b", "A carrot.")
    assert first.chosen_by == "labels"
    assert first.votes is not None
    assert first.votes.model_dump() == {"selected": 2, "rejected": 1, "tie": 0}
    assert (second.chosen_by, second.votes) == ("judge", None)


@pytest.mark.parametrize(
    "labels",
    [[said("tie_bad")], [said("a"), said("b", "ben")], [said("a"), said("tie_good", "ben")]],
    ids=["a tie", "one each", "half a tie"],
)
def test_where_people_see_no_winner_the_battle_is_left_out(
    tmp_path: Path, labels: list[Label]
) -> None:
    bench = labelled(tmp_path, *labels)
    assert [item.round for item in items(bench)] == [1]
    assert "| people saw no winner | 1 |" in read_card(bench)


def test_people_may_see_a_winner_where_the_judge_saw_a_tie(tmp_path: Path) -> None:
    tied = slot(video(), 2).id
    bench = labelled(tmp_path, said("a", of=tied))
    assert [item.chosen_by for item in items(bench)] == ["judge", "judge", "labels"]
    card = read_card(bench)
    assert "Most labels of people chose 1 of 3" in card
    assert "most labels of people selected" in card


def with_blind(tmp_path: Path, battles: Iterable[Battle]) -> Path:
    settings = manifest(models=["hawk", "owl", "blind"])
    settings["cast"]["blind"] = {"model": "offline:blind", "max_frames": 0}
    return play(tmp_path / "out", battles, settings=settings)


def test_the_leak_filter_drops_what_a_contestant_without_frames_won(tmp_path: Path) -> None:
    places = [slot(video(), round_) for round_ in range(3)]
    won = battle(places[0], model_a="blind")
    lost = battle(places[1], model_b="blind")
    out = with_blind(tmp_path, [won, lost, battle(places[2])])
    frozen = freeze(out, tmp_path / "bench", BenchSelection(leak_filter=True))
    assert [item.round for item in items(tmp_path / "bench")] == [1, 2]
    assert frozen.dropped == {"won without a frame": 1}
    assert frozen.is_leak_known


def test_a_leak_filter_that_cannot_know_says_so(tmp_path: Path) -> None:
    out = play(tmp_path / "out", lineage(video()))
    result = invoke("freeze", out, "--to", tmp_path / "bench", "--leak-filter")
    assert "--leak-filter found nothing: no model played without frames" in result.output
    assert "it is unknown which questions need the video" in read_card(tmp_path / "bench")


def test_a_newcomer_without_frames_shows_leaks_too(tmp_path: Path) -> None:
    place = slot(video(), 0)
    guest = place.model_copy(update={"id": f"{place.id}+1", "generation": 1, "ordinal": 1})
    asked = {"question": "Who?", "persona_text": "A person."}
    stored = StoredAnswer(battle=place.id, seat="b")
    out = with_blind(
        tmp_path,
        [battle(place, **asked), battle(guest, model_a="blind", borrowed=stored, **asked)],
    )
    with pytest.raises(BadInput, match=r"none of 1 questions is left \(1 won without a frame\)"):
        freeze(out, tmp_path / "bench", BenchSelection(leak_filter=True))
    with pytest.raises(BadInput, match=r"none of 1 questions is left \(1 won without a frame\)"):
        freeze(out, tmp_path / "bench", BenchSelection(leak_filter=True, distinct=True))
    freeze(out, tmp_path / "bench")
    assert [item.battle for item in items(tmp_path / "bench")] == [place.id]


def test_a_battle_over_a_stored_answer_ends_nothing_that_comes_after_it(tmp_path: Path) -> None:
    first = slot(video(), 0)
    second = slot(video(), 1, ordinal=2, generation=2)
    guest = first.model_copy(update={"id": f"{first.id}+1", "generation": 1, "ordinal": 1})
    stored = StoredAnswer(battle=first.id, seat="b")
    battles = [battle(first), battle(guest, borrowed=stored), battle(second)]
    play(tmp_path / "out", battles, slots=[first, guest, second])
    freeze(tmp_path / "out", tmp_path / "bench")
    assert [item.battle for item in items(tmp_path / "bench")] == [first.id, second.id]


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 120 battles over 20 videos."""
    out = tmp_path_factory.mktemp("big") / "out"
    season(out, videos=20)
    return out


ALL = (
    *("--size", "20", "--per-video", "3", "--leak-filter", "--length-matched"),
    *("--separating", "--seed", "3", "--licence", "CC0-1.0"),
)


def test_the_same_run_and_seed_freeze_to_the_same_bytes(big: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert invoke("freeze", big, "--to", tmp_path / name, *ALL).exit_code == 0
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("one", "two"))
    assert one == two
    invoke("freeze", big, "--to", tmp_path / "three", *ALL, "--seed", "4")
    assert (tmp_path / "three" / "questions.jsonl").read_bytes() != one["questions.jsonl"]


def test_without_a_seed_of_its_own_a_bench_is_drawn_by_that_of_its_run(
    big: Path, tmp_path: Path
) -> None:
    frozen = {
        seed: freeze(big, tmp_path / str(seed), BenchSelection(size=20, seed=seed))
        for seed in (None, 7, 0)
    }
    # The run's seed is 7, as tests/support/played.py has it.
    assert open_bench(tmp_path / "None").manifest.selection["seed"] == 7
    assert frozen[None].bench == frozen[7].bench
    chosen = {seed: {item.qid for item in items(tmp_path / str(seed))} for seed in frozen}
    assert chosen[None] == chosen[7] != chosen[0]


def test_a_length_matched_bench_gives_length_half(big: Path, tmp_path: Path) -> None:
    invoke("freeze", big, "--to", tmp_path / "bench", *ALL)
    found = items(tmp_path / "bench")
    assert len(found) == 20
    assert sum(map(longer, found)) == 0
    half = sum(longer(item) > 0 for item in found)
    assert f"the longer one in {half} of {len(found)}" in read_card(tmp_path / "bench")


def test_the_manifest_says_how_questions_were_chosen(big: Path, tmp_path: Path) -> None:
    invoke("freeze", big, "--to", tmp_path / "bench", *ALL)
    told = open_bench(tmp_path / "bench").manifest
    assert (told.selection["size"], told.selection["seed"]) == (20, 3)
    assert told.licence == "CC0-1.0"
    without = told.selection["without_winner"]
    left = told.selection["left_out"]
    assert isinstance(without, dict)
    assert isinstance(left, dict)
    assert told.count + sum(map(int, (*without.values(), *left.values()))) == 120
    assert sum(told.counts["category"].values()) == told.count
    assert told.source.digest is not None


def test_fewer_than_were_wanted_are_frozen_and_it_says_so(big: Path, tmp_path: Path) -> None:
    result = invoke("freeze", big, "--to", tmp_path / "bench", "--size", 5000)
    assert result.exit_code == 0
    assert "5000 were requested; there are no more" in result.output
    assert len(items(tmp_path / "bench")) > 100


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {},
            "- judged from both seats: 10 % of battles\n- preset: none\n- frames: up to 128 a ",
        ),
        ({"swap": "all"}, "- judged from both seats: all battles\n"),
        ({"swap": 0.1 + 0.2}, "- judged from both seats: 30 % of battles\n"),
        ({"swap": 0}, "- judged from both seats: none\n"),
        ({"pairing": None}, "- pairing: unknown\n"),
        ({"sampling": {}}, "- frames: unknown\n"),
        (
            {"sampling": {**Sampling().model_dump(), "policy": "fps", "fps": 0.5}},
            "- frames: up to 128 a video, 0.5 a second, 512 px on the longer side, quality 85\n",
        ),
    ],
)
def test_the_card_says_in_words_how_the_run_was_played(
    tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    play(tmp_path / "out", lineage(video()), settings=manifest(**changed))
    freeze(tmp_path / "out", tmp_path / "bench", BenchSelection())
    assert said in read_card(tmp_path / "bench")


def test_the_card_repeats_the_alarms_of_the_audit_and_the_licence(
    big: Path, tmp_path: Path
) -> None:
    invoke("freeze", big, "--to", tmp_path / "bench", "--licence", "mine | <b>")
    card = read_card(tmp_path / "bench")
    audit = json.loads(invoke("audit", big, "--json").output)["findings"]
    sentences = [found["sentence"] for found in audit if found["alarm"]]
    assert card.count("**Alarm:**") == len(sentences)
    assert "The longer answer won" in card
    assert "mine \\| \\<b\\>" in card


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--separating",), "needs --size"), (("--size", 3, "--by", "colour"), "none of duration")],
)
def test_options_that_cannot_work_are_one_line(
    big: Path, tmp_path: Path, words: tuple[Any, ...], said: str
) -> None:
    refused = invoke("freeze", big, "--to", tmp_path / "bench", *words)
    assert isinstance(refused.exception, BadInput)
    assert said in str(refused.exception)
    assert not (tmp_path / "bench").exists()


@pytest.fixture
def spoken(tmp_path: Path) -> Path:
    """A run with a clip and its subtitles, which lie in `clips`."""
    film = video(path="deep/clip.MP4")
    out = play(tmp_path / "out", lineage(film), videos=[film])
    words = b"1\n00:00:01,000 --> 00:00:02,000\nSalt.\n"
    clips = tmp_path / "clips" / "deep"
    clips.mkdir(parents=True)
    (clips / "clip.MP4").write_bytes(CLIP_BYTES)
    (clips / "clip.srt").write_bytes(words)
    from videoautoarena.memory.records.digests import digest

    kept = Subtitles(path="deep/clip.srt", sha256=digest(words), code="0" * 16, cues=())
    with Store.open(out / "run.sqlite", write=True) as store:
        store.put_file(f"{SUBTITLES}{film.id}", kept.model_dump_json())
    return out


def test_copies_lie_in_the_bench_under_their_ids_and_are_checked(
    spoken: Path, tmp_path: Path
) -> None:
    bench = tmp_path / "bench"
    clips = tmp_path / "clips"
    freeze(spoken, bench, extras=BenchExtras(with_videos=True, videos=clips))
    names = [f"{video().id}.mp4", f"{video().id}.srt"]
    assert sorted(path.name for path in (bench / "videos").iterdir()) == names
    assert (verify(bench, None).problems, verify(bench, None).videos_checked) == ([], True)
    assert open_bench(bench).videos == bench / "videos"
    assert freeze(spoken, bench, extras=BenchExtras(with_videos=True, videos=clips)).was_there
    with pytest.raises(BadInput, match="leave videos= out"):
        verify(bench, clips)


@pytest.mark.parametrize(
    ("name", "problem"), [(".mp4", "has changed"), (".srt", "has other subtitles")]
)
def test_a_changed_or_missing_copy_is_named(
    spoken: Path, tmp_path: Path, name: str, problem: str
) -> None:
    bench = tmp_path / "bench"
    freeze(spoken, bench, extras=BenchExtras(with_videos=True, videos=tmp_path / "clips"))
    copy = bench / "videos" / f"{video().id}{name}"
    copy.write_bytes(copy.read_bytes()[::-1])
    assert [problem in told for told in verify(bench, None).problems] == [True]
    copy.unlink()
    assert len(verify(bench, None).problems) == 1
    (bench / "videos" / "stranger").write_text("")
    assert "videos/stranger does not belong to the bench" in verify(bench, None).problems


def test_referred_videos_are_checked_with_their_subtitles(spoken: Path, tmp_path: Path) -> None:
    freeze(spoken, tmp_path / "bench")
    assert verify(tmp_path / "bench", tmp_path / "clips").problems == []
    (tmp_path / "clips" / "deep" / "clip.srt").unlink()
    (told,) = verify(tmp_path / "bench", tmp_path / "clips").problems
    assert told.endswith("lacks its subtitles")


def test_a_video_that_is_gone_or_changed_is_not_copied(spoken: Path, tmp_path: Path) -> None:
    clip = tmp_path / "clips" / "deep" / "clip.MP4"
    wanted = BenchExtras(with_videos=True, videos=tmp_path / "clips")
    clip.write_bytes(CLIP_BYTES[::-1])
    with pytest.raises(BadInput, match="is not the file that the run saw"):
        freeze(spoken, tmp_path / "bench", extras=wanted)
    clip.unlink()
    with pytest.raises(BadInput, match="pass the folder that has it"):
        freeze(spoken, tmp_path / "bench", extras=wanted)
    with pytest.raises(BadInput, match="pass their folder with videos="):
        freeze(spoken, tmp_path / "bench", extras=BenchExtras(with_videos=True))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clips", "out"]


def test_parquet_and_readme_hold_the_same_questions(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    asked = battle(slot(video(), 0), question="\ud800 or what?")
    out = play(tmp_path / "out", [asked])
    bench = tmp_path / "bench"
    freeze(out, bench, extras=BenchExtras(parquet=True, licence="CC BY 4.0"))
    (row,) = pq.read_table(bench / "test.parquet").to_pylist()
    (item,) = items(bench)
    assert (row["qid"], row["selected_answer"]) == (item.qid, item.selected_answer)
    assert row["question"] == "\\ud800 or what?"
    assert json.loads(row["judge_verdicts"])[0]["seats"] == "ba"
    readme = (bench / "README.md").read_text()
    assert readme.startswith("---\nlicense: cc-by-4.0\n")
    assert "path: test.parquet" in readme
    assert verify(bench, None).problems == []


def test_a_changed_byte_of_the_parquet_file_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    bench = tmp_path / "bench"
    freeze(play(tmp_path / "out", lineage(video())), bench, extras=BenchExtras(parquet=True))
    content = bytearray((bench / "test.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    (bench / "test.parquet").write_bytes(content)
    assert verify(bench, None).problems == ["test.parquet has changed: its digest does not match"]


def test_results_beside_a_bench_do_not_make_it_another(tmp_path: Path) -> None:
    out = play(tmp_path / "out", lineage(video()))
    bench = tmp_path / "bench"
    freeze(out, bench)
    (bench / "results").mkdir()
    (bench / "results" / "hawk.jsonl").write_text("{}\n")
    assert freeze(out, bench).was_there
