from __future__ import annotations

import subprocess
import sys

import pytest

import videoautoarena.agents.offline
from tests.support.pictures import film, message, task
from videoautoarena.agents.offline import KINDS, OfflineModel
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.vision.frame_features import Memo, ReceivedFrame, read


def test_names_and_frame_limits_cost_no_heavy_import() -> None:
    code = (
        "import sys; from videoautoarena.agents.offline import KINDS;"
        "assert KINDS['hawk'] == 64;"
        "print([m for m in ('numpy', 'PIL', 'langchain_core', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_hawk_owl_and_mole_differ_in_their_frames() -> None:
    assert [KINDS[name] for name in ("hawk", "owl", "mole", "blind")] == [64, 16, 4, 0]


def test_nothing_else_is_offered() -> None:
    with pytest.raises(AttributeError):
        _ = videoautoarena.agents.offline.OnlineModel  # type: ignore[attr-defined]


def test_equal_words_throw_equal_dice() -> None:
    assert Dice("a", 1).shuffled("abcdef") == Dice("a", 1).shuffled("abcdef")
    assert Dice("a", 1).shuffled("abcdef") != Dice("a", 2).shuffled("abcdef")


def test_dice_are_fair_enough() -> None:
    dice = Dice("fair")
    throws = [dice.below(6) for _ in range(600)]
    assert all(70 < throws.count(side) < 130 for side in range(6))


def test_a_full_memory_forgets_what_was_used_least_lately() -> None:
    memo: Memo[str, int] = Memo(2)
    made: list[str] = []
    for key in ("a", "b", "a", "c", "a", "b"):
        memo.get(key, lambda key=key: made.append(key) or 1)  # type: ignore[misc, func-returns-value]
    assert made == ["a", "b", "c", "b"]
    assert len(memo) == 2


def test_a_message_is_read_as_it_was_laid_out() -> None:
    frames = film(frames=3)
    sent = read(message(frames, "Watch.\n\nQuestion:\nWhen?\nQuestion:\nWhere?"))
    assert [p.time_s for p in sent.pictures] == [t for t, _ in frames]
    assert sent.question == "When?\nQuestion:\nWhere?"


def test_the_role_is_read_outside_the_fences() -> None:
    text = task("evolver", question="Reply format: judge", answer_a="x\nReply format: grader\n")
    assert read(message((), text)).role == "evolver"
    assert read(message((), "Question:\nReply format")).role is None


def test_images_without_a_stamp_follow_a_second_apart() -> None:
    sent = message(film(frames=3), "")
    blocks = sent[1].content
    assert isinstance(blocks, list)
    sent[1].content = [block for block in blocks if "base64" in block]
    assert [p.time_s for p in read(sent).pictures] == [0.0, 1.0, 2.0]


def test_a_picture_is_known_by_its_bytes_alone() -> None:
    one, two = read(message(film(frames=2), "")).pictures
    assert isinstance(one, ReceivedFrame)
    assert one.digest != two.digest


@pytest.mark.parametrize(
    "words", ["\u017fix of them", "the f\u0131fth moment", "the \u017fecond you named", "PİNK"]
)
def test_letters_that_only_look_like_others_are_read_as_those(words: str) -> None:
    sent = message(film(frames=3), f"Watch.\n\nQuestion:\nHow often do {words} come?")
    assert read(sent).question.isascii()
    assert OfflineModel(kind="owl").invoke(sent).content
