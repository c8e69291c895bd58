/* Curves: what each model comes to over frames, dollars or rounds, its name at the line's end. */

import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { apart, atPercent, lineClass, Plot, ticksOf } from "./charts.js";
import { nameOf, shortOf } from "./names.js";
import { isKnown, titled } from "./numbers.js";
import { plain } from "./text.js";

const FOOT = 26;

/* The columns of a table of curves are model, what they are over, and the figure; `to` is where
   they end, in percent of the drawing. */
export function Curves({ table, isLog = false, height = 250, from = 8, to = 62, most = 18 }) {
  const [on, setOn] = useState(null);
  const [of, across, up] = table.columns;
  const points = table.rows.map((row) => pointOf(row, of, across, up));
  const models = [...new Set(points.map((one) => one.model))];
  const x = placesOf([...new Set(points.map((one) => one.x))], isLog, from, to);
  const { y, ticks } = heightsOf(points, height);
  const lines = models.map((model) => points.filter((one) => one.model === model));
  const ends = lines.map((line) => line.at(-1));
  const places = apart(
    ends.map((end) => y(end.value)),
    13,
    12,
    height - FOOT,
  );
  const curve = (line, k) => html`<${Curve} key=${models[k]} line=${line} x=${x} y=${y} to=${to}
    cls=${lineClass(models[k], k, on)} on=${setOn} place=${places[k]} most=${most} />`;
  const mark = points[0].mark;
  const guessed = html`<line class="chance" x1="0" x2=${`${to + 2}%`} y1=${y(mark)}
    y2=${y(mark)} />`;
  return html`<${Plot} height=${height} cls="sweep points" label=${labelOf(lines, up, across)}>
    <${Levels} y=${y} ticks=${ticks} mark=${mark} to=${to} />${isKnown(mark) && guessed}
    <${Ticks} points=${points} x=${x} y=${height - 6} />${lines.map(curve)}</${Plot}>`;
}

function pointOf(row, who, across, up) {
  const [value, low, high] = ["", "_low", "_high"].map((of) => row.fields[up.key + of]);
  const { mark, is_ringed: isRinged } = row.fields;
  const [name, text] = [row.cells[across.key], row.cells[up.key]];
  const x = row.fields[across.key];
  return { model: row.fields[who.key], x, name, text, value, low, high, mark, isRinged };
}

function placesOf(values, isLog, from, to) {
  const at = isLog ? Math.log : (x) => x;
  const low = at(Math.min(...values));
  const high = at(Math.max(...values));
  const wide = high > low ? (to - from) / (high - low) : 0;
  return (x) => (wide ? from + wide * (at(x) - low) : isLog ? (from + to) / 2 : from);
}

/* The range of the figures, to the next ten on either side. */
function heightsOf(points, height) {
  const found = points.flatMap(({ value, low, high, mark }) => [value, low, high, mark]);
  const known = found.filter(isKnown);
  const low = Math.floor(Math.min(...known) / 10) * 10;
  const high = Math.max(Math.ceil(Math.max(...known) / 10) * 10, low + 10);
  const y = (figure) => 10 + ((height - FOOT - 14) * (high - figure)) / (high - low);
  return { y, ticks: ticksOf(low, high, 5) };
}

/* A figure that the mark's line would run through stands below its own line. */
function Levels({ y, ticks, mark, to }) {
  const isCrossed = (figure) => isKnown(mark) && Math.abs(y(figure) - 8 - y(mark)) < 9;
  const level = (figure) => html`<line x1="0" x2=${`${to + 2}%`} y1=${y(figure)} y2=${y(figure)} />
    <text class="tick" x="0" y=${y(figure) + (isCrossed(figure) ? 11 : -3)}>${figure}</text>`;
  return html`<g class="grid">${ticks.map(level)}</g>`;
}

/* As many as have room; the largest always. */
function Ticks({ points, x, y }) {
  const names = new Map(points.map((one) => [one.x, one.name]));
  const kept = [];
  for (const [value, name] of [...names].sort((one, other) => other[0] - one[0])) {
    const room = name.length * 1.6 + 2;
    if (kept.every(([other]) => x(other) - x(value) > room)) kept.push([value, name]);
  }
  return kept.map(
    ([value, name]) => html`<text class="tick mid" x=${atPercent(x(value))} y=${y}>${name}</text>`,
  );
}

function labelOf(lines, up, across) {
  const said = lines.map((line) => {
    const each = line.map((one) => `${one.text} at ${one.name}`);
    return `${nameOf(line[0].model)}: ${each.join(", ")}`;
  });
  return `${titled(up.title)} by ${across.title}. ${said.join("; ")}`;
}

function Curve({ line, x, y, to, cls, on, place, most }) {
  const [{ model }] = line;
  const end = line.at(-1);
  const piece = (one, k) =>
    k > 0 &&
    html`<line x1=${atPercent(x(line[k - 1].x))} y1=${y(line[k - 1].value)}
      x2=${atPercent(x(one.x))} y2=${y(one.value)} />`;
  const spot = (one) => html`<${Spot} of=${one} x=${atPercent(x(one.x))} y=${y} />`;
  return html`<g class=${cls} onMouseEnter=${() => on(model)} onMouseLeave=${() => on(null)}>
    ${line.map(piece)}${line.map(spot)}
    <line class="leader" x1=${`${to + 1.5}%`} x2=${`${to + 4}%`} y1=${y(end.value)} y2=${place} />
    <text x=${`${to + 5}%`} y=${place + 4}><tspan class="name">
      ${plain(shortOf(model, most))}</tspan>${" "}
      <tspan class="share">${end.text.split(" (")[0]} %</tspan></text></g>`;
}

function Spot({ of, x, y }) {
  const { low, high, value, isRinged } = of;
  const bar = html`<line class="doubt" x1=${x} x2=${x} y1=${y(low)} y2=${y(high)} />`;
  const ring = html`<circle class="enough-ring" cx=${x} cy=${y(value)} r="8" />`;
  return html`${isKnown(low) && bar}${isRinged && ring}<circle cx=${x} cy=${y(value)}
    r=${isKnown(low) ? 3.4 : 2.6}><title>${nameOf(of.model)}, ${of.name}: ${of.text}</title>
    </circle>`;
}
