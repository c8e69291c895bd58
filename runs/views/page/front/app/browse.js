/* All battles: filters whose counts follow each other, a search, and the list. */

import { html } from "htm/preact";
import { useMemo, useState } from "preact/hooks";
import { Segments, Unloaded } from "./bits.js";
import { source } from "./data.js";
import { facetsOf, ORDERS, ordered, sift } from "./facets.js";
import { List, listState } from "./list.js";
import { useData } from "./live.js";
import { clip, counted, whole } from "./numbers.js";
import { replaceAddress } from "./route.js";
import { plain } from "./text.js";

export function Browse({ query }) {
  const index = useData(() => source.index());
  const films = useData(() => source.videos());
  if (!index || !films) {
    return html`<main id="main" class="wide">
      <p class="muted loading" role="status">Loading the battles …</p></main>`;
  }
  if (index.failed || films.failed) {
    const error = index.failed ?? films.failed;
    return html`<main id="main" class="wide">
      <${Unloaded} what="The battles" error=${error} /></main>`;
  }
  return html`<${Browser} index=${index} films=${films} query=${query} />`;
}

/* The address with one filter put, changed or taken away. */

function asks(query, name, value) {
  const next = new URLSearchParams(query);
  if (value === null || value === "") next.delete(name);
  else next.set(name, value);
  if (name === "model") next.delete("rival");
  return `#battles${next.size ? `?${next}` : ""}`;
}

function Browser({ index, films, query }) {
  const key = query.toString();
  const model = query.get("model");
  const facets = useMemo(() => facetsOf(index, films, model), [index, films, model]);
  const { found, counts } = useMemo(() => sift(index, facets, query), [facets, key]);
  const order = query.get("sort") ?? "played";
  const sorted = useMemo(() => ordered(index, found, order), [found, order]);
  const [isOpen, setOpen] = useState(false);
  keepList(key, sorted, index);
  const set = (name, value) => replaceAddress(asks(query, name, value));
  const active = facets.filter((facet) => query.get(facet.key) !== null);
  const panel = (facet, k) => html`<${Facet} key=${facet.key} facet=${facet} counts=${counts[k]}
    on=${query.get(facet.key)} set=${set} />`;
  const finder = { query, order, set, found, index, isOpen, setOpen, active: active.length };
  return html`<main id="main" class="wide browse"><${Finder} ...${finder} />
    ${active.length > 0 && html`<${Pills} facets=${active} query=${query} set=${set} />`}
    <div class="two-pane"><aside class=${`filters ${isOpen ? "open" : ""}`} aria-label="Filters">
      ${facets.map(panel)}</aside>
      <${List} index=${index} films=${films} found=${sorted} /></div></main>`;
}

/* Other filters start at the top; newer battles leave the cursor on the battle it was on. */
function keepList(key, found, index) {
  if (listState.key !== key) {
    Object.assign(listState, { key, cursor: 0, top: 0 });
  } else if (listState.found && listState.found !== found) {
    const id = listState.index.id[listState.found[listState.cursor]];
    const at = found.indexOf(index.place.get(id));
    listState.cursor = Math.max(0, at);
  }
  Object.assign(listState, { found, index });
}

function Finder({ query, order, set, found, index, isOpen, setOpen, active }) {
  const search = (event) => set("q", event.target.value);
  return html`<div class="finder"><h1 class="hidden">Battles</h1>
    <label class="search"><span class="hidden">Search questions and ids</span>
      <input id="search" type="search" placeholder="Search questions and ids" dir="auto"
        value=${query.get("q") ?? ""} onInput=${search} /><kbd aria-hidden="true">/</kbd></label>
    <${Segments} label="Order" options=${ORDERS} value=${order}
      onChange=${(key) => set("sort", key === "played" ? null : key)} />
    <p class="count" role="status"><b class="num">${whole(found.length)}</b> of${" "}
      ${counted(index.size, "battle")}</p>
    <button class="only-phone" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
      Filters${active ? ` (${active})` : ""}</button></div>`;
}

/* What is asked for, in the facet's words; an address may hold what no battle has. */
function askedOf(facet, value) {
  const code = facet.values.indexOf(value);
  return code < 0 ? value : facet.labels[code];
}

function Pills({ facets, query, set }) {
  const pill = (facet) => html`<button class="pill" key=${facet.key}
    onClick=${() => set(facet.key, null)}><span class="muted">${facet.name}</span>${" "}
    <bdi>${plain(clip(askedOf(facet, query.get(facet.key)), 60))}</bdi>${" "}
    <span aria-hidden="true">×</span><span class="hidden">, remove</span></button>`;
  return html`<p class="pills">${facets.map(pill)}
    <button class="quiet" onClick=${() => replaceAddress("#battles")}>Clear all</button></p>`;
}

const SHOWN_VALUES = 8;

/* Values that occur, in their own order or the commonest first; the chosen one is never hidden. */
function valuesOf(facet, counts, on) {
  const rows = facet.values.map((value, code) => ({ value, code, n: counts[code] }));
  const some = rows.filter((row) => row.n > 0 || row.value === on);
  if (facet.isOrdered) return some;
  if (facet.isNumber) return some.sort((one, other) => Number(one.value) - Number(other.value));
  const chosen = (row) => (row.value === on ? 1 : 0);
  return some.sort((one, other) => chosen(other) - chosen(one) || other.n - one.n);
}

function Facet({ facet, counts, on, set }) {
  const [isWhole, setWhole] = useState(false);
  const rows = valuesOf(facet, counts, on);
  if (rows.length < 2 && on === null) return null;
  const most = Math.max(...rows.map((row) => row.n), 1);
  const shown = isWhole || facet.isOrdered ? rows : rows.slice(0, SHOWN_VALUES);
  const more = rows.length - shown.length;
  const choice = ({ value, code, n }) => html`<button key=${code} aria-pressed=${on === value}
    class=${`facet-row ${on === value ? "on" : ""}`} title=${facet.labels[code]}
    onClick=${() => set(facet.key, on === value ? null : value)}>
    <span class="ground" style=${{ width: `${(100 * n) / most}%` }}></span>
    <span class="label cut"><bdi>${plain(facet.labels[code])}</bdi></span>
    <span class="num">${whole(n)}</span></button>`;
  const toggle = html`<button class="quiet" onClick=${() => setWhole(!isWhole)}>
    ${isWhole ? "Fewer" : `${more} more`}</button>`;
  return html`<fieldset class="facet"><legend>${facet.name}</legend>
    ${shown.map(choice)}${(more > 0 || isWhole) && toggle}</fieldset>`;
}
