/* Head to head: who took what from whom. One stop of the Tab key; arrows move within. */

import { html } from "htm/preact";
import { useRef, useState } from "preact/hooks";
import { Section, Segments } from "./bits.js";
import { battlesLink, nameOf, ratedModels, sentenceOf, shortOf, summary } from "./names.js";
import { counted, isKnown, known, percent, signed } from "./numbers.js";
import { plain } from "./text.js";

const WAYS = [
  ["share", "Share won"],
  ["expected", "Against the ratings"],
  ["battles", "Battles"],
];
const THIN = 10;
const ROOM_FOR_COUNTS = 14;
const pairKey = (model, rival) => `${model}\n${rival}`;

const MATRIX_NOTE =
  "A row’s share of points against the column’s model; a tie is half a point. Pale: fewer than " +
  "ten battles. Boxed: the interval excludes what the ratings predict.";
const MATRIX_HINT =
  "Point at a cell for its counts, or go to the table with Tab and move with the arrow keys; " +
  "Enter lists its battles.";

export function Matrix() {
  const [way, setWay] = useState("share");
  const [spot, setSpot] = useState([0, 1]);
  const [isOn, setOn] = useState(false);
  const order = ratedModels().map((row) => row.model);
  if (order.length < 2) return null;
  const cells = cellsOf();
  const shown = isOn && cells.get(pairKey(order[spot[0]], order[spot[1]]));
  const choose = (to) => {
    setSpot(to);
    setOn(true);
  };
  const tools = html`<${Segments} label="What the cells show" options=${WAYS} value=${way}
    onChange=${setWay} />`;
  const hint = html`<span class="muted">${MATRIX_HINT}</span>`;
  return html`<${Section} id="pairs" kicker="Head to head" says=${sentenceOf("pairs")}
    tools=${tools} note=${MATRIX_NOTE}>
    <${MatrixTable} spot=${spot} order=${order} cells=${cells} way=${way} on=${choose}
      off=${() => setOn(false)} />
    <p class="readout" role="status">${shown ? html`<${Readout} cell=${shown} />` : hint}</p>
    </${Section}>`;
}

function MatrixTable({ spot, order, cells, way, on, off }) {
  const most = Math.max(...summary.pairs.map((pair) => pair.battles), 1);
  const table = useRef(null);
  const move = (event) => {
    const to = steppedSpot(spot, event.key, order.length);
    if (!to) return;
    event.preventDefault();
    on(to);
    table.current.rows[to[0] + 1].cells[to[1] + 1].querySelector("[tabindex]")?.focus();
  };
  const cellAt = (row, column) => html`<${Cell} key=${column} way=${way} most=${most}
    cell=${row === column ? "self" : cells.get(pairKey(order[row], order[column]))}
    isStop=${spot[0] === row && spot[1] === column} on=${() => on([row, column])} />`;
  const line = (model, row) => html`<tr role="row" key=${model}>
    <${MatrixName} model=${model} place=${row} />
    ${order.map((_, column) => cellAt(row, column))}</tr>`;
  const head = (model, place) => html`<${MatrixHead} key=${model} model=${model} place=${place} />`;
  const cls = order.length > ROOM_FOR_COUNTS ? "many" : "";
  return html`<div class="matrix-box"><table class=${`matrix ${cls}`} ref=${table} role="grid"
    aria-label="Head to head" style=${{ "--models": order.length }} onKeyDown=${move}
    onMouseLeave=${off}>
    <thead><tr role="row"><td role="gridcell"></td>${order.map(head)}</tr></thead>
    <tbody>${order.map(line)}</tbody></table></div>`;
}

const MatrixHead = ({ model, place }) => html`<th scope="col" role="columnheader"
  title=${nameOf(model)}><span class="no num">${place + 1}</span>${" "}
  <span class="name">${plain(shortOf(model, 20))}</span></th>`;

const MatrixName = ({ model, place }) => html`<th scope="row" role="rowheader"
  title=${nameOf(model)}><span class="no num">${place + 1}</span>${" "}
  <bdi>${plain(shortOf(model, 18))}</bdi></th>`;

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/* The cell that an arrow leads to; the diagonal is leapt over. Null where there is none. */

function steppedSpot([row, column], key, size) {
  const step = STEPS[key];
  if (!step) return null;
  let to = [row + step[0], column + step[1]];
  if (to[0] === to[1]) to = [to[0] + step[0], to[1] + step[1]];
  return to.every((place) => place >= 0 && place < size) ? to : [row, column];
}

const turned = (x) => (isKnown(x) ? 1 - x : null);

/* Each pair twice, as the row's model sees it. */
function cellsOf() {
  const cells = new Map();
  for (const pair of summary.pairs) {
    const { share } = pair;
    const isOdd = pair.flags.includes("unlike its ratings");
    const both = { n: pair.battles, videos: pair.videos, isOdd, ties: pair.ties };
    const { model, rival, wins, losses } = pair;
    const one = { model, rival, wins, losses, expected: pair.expected };
    cells.set(pairKey(model, rival), { ...both, ...one, ...share, n: pair.battles });
    cells.set(pairKey(rival, model), {
      ...both,
      model: rival,
      rival: model,
      wins: losses,
      losses: wins,
      value: turned(share.value),
      low: turned(share.high),
      high: turned(share.low),
      expected: turned(pair.expected),
    });
  }
  return cells;
}

/* What a cell says, how strongly it is coloured, and to which side it leans. */
function facesOf(cell, way, most) {
  if (way === "battles") return { text: cell.n, strength: cell.n / most, lean: "cool" };
  const gap = isKnown(cell.expected) && isKnown(cell.value) ? cell.value - cell.expected : null;
  const from = way === "share" ? known(cell.value, (x) => x - 0.5) : gap;
  const lean = typeof from !== "number" || from === 0 ? "even" : from > 0 ? "up" : "down";
  const strength = typeof from === "number" ? Math.min(1, Math.abs(from) * 2) : 0;
  const share = known(cell.value, (x) => Math.round(100 * x));
  return { text: way === "share" ? share : known(gap, (x) => signed(100 * x)), strength, lean };
}

function Cell({ cell, way, most, isStop, on }) {
  const stop = isStop ? 0 : -1;
  if (cell === "self") return html`<td class="self" role="gridcell"></td>`;
  if (!cell?.n) {
    return html`<td class="never" role="gridcell"><span tabindex=${stop} onFocus=${on}>·
      <span class="hidden">never met</span></span></td>`;
  }
  const { text, strength, lean } = facesOf(cell, way, most);
  const thin = cell.n < THIN && way !== "battles" ? "thin" : "";
  const where = battlesLink({ model: cell.model, rival: cell.rival });
  return html`<td role="gridcell" class=${`cell ${lean} ${thin} ${cell.isOdd ? "odd" : ""}`}
    style=${{ "--strength": strength }}><a href=${where} tabindex=${stop} onMouseEnter=${on}
    onFocus=${on}><span class="hidden">${shortOf(cell.model, 44)} against${" "}
    ${shortOf(cell.rival, 44)}: </span><b class="num">${text}</b>
    ${way !== "battles" && html`<small class="num">n ${cell.n}</small>`}</a></td>`;
}

function Readout({ cell }) {
  const name = (model) => html`<b><bdi>${plain(shortOf(model, 44))}</bdi></b>`;
  const who = html`${name(cell.model)} against ${name(cell.rival)}: `;
  if (!cell.n) return html`${who}they never met.`;
  const counts = `${cell.wins} won, ${cell.ties} tied, ${cell.losses} lost`;
  const interval = `(${percent(cell.low)} to ${percent(cell.high)})`;
  return html`${who}${counts} on ${counted(cell.videos, "video")}; ${percent(cell.value)} of the
    points ${interval}, the ratings predict ${percent(cell.expected)}.`;
}
