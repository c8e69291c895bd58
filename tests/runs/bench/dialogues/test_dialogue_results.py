"""Files of results on dialogues fit the rounds they are about, and ids what is played."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.dialogue_results import GOOD, hand_in, line, said_alike
from tests.support.dialogue_sets import dialogue, turn, write_dialogues
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.points import decided
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import read_dialogues, write_result
from videoautoarena.runs.bench.format.schema import DialogueItem
from videoautoarena.video.folder.find import find_videos


@pytest.fixture
def pair(tmp_path: Path) -> OpenBench[DialogueItem]:
    """Two dialogues about two videos."""
    return write_dialogues(tmp_path / "set", [dialogue("film1"), dialogue("film2", 1)])


def test_a_result_that_fits_no_checklist_is_refused(pair: OpenBench[DialogueItem]) -> None:
    item = pair.items[0]
    wrong = [
        [line(item, 1, GOOD)],
        [line(item, 1, [])],
        [line(item, 9, GOOD)],
        [line(item, 2, GOOD[:4])],
        [line(item, 2, GOOD), line(item, 2, GOOD)],
        [line(item, 2, GOOD, end="forfeit")],
    ]
    for lines in wrong:
        result = hand_in(pair, "able", [])
        write_result(pair, result.model_copy(update={"lines": lines}), force=True)
        with pytest.raises(BadInput):
            read_dialogues(pair)
        for file in pair.results.glob("*.jsonl"):
            file.unlink()


def test_a_result_decides_the_rounds_that_were_answered_or_forfeited(
    pair: OpenBench[DialogueItem],
) -> None:
    one, other, *_ = pair.items
    lines = [
        line(one, 2, GOOD), line(one, 3, [], end="unscored"),
        line(other, 2, None), line(other, 3, [], end="void"),
    ]  # fmt: skip
    result = hand_in(pair, "able", lines)
    assert decided(result) == {f"2 {one.qid}", f"2 {other.qid}"}


def test_two_files_with_one_models_result_are_refused(pair: OpenBench[DialogueItem]) -> None:
    hand_in(pair, "able", said_alike(pair, GOOD))
    (file,) = pair.results.glob("*.jsonl")
    file.with_name("copy.jsonl").write_bytes(file.read_bytes())
    with pytest.raises(BadInput, match='two files with the result of "able" by "judge"'):
        read_dialogues(pair)


def test_the_id_of_a_dialogue_is_that_of_all_that_is_played_and_scored() -> None:
    item = dialogue("film")
    first, *rest = item.rounds
    turned = [one.model_copy(update={"expected": "no"}) for one in rest[0].checklist]
    others = [
        item,
        dialogue("other"),
        dialogue("film", ability="memory_recall"),
        dialogue("film", spans=[(0.0, 1.0)]),
        dialogue("film", rounds=[first, turn(2, checklist=turned), rest[-1]]),
        dialogue("film", rounds=rest),
        *(dialogue("film", rounds=[turn(1, 0, 0, **new), *rest])
          for new in ({"user": "So?"}, {"reference": "So."})),
        *(dialogue("film", rounds=[first, turn(2, *items), rest[-1]])
          for items in ((2, 3), (3, 1))),
    ]  # fmt: skip
    assert len({one.qid for one in others}) == len(others)
    assert dialogue("film", category="news", made={"video": "whole"}).qid == item.qid


def test_a_dialogue_that_was_changed_is_named_by_what_may_have_changed(tmp_path: Path) -> None:
    videos = draw_folder(tmp_path / "videos", 1, seconds=3)
    item = dialogue(find_videos(videos).videos[0].id, qid="0" * 16)
    with pytest.raises(BadInput, match="its video, ability, a stretch, round or item changed"):
        write_dialogues(tmp_path / "set", [item], videos=videos)


def test_what_is_written_is_read_again(pair: OpenBench[DialogueItem]) -> None:
    result = hand_in(pair, "able", said_alike(pair, GOOD), history="own")
    assert read_dialogues(open_bench(pair.folder)) == [result]
