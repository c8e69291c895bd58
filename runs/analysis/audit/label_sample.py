"""Drawing the battles that people are to label, and the file in which they do it.

The draw is recorded in the run: only labels of a random draw speak for the battles nobody labelled.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from videoautoarena.memory.records.digests import derive
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import DECIDED, Battle
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.memory.store.evidence import LabelSample
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.files import sheet_text
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.battles.export import write_whole
from videoautoarena.runs.run.rundir.reader import RUN_FILE, RunReader, counted, run_file
from videoautoarena.scoring.texts.traits import bucket

Part = Literal["pair", "video", "category", "duration"]
SHOWN = ("battle", "video", "question", "persona", "answer_a", "answer_b")
ASKED = ("labeller", "verdict", *STANDARDS)
"""Columns that are left blank for a person to fill in."""


class DrawnSample(NamedTuple):
    """Counts of what a draw did."""

    drawn: int
    """Battles that were drawn now; 0 where the rest of earlier draws was written."""
    written: int
    """Battles in the file."""
    sampled: int
    """Battles of all draws together."""
    decided: int
    """Battles that could be drawn at all."""

    def as_line(self, to: Path) -> str:
        """Return it as a sentence."""
        written = f"{counted(self.written, 'battle')} to label written to {safe(str(to))}"
        return f"{written}; {self.sampled} of {self.decided} decided battles are drawn so far"


def draw_sample(
    folder: Path, to: Path, *, number: int, seed: int = 0, by: Part | None = None
) -> DrawnSample:
    """Draw battles at random, record the draw in the run, and write them to a file.

    A further draw takes from what no earlier one took, so that all together are one random subset.

    Args:
        folder: of the run; no other process may be writing it.
        to: the file, CSV, TSV or JSON lines by its name.
        number: how many; at least 1.
        seed: it decides the draw, with the battles of the run and the draws before.
        by: draw equally many of every part, or all of a part that has fewer.

    Raises:
        BadInput: fewer battles are left or fewer are asked for than there are parts, or the file
            cannot be written.
        RunLocked: a process is running it.
    """
    # Before anything is drawn, since a draw stays recorded whatever becomes of its file.
    form = _form(to, folder)
    with Store.open(run_file(folder), write=True) as store:
        run = RunReader(folder, store)
        battles = [battle for battle in run.battles if battle.verdict in DECIDED]
        before = store.evidence.samples()
        samples = _draw(battles, before, number=number, seed=seed, by=by)
        # Before the file: a draw that nobody recorded could not speak for the rest, and a file that
        # could not be written is written again with --rest.
        store.evidence.add_samples(samples)
        ids = [id_ for sample in samples for id_ in sample.drawn]
        # Shuffled across strata, which would else stand in the file one behind another.
        order = sorted(ids, key=lambda id_: derive(seed, "labels", len(before), id_))
        _write(to, form, order, run)
        sampled = {id_ for sample in (*before, *samples) for id_ in sample.drawn}
    # Battles of earlier draws may have been superseded since.
    return DrawnSample(len(ids), len(order), len(sampled & {b.id for b in battles}), len(battles))


def write_rest(folder: Path, to: Path) -> DrawnSample:
    """Write battles of earlier draws that have no label to a file; draw nothing.

    Raises:
        BadInput: nothing was drawn, everything has a label, or the file cannot be written.
    """
    form = _form(to, folder)
    with Store.open(run_file(folder), write=False) as store:
        run = RunReader(folder, store)
        decided = {battle.id for battle in run.battles if battle.verdict in DECIDED}
        drawn = [id_ for sample in store.evidence.samples() for id_ in sample.drawn]
        labelled = {label.battle for label in store.evidence.labels()}
        rest = [id_ for id_ in drawn if id_ in decided and id_ not in labelled]
        if not rest:
            raise BadInput(
                f"every battle that was drawn has a label; draw more with {option('n')}"
                if drawn
                else "nothing was drawn from this run yet; leave out --rest"
            )
        _write(to, form, rest, run)
    return DrawnSample(0, len(rest), len(decided & set(drawn)), len(decided))


def complete_sample(run: RunReader, number: int, seed: int) -> list[str]:
    """Return the first battles of all draws, `number` or as many as are decided.

    What is missing is drawn now and recorded. Battles stand in the order in which they were drawn,
    so that those of the first hour are a random subset, too.

    Args:
        run: open for writing.
        number: how many; at least 0.
        seed: of a further draw.
    """
    battles = [battle for battle in run.battles if battle.verdict in DECIDED]
    before = run.store.evidence.samples()
    decided = {battle.id for battle in battles}
    drawn = [id_ for id_ in drawn_order(before) if id_ in decided]
    missing = min(number, len(decided)) - len(drawn)
    if missing > 0:
        samples = _draw(battles, before, number=missing, seed=seed, by=None)
        run.store.evidence.add_samples(samples)
        drawn += [id_ for sample in samples for id_ in sample.drawn]
    return drawn[:number]


def drawn_order(samples: Sequence[LabelSample]) -> list[str]:
    """Return the ids of all draws one after another; the strata of a draw take turns by size."""
    order: list[str] = []
    strata: list[LabelSample] = []
    for sample in samples:
        # Strata have no battle in common; what speaks for the same ones is a further draw.
        if any(not set(sample.of).isdisjoint(stratum.of) for stratum in strata):
            order += _taking_turns(strata)
            strata = []
        strata.append(sample)
    return order + _taking_turns(strata)


def _taking_turns(strata: Sequence[LabelSample]) -> list[str]:
    places = [
        # Each stratum spread evenly over 0 to 1, so that any beginning of the list has its share of
        # it.
        ((place + 0.5) / len(sample.drawn), number, id_)
        for number, sample in enumerate(strata)
        for place, id_ in enumerate(sample.drawn)
    ]
    return [id_ for _, _, id_ in sorted(places)]


def shuffle(ids: Sequence[str], seed: int, draws: int) -> list[str]:
    """Return the order in which battles are drawn; `draws` is the number of earlier draws."""
    return sorted(ids, key=lambda id_: derive(seed, "sample", draws, id_))


def _draw(
    battles: Sequence[Battle],
    before: Sequence[LabelSample],
    *,
    number: int,
    seed: int,
    by: Part | None,
) -> list[LabelSample]:
    taken = {id_ for sample in before for id_ in sample.drawn}
    parts: dict[str, list[str]] = {}
    for battle in battles:
        parts.setdefault("" if by is None else _PARTS[by](battle), []).append(battle.id)
    left = {part: [id_ for id_ in ids if id_ not in taken] for part, ids in sorted(parts.items())}
    whole = sum(map(len, left.values()))
    if number > whole:
        already = f" ({len(taken)} were drawn before)" if taken else ""
        hint = f"pass --n {whole}" if whole else "play more first"
        raise BadInput(f"{counted(whole, 'decided battle')} left to draw{already}; {hint}")
    rest = {part: len(ids) for part, ids in left.items() if ids}
    # A part without a draw has no chance at all, so that no label could ever speak for it.
    if number < len(rest):
        raise BadInput(
            f"{option('n')} {number} is too few for {option('by')} {by}: {len(rest)} of them "
            "have battles "
            f"left, and each needs at least one; pass {option('n')} {len(rest)} or more"
        )
    shares = _share_out(number, rest)
    return [
        LabelSample(
            seed=seed,
            # Those taken before, too: seen from the beginning they could have come as far as this
            # draw.
            of=tuple(sorted(parts[part])),
            chance=shares[part] / len(ids),
            drawn=tuple(shuffle(ids, seed, len(before))[: shares[part]]),
        )
        for part, ids in left.items()
        if ids
    ]


def _share_out(number: int, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return how many to draw of each part: equally many, or all of a part that has fewer.

    The remainder goes to the first parts.
    """
    shares = dict.fromkeys(sizes, 0)
    while number:
        open_parts = [part for part in sizes if shares[part] < sizes[part]]
        # At least one, or what is left over would never be dealt.
        each = max(number // len(open_parts), 1)
        for part in open_parts:
            more = min(each, sizes[part] - shares[part], number)
            shares[part] += more
            number -= more
    return shares


_PARTS: dict[Part, Callable[[Battle], str]] = {
    "pair": lambda battle: "\n".join(sorted((battle.model_a or "", battle.model_b or ""))),
    "video": lambda battle: battle.video,
    "category": lambda battle: battle.category or "",
    "duration": lambda battle: bucket(battle.duration_s),
}


def _form(to: Path, folder: Path) -> str:
    if to.suffix.lower() not in (".csv", ".tsv", ".jsonl"):
        raise BadInput(f"{to} must end in .csv, .tsv or .jsonl")
    # Also the log and index of SQLite, whose names begin like the run's file.
    if to.resolve().parent == folder.resolve() and to.name.startswith(RUN_FILE):
        raise BadInput(f"{to} is the run itself; pass another {option('to')}")
    if to.exists():
        raise BadInput(f"{to} already exists and may hold labels; pass another {option('to')}")
    if not to.resolve().parent.is_dir():
        raise BadInput(f"{to.parent} is not a folder; create it, or pass another {option('to')}")
    return to.suffix.lower()


def _write(to: Path, form: str, ids: Sequence[str], run: RunReader) -> None:
    """Fill the file; it names no model, and seats are those of the run.

    Videos are named as seen from the file, so that both can be passed on together.
    """
    from videoautoarena.runs.run.rundir.opener import videos_folder

    folder = videos_folder(run.store)
    beside = to.resolve().parent
    paths = {video.id: _path_from(beside, folder, video.path) for video in run.store.videos()}
    rows = list[dict[str, str | None]]()
    for id_ in ids:
        battle = run.store.battle(id_)
        assert battle is not None
        about = (paths.get(battle.video, battle.video), battle.question, battle.persona_text)
        shown = zip(SHOWN, (id_, *about, battle.answer_a, battle.answer_b), strict=True)
        rows.append({**dict(shown), **dict.fromkeys(ASKED)})
    if form == ".jsonl":
        # As ASCII, since a model's text may hold half a character, which has no UTF-8.
        lines = [json.dumps(row) for row in rows]
    else:
        delimiter = "\t" if form == ".tsv" else ","
        text = sheet_text((*SHOWN, *ASKED), rows, delimiter=delimiter)
        lines = [text.removesuffix("\n")]
    try:
        write_whole(to, lines)
    except OSError as wrong:
        reason = wrong.strerror or type(wrong).__name__
        raise BadInput(
            f"{safe(str(to))} cannot be written: {reason}; the draw is kept, write it with --rest"
        ) from wrong


_TOPS = (Path("/"), Path("/home"), Path("/Users"))
"""Folders whose subfolders tell about a machine or who uses it."""


def _path_from(beside: Path, folder: Path | None, name: str) -> str:
    """Return the path of a video from a folder; its name alone where the path would tell too much.

    A path through the root, or into somebody's home from outside, would name who drew the sample.
    Without a known folder of videos there is no path to give.
    """
    if folder is None:
        return name
    there = folder.resolve() / name
    shared = Path(os.path.commonpath([there, beside]))
    home = Path(os.environ.get("HOME") or "/").resolve()
    enters_home = there.is_relative_to(home) and not shared.is_relative_to(home)
    if enters_home or shared in _TOPS:
        return name
    return os.path.relpath(there, beside)
