"""The offline examiner remembers what it sees: colours, light, and areas that stand out."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from PIL import Image, ImageDraw

from tests.support.pictures import Film, play
from videoautoarena.agents.offline.vision.areas import find_areas

GREEN = (40, 152, 62)
RED = (204, 28, 38)
BLUE = (38, 82, 206)


def picture(draw: str, *, size: int = 40, colour: Any = RED, ground: Any = GREEN) -> bytes:
    """One shape on a plain ground; "nothing" is the ground alone."""
    image = Image.new("RGB", (240, 160), ground)
    pen = ImageDraw.Draw(image)
    left = 90
    top = 50
    box = (left, top, left + size - 1, top + size - 1)
    middle = (left + size // 2, top + size // 2)
    if draw == "disc":
        pen.ellipse(box, fill=colour)
    elif draw == "ring":
        pen.ellipse(box, outline=colour, width=size // 4)
    elif draw == "diamond":
        points = [(middle[0], top), (box[2], middle[1]), (middle[0], box[3]), (left, middle[1])]
        pen.polygon(points, fill=colour)
    elif draw == "bar":
        pen.rectangle((left, top, left + 2 * size, top + size // 2), fill=colour)
    elif draw == "square":
        pen.rectangle(box, fill=colour)
    elif draw == "corner":
        pen.rectangle((0, 0, size, size), fill=colour)
    held = io.BytesIO()
    image.save(held, "JPEG", quality=85)
    return held.getvalue()


def reel(*jpegs: bytes) -> Film:
    return tuple((float(place), jpeg) for place, jpeg in enumerate(jpegs))


@pytest.mark.parametrize("shape", ["disc", "ring", "diamond", "bar", "square"])
def test_a_shape_is_named_and_boxed(shape: str) -> None:
    replied = play("object_finder", reel(picture(shape)), scene="")
    (found,) = replied["objects"]
    assert found["name"] == f"red {shape}"
    (region,) = found["regions"]
    wide, high = (80, 20) if shape == "bar" else (40, 40)
    assert region["left"] == pytest.approx(90 / 240, abs=0.02)
    assert region["top"] == pytest.approx(50 / 160, abs=0.02)
    assert region["right"] == pytest.approx((90 + wide) / 240, abs=0.02)
    assert region["bottom"] == pytest.approx((50 + high) / 160, abs=0.02)


def test_the_ground_what_is_cut_off_and_a_shade_of_the_ground_are_no_objects() -> None:
    lighter = (70, 175, 90)
    for jpeg in (picture("nothing"), picture("corner"), picture("disc", colour=lighter)):
        assert find_areas(jpeg) == ()
    # of another name than its ground, and still a shade of it
    assert find_areas(picture("disc", colour=(52, 52, 52), ground=(24, 24, 24))) == ()
    assert find_areas(picture("disc", colour=(110, 110, 110), ground=(24, 24, 24))) != ()
    assert find_areas(picture("disc", size=6)) == ()
    assert find_areas(picture("square", size=100)) == ()


def test_what_is_there_for_an_instant_is_left_out() -> None:
    rare = reel(picture("disc"), *[picture("nothing")] * 3)
    (ground,) = play("object_finder", rare, scene="")["objects"]
    assert ground["name"] == "green ground"
    often = reel(picture("disc"), picture("nothing"), picture("disc"))
    assert len(play("object_finder", often, scene="")["objects"]) == 1
    seldom = reel(picture("disc"), *[picture("nothing")] * 4, picture("disc"))
    (ground,) = play("object_finder", seldom, scene="")["objects"]
    assert ground["name"] == "green ground"


def pair(*texts: str) -> str:
    return " | ".join(json.dumps([*texts[place : place + 2]]) for place in (0, 2))


def described(shape: str, **drawn: Any) -> tuple[str, str]:
    (found,) = play("object_finder", reel(picture(shape, **drawn)), scene="")["objects"]
    return found["name"], found["description"]


def test_an_object_is_known_again_on_another_ground_and_look_alikes_are_not() -> None:
    disc = described("disc")
    others = [
        described("disc", ground=BLUE),
        described("square"),
        described("disc", colour=(238, 218, 44)),
        described("disc", size=64),
    ]
    lines = [f"{n}. {pair(*disc, *other)}" for n, other in enumerate(others, 1)]
    replied = play("object_matcher", reel(), pairs="\n".join(lines))
    assert replied == {"same": ["yes", "no", "no", "no"]}


@pytest.mark.parametrize("line", ["", "1. ", "1. [", '1. ["a"] | 3', "1. {} | []", "yes"])
def test_pairs_that_cannot_be_read_are_not_the_same(line: str) -> None:
    assert set(play("object_matcher", reel(), pairs=line)["same"]) <= {"no"}


def test_captions_say_light_and_colours_and_like_ones_are_merged() -> None:
    green = picture("nothing")
    dark = picture("nothing", ground=(12, 12, 14))
    captions = [
        play("scene_captioner", reel(jpeg, jpeg))["caption"] for jpeg in (green, green, dark)
    ]
    assert "mostly green" in captions[0]
    assert "hardly anything moves" in captions[0]
    assert "dark" in captions[2]
    scenes = "\n".join(f"{n}. {caption}" for n, caption in enumerate(captions, 1))
    assert play("scene_merger", reel(), scenes=scenes) == {"together": ["yes", "no"]}
    livelier = captions[0].replace("hardly anything moves", "much moves")
    both = f"1. {captions[0]}\n2. {livelier}"
    assert play("scene_merger", reel(), scenes=both) == {"together": ["yes"]}
