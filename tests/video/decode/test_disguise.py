from __future__ import annotations

import codecs
import gzip
import io
import tarfile
import zipfile

import pytest

from videoautoarena.video.decode.disguise import HEAD, pointer_in, what_it_is

LFS = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)
PAGE = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>" + "<p>no</p>" * 999


@pytest.mark.parametrize(
    "text",
    [
        LFS,
        "\ufeff" + LFS.replace("\n", "\r\n"),
        "\n  " + LFS,
        LFS.replace("git-lfs", "hawser"),
        LFS.replace("oid", "ext-0-case sha256:12ab\noid"),
    ],
)
def test_a_pointer_of_git_lfs_is_named_with_its_cure(text: str) -> None:
    told = what_it_is(text.encode()) or ""
    assert told.startswith("is a pointer of Git LFS")
    assert told.endswith("fetch it with git lfs pull")
    assert what_it_is(codecs.BOM_UTF16_LE + text.encode("utf-16-le")) == told


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("/annex/objects/SHA256E-s100--4d7a21.mp4\n", "git annex get"),
        ("../.git/annex/objects/xX/Q9/SHA256E-s100--4d.mp4/SHA256E-s100--4d.mp4", "git annex get"),
        ("outs:\n- md5: 0123\n  size: 9\n  path: clip.mp4\n", "dvc pull"),
        ("# xet version 0\nfilesize = 100\nhash = '0123'\n", "git xet"),
    ],
)
def test_pointers_of_other_tools_are_named_with_theirs(text: str, tool: str) -> None:
    assert tool in (pointer_in(text.encode()) or "")


def test_what_is_longer_than_what_is_looked_at_is_no_pointer() -> None:
    assert pointer_in(LFS.encode().ljust(HEAD)) is not None
    assert pointer_in(LFS.encode().ljust(HEAD + 1)) is None


def test_what_only_speaks_of_a_pointer_is_none() -> None:
    assert pointer_in(b"see version https://git-lfs.github.com/spec/v1") is None
    assert pointer_in(LFS.encode() + b"x" * HEAD) is None


@pytest.mark.parametrize(
    "page",
    [
        PAGE.encode(),
        b"\xef\xbb\xbf\r\n  <HTML>moved</HTML>",
        b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN">\n<html/>',
        b"<!-- cached -->\n<!-- twice -->\n<html><body>504</body></html>",
        "<html><title>Accès refusé</title></html>".encode("latin-1"),
        codecs.BOM_UTF16_BE + "<html><body>non</body></html>".encode("utf-16-be"),
        b"<h1>403 Forbidden</h1>",
        b"<!DOCTYPE HTML>\n<title>\x1b[31mred\x07</title>\0",
    ],
)
def test_a_page_is_called_a_page(page: bytes) -> None:
    assert (what_it_is(page[: HEAD + 1]) or "").startswith("is an HTML page, not a video")


def test_a_page_whose_head_ends_within_a_letter_is_one() -> None:
    page = ("<html>" + "é" * HEAD).encode()
    assert (what_it_is(page[: HEAD + 1]) or "").startswith("is an HTML page")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"message": "Not Found"}', "is JSON"),
        ('[{"error": 404}]', "is JSON"),
        ('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "is an XML document"),
        ("<Error><Code>NoSuchKey</Code></Error>", "is an XML document"),
        ('<?xml version="1.0"?>\n<MPD type="static"></MPD>', "is a playlist (DASH)"),
        ("#EXTM3U\n#EXTINF:2,\na.ts\n", "is a playlist"),
        ("404: Not Found", "is a text"),
        ("Zugriff verweigert: Größe überschritten", "is a text"),
    ],
)
def test_words_in_the_place_of_a_video_are_called_what_they_are(text: str, said: str) -> None:
    assert (what_it_is(text.encode()) or "").startswith(said)


def _archive(kind: str) -> bytes:
    file = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(file, "w") as made:
            made.writestr("clip.mp4", b"x")
    elif kind == "tar":
        with tarfile.open(fileobj=file, mode="w") as tape:
            tape.addfile(tarfile.TarInfo("clip.mp4"))
    else:
        file.write(gzip.compress(b"x"))
    return file.getvalue()


@pytest.mark.parametrize("kind", ["zip", "tar", "gzip"])
def test_an_archive_is_to_be_unpacked(kind: str) -> None:
    assert what_it_is(_archive(kind)) == f"is an archive ({kind}), not a video; unpack it"


def test_bytes_that_say_nothing_are_left_without_a_name() -> None:
    assert what_it_is(b"") is None
    assert what_it_is(b"\0") is None
    assert what_it_is(b"\0\0\0\x18ftypmp42" + bytes(200)) is None
    assert what_it_is(bytes(range(256)) * 16) is None
    assert (what_it_is(bytes(HEAD + 1)) or "").startswith("begins with nothing but zeros")


HOSTILE_HEADS = (b"<!--" * 1024, b"<!-- -->" * 512, b" " * HEAD, b"<?xml" * 900, b"../" * 1400)


@pytest.mark.parametrize("head", HOSTILE_HEADS)
def test_a_hostile_head_is_named_in_one_short_line_or_not_at_all(head: bytes) -> None:
    named = what_it_is(head) or ""
    assert named.isprintable()
    assert len(named) < 200
