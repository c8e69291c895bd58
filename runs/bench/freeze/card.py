"""The card of a bench and its page on the Hub: what to know before trusting a figure of it.

`questions.jsonl` stays what counts. Parquet knows no lone surrogates, so text that has them is
written with escapes there; `extra` and the judges' words travel as JSON.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from pydantic import ValidationError

from videoautoarena.agents.prompting.languages import LANGUAGES
from videoautoarena.memory.records.errors import need_package
from videoautoarena.memory.records.records import Sampling
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.bench.format.schema import (
    COLUMN,
    PARQUET,
    QUESTION_CATEGORY,
    SLICES,
    Item,
    Manifest,
)
from videoautoarena.runs.bench.format.writer import CHECKSUMS, count_table, licence_section, plain
from videoautoarena.runs.bench.freeze.selection import longer
from videoautoarena.runs.rating.finding import is_usual
from videoautoarena.runs.run.config.preset import left_by_preset
from videoautoarena.runs.run.config.run_config import about_sampling
from videoautoarena.runs.run.inputs.facts import plain_licence
from videoautoarena.runs.run.rundir.reader import (
    SAW_NONE,
    blind_referees,
    counted,
    is_as_in_paper,
    is_blind,
    named,
    rates_stand_ins,
)


class CardInput(NamedTuple):
    """What a card is made from."""

    manifest: Manifest
    """Complete but for `files`, since the card is one of them."""
    items: Sequence[Item]
    findings: Sequence[Mapping[str, Any]] = ()
    """What the audit of the run's judges found, in the shape of `arena audit --json`."""


NOBODY_BLIND = "no model played without frames, so it is unknown which questions need the video"


def card_text(given: CardInput) -> str:
    """Return card.md of a bench; equal input gives equal text."""
    manifest = given.manifest
    items = given.items
    by_people = any(item.chosen_by == "labels" for item in items)
    people = "most labels of people selected, or, where there were none, a judge,"
    brought = manifest.run.get("personas") is not None
    counts = {
        SLICES[name]: manifest.counts[name]
        for name in SLICES
        # A table of one row, since all were chosen alike, would say nothing.
        if name in manifest.counts and not (name == "chosen_by" and len(manifest.counts[name]) < 2)
    }
    kinds = SLICES[QUESTION_CATEGORY]
    if kinds in counts:
        counts[kinds] = {name.replace("_", " "): many for name, many in counts[kinds].items()}
    for name, many in manifest.counts.items():
        if name.startswith(COLUMN):
            title = f"by {plain(name.removeprefix(COLUMN))}"
            # A column may have the name of a trait of the questions; both have a table.
            counts[f"{title} of the video" if title in SLICES.values() else title] = many
    alarms = [
        f"- **Alarm:** {plain(found['sentence'])}" for found in given.findings if found["alarm"]
    ]
    usual = [
        f"- {plain(found['sentence'])}"
        for found in given.findings
        if is_usual(found["key"]) and not found["alarm"]
    ]
    lines = "\n".join([*alarms, *usual]) or "- Nothing is known."
    parts = [
        f"# Bench of {counted(len(items), 'question')}\n",
        *_warnings(manifest.run),
        _HARD
        if manifest.selection.get("hard")
        else _WHAT.format(
            user="a user, invented or brought in a file," if brought else "an invented user",
            selected=people if by_people else "a judge selected",
        ),
        _how(manifest),
        _selection(manifest.selection),
        "## Counts\n",
        *(count_table(title, parts) for title, parts in counts.items()),
        _biases(items, manifest),
        (
            "## What the run tells of its judges\n\n"
            f"Of all its battles, not only of those here; `arena audit` tells more.\n\n{lines}\n"
        ),
        licence_section(manifest.licence),
        f"{CHECKSUMS} Copies of the videos are in `videos`.\n"
        if manifest.with_videos
        else f"{CHECKSUMS} The videos are not part of this folder.\n",
    ]
    return "\n".join(parts)


def _warnings(run: Mapping[str, Any]) -> Iterator[str]:
    if rates_stand_ins(dict(run)):
        yield (
            "> **These answers come from offline stand-ins**, small programs that measure frames.\n"
            "> The bench shows how the arena works; it ranks no real model.\n"
        )
    if run.get("self_judging"):
        yield "> **A judge or examiner of this run also competed in it.**\n"
    if run.get("offline_judge_on_real"):
        yield "> **An offline judge rated real models**; it reads only sentences it knows.\n"
    if blind := blind_referees(run):
        yield (
            f"> **{plain(', '.join(blind))} refereed without seeing a frame**: words alone were "
            "judged.\n"
        )


_WHAT = """## What it is

Each line of `questions.jsonl` is a question that {user} asked of a video, with two
answers given to it in a battle: the one that {selected} and the one it rejected. Only battles
with a winner are here. A model is scored by judging its answer against both.
"""
_BROUGHT = "a file of users was brought to the run; what they say of themselves stands in the items"
_HARD = """## What it is

Each line of `questions.jsonl` is a hard question that a user asked of a video: the judges
called both answers bad, and most of the other models failed at it, too. It comes with an answer
that a judge found better than a bad one, and that bad one. Where no model gave such an answer both
are the bad ones, and `chosen_by` is `nobody`. A model is scored by judging its answer against both.
"""


def _how(manifest: Manifest) -> str:
    run: Mapping[str, Any] = manifest.run
    ours = manifest.generator
    absent = cast("list[str]", manifest.selection.get("without_answer", []))
    facts = {
        "made by": f"{ours.name} {ours.version}",
        "models": _names(run, [one for one in run.get("models") or () if one not in absent]),
        **({"without an answer here": _names(run, absent)} if absent else {}),
        "judge": _names(run, run.get("judges")),
        "examiner": _names(run, [run.get("examiner")]),
        "rounds": run.get("rounds"),
        "pairing": run.get("pairing"),
        "judged from both seats": _share_words(run.get("swap")),
        "preset": run.get("preset") or "none",
        **(
            {"left by the preset": "; ".join(left_by_preset(is_early=not is_as_in_paper(run)))}
            if run.get("preset")
            else {}
        ),
        **({"users": _BROUGHT} if run.get("personas") is not None else {}),
        "frames": _frames_words(_table(run, "sampling")),
        "seed": run.get("seed"),
    }
    lines = (
        f"- {name}: {'unknown' if value is None else plain(value)}" for name, value in facts.items()
    )
    return "\n".join(["## How it was made\n", *lines, ""])


def _share_words(share: Any) -> str | None:
    """Return in words how many battles a share, or "all", is; None if it is not known."""
    if not share:
        return None if share is None else "none"
    return "all battles" if share == "all" else f"{100 * float(share):.3g} % of battles"


def _frames_words(sampling: Mapping[str, Any]) -> str | None:
    """Return which frames were looked at, in the words of a plan; None if it is not known."""
    try:
        found = Sampling.model_validate(sampling)
    except ValidationError:
        return None
    read = ", text in them read for stand-ins" if found.ocr else ""
    # An empty table is a valid sampling, too, and would be told as if it were the run's.
    return f"{about_sampling(found).removeprefix('frames: ')}{read}" if sampling else None


def _names(run: Mapping[str, Any], aliases: Any) -> str:
    cast = _table(run, "cast")
    names = []
    for alias in aliases or []:
        entry = _table(cast, alias)
        name = named(str(alias), entry.get("model", "?"))
        names.append(f"{name} ({SAW_NONE})" if is_blind(entry) else name)
    return ", ".join(names) or "unknown"


def _table(of: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = of.get(key)
    return value if isinstance(value, dict) else {}


_SINCE = "not here, since nobody won"
_THOUGH = "not here, though somebody won"


def _selection(selection: Mapping[str, Any]) -> str:
    rules = list(_rules(selection)) or ["Every battle with a winner is here."]
    without = _table(selection, "without_winner")
    left = _table(selection, "left_out")
    tables = "" if selection.get("hard") else count_table(_SINCE, without, of="battles")
    if borrowed := _table(selection, "borrowed"):
        title = "not here, since the question is: newcomers over stored answers"
        tables += "\n" + count_table(title, borrowed, of="battles")
    if left:
        title = "not here, though both were called bad" if selection.get("hard") else _THOUGH
        tables += ("\n" if tables else "") + count_table(title, left)
    return "## How its questions were chosen\n\n" + "\n".join(rules) + f"\n\n{tables}"


def _hard_rules(hard: Mapping[str, Any]) -> Iterator[str]:
    """Yield how hard questions were found."""
    cost = hard["cost_usd"]
    known = hard["known"]
    price = "of unknown cost" if cost is None else f"${cost:,.2f}"
    yield (
        f"- In {counted(hard['questions'], 'battle')} both answers were called bad. Models that "
        "did not play there, and see\n  frames, were asked the same; each new answer was judged by "
        "the run's judges against one of\n  the two bad ones, drawn by seed."
    )
    yield (
        f"- Asked: {counted(hard['asked'], 'answer')} ({counted(hard['calls'], 'call')}, {price})"
        + (f"; {known} more were known from\n  newcomers' battles." if known else ".")
        + f"\n  Failed: {hard['failed']}, which lost, refused, said nothing or were found no "
        "better than a bad one.\n"
        f"  Not failed: {hard['passed']}. Without a verdict: {hard['void']}."
    )
    yield (
        "- A question is hard where more of those models failed than did not: "
        f"{hard['hard']} of {hard['questions'] - hard['unasked']} that were asked.\n"
        "  `hard` in each question counts its models."
    )


def _rules(selection: Mapping[str, Any]) -> Iterator[str]:
    if hard := _table(selection, "hard_questions"):
        yield from _hard_rules(hard)
    if licences := selection.get("only_licence"):
        videos = _table(selection, "licence_videos")
        left = "; ".join(
            f"{counted(many, 'video')} {why.removeprefix('about a video ')}"
            for why, many in videos.items()
            if many and why.startswith("about a video ")
        )
        yield (
            f"- Only those about videos whose licence is stated as {plain(', '.join(licences))}"
            + (f";\n  left out: {left}." if left else ".")
        )
    if (language := selection.get("language")) is not None:
        yield f"- Only those asked in {LANGUAGES.get(language, (plain(language),))[0]}."
    if (turns := selection.get("turns")) is not None:
        yield f"- Only the first {counted(turns, 'question')} of each user about a video."
    if selection.get("leak_filter"):
        but = "" if selection.get("blind") else f"\n  But {NOBODY_BLIND}."
        yield f"- None that a contestant without a frame won against one that saw the video.{but}"
    if selection.get("distinct"):
        yield "- Of questions about one video that share 70 % of their wording, one."
    if (most := selection.get("per_video")) is not None:
        yield f"- At most {counted(most, 'question')} about a video."
    if (most := selection.get("most")) is not None:
        yield f"- Of those the hardest {most}; equals are drawn by seed."
    if (size := selection.get("size")) is not None or selection.get("length_matched"):
        over = plain(", ".join(selection.get("by") or ["nothing"]))
        many = "as many as there are" if size is None else f"{size} asked for"
        yield f"- Drawn evenly over {over} with seed {selection.get('seed')}, {many}."
    if selection.get("length_matched"):
        yield "- As many where the selected answer is the longer one as where it is the shorter."
    if selection.get("separating"):
        yield (
            "- Rather those whose answers tell this run's models apart and whose winner is sure.\n"
            "  So that this bench agrees with this run is partly by choice."
        )


def _biases(items: Sequence[Item], manifest: Manifest) -> str:
    total = len(items)
    by_length = sum(longer(item) > 0 for item in items)
    seats = [item.selected_seat for item in items if item.selected_seat is not None]
    lines = [
        f"- The selected answer is the longer one in {by_length} of {total} questions. A scorer\n"
        "  that only prefers length gets those right."
    ]
    if seats:
        lines.append(
            f"- It was read first in {seats.count('a')} of {len(seats)}. A scorer that only\n"
            "  prefers the first seat gets those right."
        )
    by = Counter(item.chosen_by for item in items)
    lines += _who_chose(by["labels"], by["nobody"], total)
    lines.append("- Several questions may share a video and a lineage; they are not independent.")
    if "topic" in manifest.counts:
        lines.append(_topics(manifest.selection))
    return "## Known biases\n\n" + "\n".join(lines) + "\n"


def _topics(selection: Mapping[str, Any]) -> str:
    """Return from what topics were clustered, and who named them."""
    of = plain(selection.get("embeddings") or "words")
    namer = selection.get("topics_named_by")
    who = "it" if namer is None else f"{plain(str(namer))}, a model"
    found = _table(selection, "topic_documents")
    by = f"found by a program and named by {who}"
    if not found:
        return f"- Topics are clusters by {of} of the questions alone, {by}."
    cost = found["cost_usd"]
    price = "of unknown cost" if cost is None else f"${cost:,.2f}"
    words = found["questions"] - found["with_frames"]
    return (
        f"- Topics are clusters by {of} of questions and frames, {by}:\n"
        "  of each question the mean of its own vector and of that of its frames, both of unit\n"
        f"  length. Its frames are up to {found['frames']} of those its answers were given, spread "
        f"evenly;\n  {words} of {found['questions']} questions had none "
        f"({counted(found['calls'], 'call')}, {price})."
    )


def _who_chose(people: int, nobody: int, total: int) -> Iterator[str]:
    if judged := total - people - nobody:
        yield (
            f"- A model judge chose {judged} of {total} selected answers, no person did; "
            "judges tend to\n  favour detailed answers."
        )
    if people:
        yield f"- Most labels of people chose {people} of {total} selected answers."
    if nobody:
        yield (
            f"- Nobody chose {nobody} of {total} selected answers: both are bad ones, in an order "
            "that the seed\n  draws."
        )
    yield (
        "- Users, questions and their difficulty come from one examiner model. Later rounds ask "
        "about\n  faults found in earlier ones, so they are harder for models that fail in the "
        "same way."
    )


TEXTS = (
    *("qid", "video_id", "persona", "question", "selected_answer", "rejected_answer"),
    *("chosen_by", "selected_model", "rejected_model", "selected_seat", "battle", "origin"),
    *("category", "topic"),
)
WHOLE = ("persona_index", "round")
NUMBERS = ("duration_s", "difficulty")
AS_JSON = ("votes", "judge_verdicts", "extra")
# Words of the Hub's metadata, which knows no others.
SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
)
LICENCES = (
    *("apache-2.0", "mit", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0"),
    *("cc-by-nc-sa-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-4.0", "odc-by", "odbl"),
)
"""Those that the Hub knows by name, as far as data is given under them."""


def need_pyarrow() -> None:
    """Raise BadInput if Parquet cannot be written."""
    need_package("pyarrow", f"{option('parquet', True)} needs pyarrow", "parquet")


def parquet_bytes(items: Sequence[Item]) -> bytes:
    """Return the questions as Parquet, equal for equal pyarrow; BadInput without that."""
    need_pyarrow()
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {
        **dict.fromkeys(TEXTS, pa.string()),
        **dict.fromkeys(WHOLE, pa.int64()),
        **dict.fromkeys(NUMBERS, pa.float64()),
        **dict.fromkeys(AS_JSON, pa.string()),
    }
    if any(item.facts for item in items):
        # Only with content, so that a bench without any keeps the bytes it had before there were
        # facts.
        kinds["facts"] = pa.string()
    if any(item.language for item in items):
        kinds["language"] = pa.string()
    rows = [{"facts": None, "language": None, **item.model_dump()} for item in items]
    # An item leaves this and `hard` out where they are None, so that rows may lack them.
    if any(QUESTION_CATEGORY in row for row in rows):
        kinds[QUESTION_CATEGORY] = pa.list_(pa.string())
    for row in rows:
        row |= {name: json.dumps(row[name]) for name in (*AS_JSON, "facts")}
        for name in TEXTS:
            if row[name] is not None:
                # A lone surrogate, as in a path that is no UTF-8, makes pyarrow raise.
                row[name] = row[name].encode("utf-8", "backslashreplace").decode()
    if any("hard" in row for row in rows):
        kinds["hard"] = pa.string()
        for row in rows:
            row["hard"] = json.dumps(row.get("hard"))
    columns = {name: pa.array([row.get(name) for row in rows], kinds[name]) for name in kinds}
    to = io.BytesIO()
    pq.write_table(pa.table(columns), to)
    return to.getvalue()


def readme_text(given: CardInput) -> str:
    """Return README.md: what `datasets` must know, then the card."""
    licence = given.manifest.licence
    known = plain_licence(licence or "")
    size = next((name for most, name in SIZES if len(given.items) < most), "1M<n<10M")
    head = [
        "---",
        *([f"license: {known}"] if known in LICENCES else ["license: other"]),
        # A JSON string is a YAML string, too, so that no licence ends the front matter.
        *([f"license_name: {json.dumps(licence)}"] if licence and known not in LICENCES else []),
        "task_categories: [visual-question-answering]",
        f"size_categories: [{json.dumps(size)}]",
        "tags: [video, benchmark, pairwise-preferences]",
        "configs:",
        "- config_name: default",
        f"  data_files: [{{split: test, path: {PARQUET}}}]",
        "---",
        "",
    ]
    return "\n".join(head) + card_text(given)
