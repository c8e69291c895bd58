"""A bench of dialogues finds each stand-in's weakness where it was built in, and nowhere else."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import av
import pytest
from PIL import Image

from tests.support.dialogue_sets import write_dialogues
from tests.support.pictures import film
from tests.support.small_benches import run_bench
from videoautoarena.runs.bench.format.schema import Ability, Check, DialogueItem, Round
from videoautoarena.video.folder.find import find_videos

# red to 3.1 s, green and crowded to 8.3, dark blue to 10.6, yellow and plain to 11.8,
# green and less crowded to 15.8, grey to 19.2, red to 20
FRAMES_A_SECOND = 10
BUSY = "most crowded picture"
OPENING = "colour of the opening"
BEYOND = "And counting only what comes after {}, when is the picture most crowded with detail?"
RUN = "From when to when is it that at least a fifth of the picture is {}?"
WITHIN = "Does the answer put the {} between {} and {}?"
GIVES = "Does the answer give {} for the {}?"
GONE = "Does the answer say that this is not in the video?"
TIMED = "Does the answer give a time for it?"
FAR = "Does the answer name Paris?"
ASKED = "Does the answer ask the user a question?"


def scored(user: str, reference: str, yes: list[str], no: list[str]) -> Round:
    items = [Check(text=text, expected="yes") for text in yes]
    items += [Check(text=text, expected="no") for text in no]
    return Round(user=user, reference=reference, checklist=items)


def beyond(moment: str) -> Round:
    """Return a round whose answer is another one to whoever does not know the moment."""
    late = WITHIN.format(BUSY, "0:11.6", "0:16.0")
    early = WITHIN.format(BUSY, "0:03.0", "0:08.4")
    return scored(BEYOND.format(moment), "It is most crowded at 0:13.0.", [late], [early])


NAMED = Round(
    user="When is it brightest, and when is the first cut?",
    reference="It is brightest at 0:10.8. The first cut falls at 0:03.1.",
)
AWAY = Round(
    user="Leaving the video for a moment, what is the capital of France?",
    reference="It is Paris.",
    is_about_video=False,
)
SUMMED = scored(
    "What of all the rest, in a few words: how many shots are there, in what colour does it open?",
    "There are seven shots. It opens in red.",
    [GIVES.format(7, "number of shots"), GIVES.format("red", OPENING)],
    [GIVES.format(4, "number of shots"), GIVES.format("blue", OPENING)],
)
BACK = scored(
    "Back to the video: how many shots are there?",
    "There are seven shots.",
    [GIVES.format(7, "number of shots")],
    [FAR],
)
BORED = scored(
    "None of this says anything to me.",
    "The first cut falls at 0:03.1. What do you make of it?",
    [WITHIN.format("first cut", "0:02.8", "0:03.4"), ASKED],
    [GONE],
)
SHOWN: dict[Ability, list[Round]] = {
    "object_reference": [NAMED, beyond("the one you named first")],
    "memory_recall": [NAMED, AWAY, beyond("the moment in your first answer")],
    "content_summary": [NAMED, SUMMED],
    "answer_refusal": [NAMED, scored(RUN.format("teal"), "It is never teal.", [GONE], [TIMED])],
    "refusal_twin": [NAMED, scored(RUN.format("grey"), "0:15.8 to 0:19.2.", [TIMED], [GONE])],
    "topic_shifting": [AWAY, BACK],
    "proactive_interaction": [NAMED, BORED],
}


@pytest.mark.slow
def test_each_weakness_shows_where_it_was_built_in_and_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "videos").mkdir()
    _encode(tmp_path / "videos" / "story.mp4")
    (video,) = find_videos(tmp_path / "videos").videos
    items = [
        DialogueItem(qid="", video_id=video.id, ability=ability, rounds=rounds)
        for ability, rounds in SHOWN.items()
    ]
    named = [one.model_copy(update={"qid": one.own_qid()}) for one in items]
    write_dialogues(tmp_path / "set", named, videos=tmp_path / "videos")
    kinds = ("hawk", "mole", "goldfish", "eager", "blind")
    names = ",".join(f"offline:{kind}" for kind in kinds)
    where = ("--videos", tmp_path / "videos", "--judge", "offline:judge")
    done = run_bench(tmp_path / "set", "--model", names, *where, "--json")
    assert done.return_value == 0, done.output
    models = {row["model"]: row for row in json.loads(done.stdout)["scores"]["models"]}
    found = {kind: _by_ability(models[f"offline:{kind}"]) for kind in kinds}
    assert found["hawk"] == dict.fromkeys(SHOWN, 100.0)
    assert found["goldfish"] == found["hawk"] | {"object_reference": 0.0, "memory_recall": 0.0}
    assert found["eager"] == found["hawk"] | {"answer_refusal": 0.0}
    few = {"answer_refusal": 100.0, "refusal_twin": 0.0, "topic_shifting": 50.0}
    assert few.items() <= found["mole"].items()
    assert max(found["blind"].values()) < 100.0


def _by_ability(model: dict[str, Any]) -> dict[str, float]:
    rows = [*model["abilities"], model["twin"]]
    return {row["ability"]: row["figure"]["value"] for row in rows}


def _encode(path: Path) -> None:
    pictures = [Image.open(io.BytesIO(jpeg)) for _, jpeg in film(frames=20 * FRAMES_A_SECOND)]
    with av.open(str(path), "w") as file:
        stream = file.add_stream("mpeg4", rate=FRAMES_A_SECOND)
        stream.width, stream.height = pictures[0].size
        stream.pix_fmt = "yuv420p"
        stream.bit_rate = 4_000_000
        for picture in pictures:
            file.mux(stream.encode(av.VideoFrame.from_image(picture)))
        file.mux(stream.encode())
