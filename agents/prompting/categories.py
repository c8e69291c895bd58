"""The categories of videos as anybody may write them: other spellings, words and languages."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache

from videoautoarena.memory.records.records import CATEGORIES

OTHER = CATEGORIES[-1]
"""Category of a video that fits none of the others."""
UNKNOWN = "unknown"
"""Category of a video for which none was stated in words that can be read."""

_ALSO: dict[str, str] = {
    "Movies": (
        "movie film films film-and-animation cinema movies-and-tv movie-clips tv-series "
        "television trailer trailers "
        "filme kino spielfilm spielfilme fernsehen cinéma película películas cine filmes filmy "
        "電影 电影 影视 映画 영화 фильмы фильм кино أفلام"
    ),
    "Life Vlogs": (
        "life-vlog people-and-blogs vlog vlogs video-blog daily-life daily-vlog lifestyle "
        "everyday-life "
        "alltag alltagsvlogs lebensvlogs lebens-vlogs vida-diaria vida-cotidiana vie-quotidienne "
        "生活vlog 生活 日常 日常生活 ライフvlog 브이로그 일상 влог влоги жизнь"
    ),
    "Geography": (
        "geographic geographical geografie geographie erdkunde geografía géographie geografia "
        "地理 地理学 지리 география جغرافيا"
    ),
    "History": (
        "historical geschichte historia histoire história storia 历史 歷史 歴史 역사 история تاريخ"
    ),
    "News Programs": (
        "news news-and-politics news-program news-programme news-programmes newscast "
        "current-affairs nachrichten "
        "nachrichtensendungen nachrichtensendung noticias actualités informations notícias "
        "notizie 新闻 新聞 新闻节目 ニュース 뉴스 новости أخبار"
    ),
    "Art": (
        "arts fine-art fine-arts kunst künste arte artes artístico 艺术 藝術 美術 예술 искусство فن"
    ),
    "STEM": (
        "science sciences science-and-technology mathematics maths math engineering physics "
        "chemistry biology mint naturwissenschaft naturwissenschaften wissenschaft ciencia "
        "ciencias scienza ciência 科学 理工 科學 과학 наука علوم"
    ),
    "Computer Science": (
        "cs computing programming informatics software informatik programmieren informática "
        "informatique informatica computer-sciences 计算机科学 计算机 計算機科学 "
        "コンピュータサイエンス 컴퓨터과학 информатика"
    ),
    "Cooking Recipes": (
        "cooking cooking-and-recipes recipe recipes cooking-recipe food cookery kochen "
        "kochrezept kochrezepte rezept "
        "rezepte cocina recetas recetas-de-cocina cuisine recettes receitas culinária ricette "
        "cucina 烹饪 食谱 美食 料理 レシピ 요리 кулинария рецепты طبخ"
    ),
    "Travel Guides": (
        "travel travel-and-events travel-guide traveling travelling tourism trip reisen reise "
        "reiseführer tourismus "
        "viajes viaje guías-de-viaje guía-de-viaje voyage voyages guides-de-voyage viagens viaggi "
        "旅行 旅游 旅行指南 旅遊 여행 путешествия туризм سفر"
    ),
    OTHER: (
        "others none none-of-these none-of-the-above misc miscellaneous something-else "
        "sonstiges sonstige andere anderes autre autres otro otros otra otras altro outro outros "
        "其他 其它 その他 기타 другое прочее أخرى"
    ),
}
"""Category to other words for it, parted by blanks; a hyphen stands for one within."""


def read_category(said: str, among: Sequence[str] = CATEGORIES) -> str | None:
    """Return the category of a list that is meant, as it is written there; None if none is.

    Case, signs, "and" for "&" and the word "category" before it do not matter, nor does the
    language of the ten, as far as their words in it are known. A word for "other" is OTHER.
    """
    # Reversed, so that of two names with one spelling the first is meant.
    own = {plain_category(name): name for name in reversed(among)}
    for word in (plain_category(said), plain_category(said.rpartition(":")[2])):
        if word in own:
            return own[word]
        meant = _words().get(word)
        if meant is not None and (meant in among or meant == OTHER):
            return meant
    return None


def plain_category(said: str) -> str:
    """Return a category by which its spellings are known for the same."""
    text = unicodedata.normalize("NFKC", said).casefold().replace("&", " and ")
    letters = "".join(char for char in text if char.isalnum())
    # A category in signs alone is known by these.
    return letters or text.strip()


@cache
def _words() -> dict[str, str]:
    return {
        plain_category(word): name for name in CATEGORIES for word in (name, *_ALSO[name].split())
    }
