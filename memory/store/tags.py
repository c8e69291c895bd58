"""What classifiers say of the questions of a run; it stands beside the battles and changes none."""

from __future__ import annotations

from pydantic import Field

from videoautoarena.memory.records.digests import read_body, write_body
from videoautoarena.memory.records.questions import Decision, QuestionCategory
from videoautoarena.memory.records.records import Record
from videoautoarena.memory.store.connection import Reader
from videoautoarena.memory.store.writer import Writes, needed

TAG_SCOPE = "tag:"
"""What the scope of every classifier's calls begins with; no slot and no video has such an id."""


class Tag(Record):
    """What one classifier says of one question about one video."""

    id: str
    """Made of question, classifier and all that was put to it."""
    question: str
    """First 16 hex digits of the digest of video and text: equal questions about one video have
    one."""
    video: str
    """Its id."""
    text: str
    """The question, verbatim."""
    classifier: str
    """Its name in the cast."""
    model: str
    """`provider:model`."""
    categories: dict[QuestionCategory, Decision] = Field(default_factory=dict)
    """Each of the twelve categories to `yes`, `no` or `unknown`; what could not be read is unknown,
    never no."""
    reason: str | None = None
    """Why nothing could be read; null if something was."""
    is_failed: bool = False
    """The call itself failed."""


class Tags:
    """The tags of a run, never overwritten; read only without a writer."""

    def __init__(self, reader: Reader, writer: Writes | None = None) -> None:
        self._reader = reader
        self._writer = writer

    def all(self) -> list[Tag]:
        """Return all tags in the order in which they were kept."""
        found = self._reader.rows("SELECT body FROM tags ORDER BY place")
        return [read_body(Tag, body) for (body,) in found]

    async def put(self, tag: Tag) -> None:
        """Keep a tag, unless there is one with its id."""
        sql = "INSERT INTO tags (id, body) VALUES (?, ?) ON CONFLICT DO NOTHING"
        await needed(self._writer).write(sql, (tag.id, write_body(tag)))
