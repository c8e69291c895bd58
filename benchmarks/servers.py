"""What a run gets from servers as they are met: `python -m benchmarks.servers`.

Each line is a scripted server (`tests/support/personalities.py`) with the limits, refusals, habits
of thinking aloud, streams and failures of its kind. Two models and a referee behind it play one
video for one round through the real clients; pauses are skipped. Beside decided battles stand the
requests that were sent and those of them that brought nothing, the frames that each model was
answered with last, whether the server's own words are shown, kept with the tries or lost, and the
line that tells a user most. Below a line stands what a good client would have done otherwise. Then
each dialect in which families of models set their thoughts apart, behind a server that does nothing
else: its thoughts hold a draft of another verdict.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.canned import keep
from tests.support.clips import draw_folder
from tests.support.personalities import DIALECTS, PERSONALITIES, Personality
from tests.support.personality_runs import faults, play_against

WIDTH = 150


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 where a server got less of a run than it lets one have."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="servers with this in their names")
    only = parser.parse_args(arguments).only
    dialects = [Personality(name, says, says) for name, says in DIALECTS.items()]
    chosen = [one for one in (*PERSONALITIES, *dialects) if only in one.name]
    good = 0
    print(
        f"{'server or dialect':32}{'decided':>8}{'void':>6}{'forfeit':>9}{'requests':>10}"
        f"{'in vain':>9}  {'frames':6}  {'words':5}  most telling line"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clips = draw_folder(folder / "clips", 1, seconds=3)
        for number, personality in enumerate(chosen):
            played = play_against(personality, clips, folder / str(number))
            print(
                f"{personality.name:32}{played.decided:8}{played.voids:6}{played.forfeits:9}"
                f"{len(played.seen):10}{played.refusals:9}  {played.frames:6}  "
                f"{played.words:5}  {played.telling[:WIDTH]}",
                flush=True,
            )
            wrong = list(faults(played))
            good += not wrong
            for line in wrong:
                print(f"    {line}")
    figure = f"{good} of {len(chosen)} servers and dialects: a run got all that they let it have"
    return 0 if keep(figure, good == len(chosen)) else 1


if __name__ == "__main__":
    sys.exit(main())
