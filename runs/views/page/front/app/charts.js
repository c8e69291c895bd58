/* Charts: plain SVG whose x is in percent, so that text keeps its size on any screen and in print.
   Any page may use this. */

import { html } from "htm/preact";
import { isKnown, whole } from "./numbers.js";

export function scale(low, high) {
  const at = (x) => (100 * (Math.min(Math.max(x, low), high) - low)) / (high - low || 1);
  return Object.assign(at, { low, high, ticks: (most = 5) => ticksOf(low, high, most) });
}

/* Round figures between two ends, about `most` of them. */
export function ticksOf(low, high, most) {
  if (!(high > low)) return [low];
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((k) => k >= rough);
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high + step / 1e6; k++) ticks.push(k * step || 0);
  return ticks;
}

export const atPercent = (x) => `${x.toFixed(3)}%`;

export function Plot({ height, label, children, cls = "" }) {
  return html`<svg class=${`plot ${cls}`} height=${height} width="100%" role=${label ? "img" : null}
    aria-label=${label} aria-hidden=${label ? null : "true"}>${children}</svg>`;
}

/* A line from x to x, both on a scale. */
function Across({ at, from, to, y, cls }) {
  return html`<line class=${cls} x1=${atPercent(at(from))} x2=${atPercent(at(to))}
    y1=${y} y2=${y} />`;
}

export function Upright({ at, x, from = 0, to, cls }) {
  const place = atPercent(at(x));
  return html`<line class=${cls} x1=${place} x2=${place} y1=${from} y2=${to} />`;
}

/* Says that an interval goes on beyond the axis. */
function Arrow({ x, y, path }) {
  return html`<svg x=${x} y=${y - 5} width="8" height="10" overflow="visible">
    <path class="arrow" d=${path} /></svg>`;
}

/* An interval with its point; arrows where it runs off the axis, and no point that lies there. */
export function Interval({ at, low, high, value, y = 12, cls = "", mark = "dot" }) {
  if (!isKnown(value)) return null;
  const isBarred = isKnown(low) && isKnown(high);
  const isOnAxis = value >= at.low && value <= at.high;
  const point = html`<circle class=${mark} cx=${atPercent(at(value))} cy=${y}
    r=${mark === "ring" ? 3.5 : 4.5} />`;
  return html`<g class=${`interval ${cls}`}>
    ${isBarred && html`<${Across} at=${at} from=${low} to=${high} y=${y} cls="bar" />`}
    ${isBarred && low < at.low && html`<${Arrow} x="0%" y=${y} path="M7 1 L1 5 L7 9" />`}
    ${isBarred && high > at.high && html`<${Arrow} x="100%" y=${y} path="M-7 1 L-1 5 L-7 9" />`}
    ${isOnAxis && point}</g>`;
}

export function Grid({ at, height, ticks, strong }) {
  const line = (x) => html`<${Upright} at=${at} x=${x} to=${height}
    cls=${x === strong ? "strong" : ""} />`;
  return html`<g class="grid">${ticks.map(line)}</g>`;
}

export function Axis({ at, ticks, format = whole }) {
  const edge = (x) => (at(x) < 4 ? "first" : at(x) > 96 ? "last" : "");
  const tick = (x) => html`<span style=${{ left: atPercent(at(x)) }} class=${edge(x)}>
    ${format(x)}</span>`;
  return html`<div class="axis" aria-hidden="true">${ticks.map(tick)}</div>`;
}

/* Places for labels at the ends of lines, pushed apart until none lies on another. */
export function apart(wanted, gap, low, high) {
  const order = wanted.map((y, place) => [y, place]).sort((p, q) => p[0] - q[0]);
  const found = order.map(([y]) => Math.max(y, low));
  for (let k = 1; k < found.length; k++) found[k] = Math.max(found[k], found[k - 1] + gap);
  for (let k = found.length - 1; k >= 0; k--) {
    const most = k === found.length - 1 ? high : found[k + 1] - gap;
    found[k] = Math.min(found[k], most);
  }
  const places = [];
  order.forEach(([, place], k) => {
    places[place] = found[k];
  });
  return places;
}

/* Without a pointer on a line the first two of a chart are coloured. */
export function lineClass(model, place, on) {
  const isLead = on === null ? place < 2 : on === model;
  return `points-line line-${place} ${isLead ? "lead" : on === null ? "" : "dim"}`;
}

/* A bar of parts that make a whole; parts are {name, n, cls}. */
export function Parts({ parts, total }) {
  const some = parts.filter((one) => one.n);
  const label = some.map((one) => `${one.name} ${one.n}`).join(", ") || "none";
  const piece = (one) => html`<span class=${`part ${one.cls}`} title=${`${one.name}: ${one.n}`}
    style=${{ flexGrow: one.n / total }}>${one.n / total > 0.12 ? one.n : ""}</span>`;
  return html`<span class="parts" role="img" aria-label=${label}>${some.map(piece)}</span>`;
}

/* What the colours of a bar mean; rows are {name, cls}. */
export function Legend({ rows }) {
  const one = ({ name, cls }) => html`<span class="legend-one"><span class=${`key ${cls}`}></span>
    ${name}</span>`;
  return html`<p class="legend">${rows.map(one)}</p>`;
}
