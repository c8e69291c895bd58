"""How a run samples its videos: flags, preset, file and defaults made into one record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from videoautoarena.memory.records.errors import BadInput, ForeignRun, WrongArgument
from videoautoarena.memory.records.frame_policies import FPS, FRAME_POLICIES
from videoautoarena.memory.records.records import Sampling
from videoautoarena.runs.run.config.preset import PAPER_SAMPLING

if TYPE_CHECKING:
    from videoautoarena.runs.run.config.arena_file import SamplingTable

FLAG_OF = {"size_px": "size"}
_FIT = {"stretch": " stretched to a square", "pad": " on a black square"}


def choose_sampling(flags: Mapping[str, Any], file: SamplingTable, *, is_paper: bool) -> Sampling:
    """Return the sampling that results from flags, by their names in `Flags`, preset and file.

    What is installed decides nothing, or one command would play two tournaments on two machines.

    Raises:
        BadInput: a value that cannot be, or two that do not go together.
    """
    typed = _said(flags.get)
    chosen = {**(PAPER_SAMPLING if is_paper else {}), **typed}
    said = {**_said(lambda name: getattr(file, FLAG_OF.get(name, name), None)), **chosen}
    policy = said.get("policy", "uniform")
    if policy == "fps":
        said.setdefault("fps", FPS)
    # A rate in the file is left behind where a flag or the preset names another policy.
    elif said.pop("fps", None) is not None and ("fps" in typed or "policy" not in chosen):
        kind = WrongArgument if "fps" in typed else BadInput
        raise kind(f"--fps is for --policy fps, and the policy is {policy}; change one of them")
    try:
        return Sampling.model_validate(said)
    except ValidationError as wrong:
        is_typed = wrong.errors()[0]["loc"][0] in typed
        raise (WrongArgument if is_typed else BadInput)(_describe(wrong)) from None


def refuse_missing(sampling: Sampling) -> None:
    """Raise BadInput if the decoder is not installed; the message says how to get it."""
    if sampling.decoder != "av":
        from videoautoarena.video.decode.decoders import decoder_named

        decoder_named(sampling.decoder)


def refuse_text_read(sampling: Sampling, instead: str) -> None:
    """Raise ForeignRun if a run's stand-ins were sent text that was read from the picture.

    `instead` says what can be done besides using an older version.
    """
    if sampling.ocr:
        raise ForeignRun(
            "the run began with --ocr, and text in the picture is no longer read for stand-ins; "
            f"use the version that began it, or {instead}"
        )


def about_sampling(sampling: Sampling) -> str:
    """Return one line on which frames of a video are sampled, and how."""
    spread = FRAME_POLICIES[sampling.policy].in_plan.format(fps=sampling.fps or FPS)
    size = f"{sampling.size_px} px{_FIT.get(sampling.fit, ' on the longer side')}"
    line = f"frames: up to {sampling.frames} a video, {spread}, {size}, quality {sampling.quality}"
    return f"{line}, by {sampling.decoder}" if sampling.decoder != "av" else line


def _said(value_of: Callable[[str], Any]) -> dict[str, Any]:
    said = {name: value_of(name) for name in Sampling.model_fields}
    return {name: value for name, value in said.items() if value is not None}


def _describe(wrong: ValidationError) -> str:
    mistake = wrong.errors()[0]
    name = str(mistake["loc"][0])
    said = mistake["msg"].replace("Input should be", "give a number")
    return f"--{FLAG_OF.get(name, name)} is {mistake['input']}; {said}"
