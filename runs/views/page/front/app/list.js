/* Battles in lists: their pictures and rows, the long list that draws only what is in sight, and
   the newest of a run that goes on. */

import { html } from "htm/preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { isNarrow, useLoaded, useWindowEvent } from "./base.js";
import { Chip, Section, Unloaded } from "./bits.js";
import { source } from "./data.js";
import { battleLink, Outcome, roundName, summary } from "./names.js";
import { fileName, fixed, isKnown } from "./numbers.js";
import { useArrival } from "./route.js";
import { plain, Said } from "./text.js";

/* One picture of a video's sheet, as wide as the box it stands in. */

export function Thumb({ video, film, place, label }) {
  const url = useLoaded(() => (film?.sprite ? source.sheet(video) : null), [video, !film?.sprite]);
  const sprite = film?.sprite;
  const cell = sprite ? sprite.of.indexOf(place) : -1;
  const isDrawn = typeof url === "string" && cell >= 0;
  const style = { aspectRatio: shapeOf(film), ...(isDrawn ? cellOf(sprite, cell, url) : {}) };
  return html`<span class=${`thumb ${isDrawn ? "" : "empty"}`} style=${style}
    role=${label ? "img" : null} aria-label=${label}></span>`;
}

function shapeOf(film) {
  if (film?.sprite) return `${film.sprite.w} / ${film.sprite.h}`;
  return film?.width && film?.height ? `${film.width} / ${film.height}` : "16 / 9";
}

/* Percentages put any cell of the sheet into a box of any width. */
function cellOf(sprite, cell, url) {
  const { columns } = sprite;
  const lines = Math.ceil(sprite.of.length / columns);
  const x = columns > 1 ? (cell % columns) / (columns - 1) : 0;
  const y = lines > 1 ? Math.floor(cell / columns) / (lines - 1) : 0;
  return {
    backgroundImage: `url("${url}")`,
    backgroundSize: `${columns * 100}% ${lines * 100}%`,
    backgroundPosition: `${100 * x}% ${100 * y}%`,
  };
}

/* The picture that stands for a video in a list: a third in, past its titles. */
const standInOf = (film) => film?.sprite?.of[Math.floor(film.sprite.of.length / 3)];

/* The list of battles draws only what is in sight, and remembers its place while a battle is
   read. */
const ROW_HEIGHT = 68;
const ROW_HEIGHT_NARROW = 112;
const SPARE_ROWS = 8;
export const listState = { key: null, top: 0, cursor: 0, found: null, index: null };

/* The list as it was asked for last. */
export const listLink = () => (listState.key ? `#battles?${listState.key}` : "#battles");

const rowHeight = () => (isNarrow() ? ROW_HEIGHT_NARROW : ROW_HEIGHT);

/* The battle that is `by` further on in the list, or null at its ends. */
export function neighbour(id, by) {
  const { found, index } = listState;
  const at = found ? found.indexOf(index.place.get(id)) : -1;
  const next = at < 0 ? undefined : found[at + by];
  return next === undefined ? null : { id: index.id[next], at: at + by };
}

export function stepBattle(id, by) {
  const next = neighbour(id, by);
  if (!next) return;
  listState.cursor = next.at;
  location.hash = battleLink(next.id);
}

export function openAtCursor() {
  const { found, index, cursor } = listState;
  if (found?.length) location.hash = battleLink(index.id[found[cursor]]);
}

/* From which row to which the window shows the list. */
function useSight(box, height, count) {
  const [sight, setSight] = useState([0, 30]);
  const look = () => {
    if (!box.current) return;
    const top = -box.current.getBoundingClientRect().top;
    const from = Math.max(0, Math.floor(top / height) - SPARE_ROWS);
    const to = Math.min(count, Math.ceil((top + innerHeight) / height) + SPARE_ROWS);
    setSight((old) => (old[0] === from && old[1] === to ? old : [from, to]));
  };
  useLayoutEffect(look, [count, height]);
  useWindowEvent("scroll", () => {
    listState.top = scrollY;
    look();
  });
  useWindowEvent("resize", look);
  return sight;
}

/* Scrolls as little as brings a row into sight, below the bar at the top. */
function reveal(box, place, height) {
  const at = box.getBoundingClientRect().top + place * height;
  if (at < 120) scrollBy(0, at - 120);
  else if (at + height > innerHeight - 20) scrollBy(0, at + height - innerHeight + 20);
}

export function List({ index, films, found }) {
  const box = useRef(null);
  const [cursor, setCursor] = useState(listState.cursor);
  const height = rowHeight();
  const [from, to] = useSight(box, height, found.length);
  useWindowEvent("arena-step", (event) => {
    const last = found.length - 1;
    const next = Math.max(0, Math.min(last, listState.cursor + event.detail));
    listState.cursor = next;
    setCursor(next);
    if (box.current) reveal(box.current, next, height);
  });
  useArrival(true, listState.top);
  useLayoutEffect(() => setCursor(listState.cursor), [found]);
  useLayoutEffect(() => {
    if (listState.cursor > 0 && box.current) reveal(box.current, listState.cursor, height);
  }, [listState.key]);
  if (!found.length) return html`<${NoneFound} index=${index} />`;
  const row = (battle, k) => html`<${BattleRow} key=${index.id[battle]} index=${index}
    films=${films} battle=${battle} place=${from + k} all=${found.length} height=${height}
    isCursor=${from + k === cursor} />`;
  return html`<div class="list" ref=${box} role="list" aria-label="Battles"
    style=${{ height: `${found.length * height}px` }}>
    ${found.slice(from, to).map(row)}</div>`;
}

function NoneFound({ index }) {
  if (!index.size) return html`<div class="none-found"><p>No battle has been played yet.</p></div>`;
  return html`<div class="none-found"><p>No battle fits.</p>
    <p class="muted">Take a filter away, or search for less.</p></div>`;
}

function BattleRow({ index, films, battle, place, all, height, isCursor = false }) {
  const id = index.id[battle];
  const style = { transform: `translateY(${place * height}px)`, height: `${height}px` };
  const remember = () => {
    if (listState.found?.[place] === battle) listState.cursor = place;
  };
  return html`<div role="listitem" aria-setsize=${all} aria-posinset=${place + 1} style=${style}
    class=${`battle-row ${isCursor ? "cursor" : ""}`}>
    <${BattleLine} index=${index} films=${films} battle=${battle} href=${battleLink(id)}
      onClick=${remember} /></div>`;
}

function BattleLine({ index, films, battle, href, onClick }) {
  const video = index.videos[index.video[battle]];
  const film = films[video];
  const verdict = index.verdict[battle];
  const question = index.question[battle];
  const none = html`<i class="muted">no question</i>`;
  const asked = question ? html`<${Said} text=${question} />` : none;
  const isFlip = index.seats[battle] === 2 && verdict !== "split";
  return html`<a href=${href} onClick=${onClick}>
    <${Thumb} video=${video} film=${film} place=${standInOf(film)} />
    <span class="row-main"><span class="row-who cut"><${Outcome} verdict=${verdict} most=${28}
        a=${index.models[index.a[battle]]} b=${index.models[index.b[battle]]} />${" "}
      <${Chip} verdict=${verdict} />
      ${isFlip && html` <span class="chip chip-split">orders disagree</span>`}</span>
      <span class="row-question cut">${asked}</span></span>
    <span class="row-side"><${BattleMeta} index=${index} battle=${battle} />
      <span class="row-file cut"><bdi>${plain(fileName(film?.path ?? video))}</bdi></span>
    </span></a>`;
}

function BattleMeta({ index, battle }) {
  const grade = index.difficulty[battle];
  return html`<span class="row-meta cut"><b class="num">${roundName(index.round[battle])}</b>${" "}
    · P${index.persona[battle]}${isKnown(grade) && html` <${Grade} grade=${grade} />`}</span>`;
}

/* Difficulty from 1 to 5 as a bar and a figure. */
export function Grade({ grade }) {
  const width = `${(Math.min(5, Math.max(1, grade)) - 1) * 25}%`;
  return html`<span class="grade" aria-hidden="true"><i style=${{ width }}></i></span>
    <span class="num" title="difficulty, 1 to 5">${fixed(grade)}</span>`;
}

/* A few battles, one below the other. */
export function Examples({ index, films, places }) {
  const row = (battle) => html`<${BattleRow} key=${index.id[battle]} index=${index} films=${films}
    battle=${battle} place=${0} all=${places.length} height=${rowHeight()} />`;
  return html`<div class="examples" role="list">${places.map(row)}</div>`;
}

/* While a run goes on: the battles that were decided last. */
const NEWEST = 6;

export function Newest({ index, films }) {
  if (!summary.live) return null;
  const error = index?.failed ?? films?.failed;
  if (error) return html`<${Unloaded} what="The newest battles" error=${error} />`;
  if (!index?.size || !films) return null;
  const places = Array.from({ length: index.size }, (_, place) => place);
  const last = places.slice(-NEWEST).reverse();
  const says = summary.live.running ? "The newest battles, as they come in." : "The last battles.";
  return html`<${Section} id="newest" kicker="Newest battles" says=${says}>
    <${Examples} index=${index} films=${films} places=${last} /></${Section}>`;
}
