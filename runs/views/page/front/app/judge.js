/* Can the judge be believed: every check with its interval, beside what a fair judge would show. */

import { html } from "htm/preact";
import { Section } from "./bits.js";
import { Axis, Grid, Interval, Plot, scale, Upright } from "./charts.js";
import { sentenceOf, summary } from "./names.js";
import { fixed, isKnown, percent, signed, whole } from "./numbers.js";
import { plain } from "./text.js";

const AXES = {
  share: { at: scale(0, 1), ticks: [0, 0.25, 0.5, 0.75, 1], format: (x) => percent(x) },
  coefficient: { at: scale(-1, 1), ticks: [-1, -0.5, 0, 0.5, 1], format: (x) => fixed(x) },
  points: {
    at: scale(-500, 1500),
    ticks: [-500, 0, 500, 1000, 1500],
    format: (x) => (x % 1000 === 0 ? (x ? signed(x) : "0") : ""),
  },
};
export const SHARE_AXIS = AXES.share;
const FIGURES = { share: (x) => percent(x, 1), coefficient: (x) => fixed(x, 2), points: signed };
const isPeople = (finding) => finding.group === "People";
const figureOf = (finding) => FIGURES[finding.unit](finding.value);

export function Judge() {
  const checks = summary.audit.filter((one) => !summary.labels?.labels || !isPeople(one));
  if (!checks.length) return null;
  const unknown = checks.filter((one) => !isKnown(one.value));
  const note = `Intervals are 95 % and know which battles share a video. The mark on an axis is
    what a fair judge would show; where there is none, no value is good or bad by itself.`;
  const group = ([name, rows]) => html`<${CheckGroup} key=${name} name=${name} rows=${rows} />`;
  return html`<${Section} id="judge" kicker="The judge" says=${sentenceOf("audit")} note=${note}>
    ${[...groupsOf(checks)].map(group)}
    ${unknown.length > 0 && html`<${NotMeasured} findings=${unknown} />`}</${Section}>`;
}

function NotMeasured({ findings }) {
  const line = (one) =>
    html`<li key=${one.key}><b>${plain(one.name)}.</b> ${plain(one.sentence)}</li>`;
  return html`<h3>Not measured</h3><ul class="unknown">${findings.map(line)}</ul>`;
}

/* Alarms stand in a group of their own, before all else; then groups in the order they come. */
function groupsOf(checks) {
  const groups = new Map();
  const measured = checks.filter((one) => isKnown(one.value));
  for (const one of measured.filter((check) => check.alarm)) addTo(groups, "Alarms", one);
  for (const one of measured.filter((check) => !check.alarm)) addTo(groups, one.group, one);
  return groups;
}

function addTo(groups, name, one) {
  if (!groups.has(name)) groups.set(name, []);
  groups.get(name).push(one);
}

const CANARIES_NOTE = "how far each lies below the first model it must not beat, in rating points";
/* Where an axis is too narrow for every tick's label. */
export const halvesTick = (x) => (x % 0.5 === 0 ? percent(x) : "");

function CheckGroup({ name, rows }) {
  const note = name === "Canaries" && html` <small>${CANARIES_NOTE}</small>`;
  return html`<h3>${name}${note}</h3><${Checks} label=${name} rows=${rows} />`;
}

/* Rows of one unit share an axis. */
export function Checks({ label, rows }) {
  return Object.entries(AXES).map(([unit, axis]) => {
    const some = rows.filter((one) => one.unit === unit);
    return (
      some.length > 0 &&
      html`<div class="checks" role="table" aria-label=${`${label}, ${unit}`}>
      ${some.map((one) => html`<${Check} key=${one.key} finding=${one} axis=${axis} />`)}
      <div class="check-row check-foot" aria-hidden="true"><span></span><span></span><span></span>
        <span class="of-plot"><${Axis} ...${axis} /></span></div></div>`
    );
  });
}

function Check({ finding, axis }) {
  const { at, ticks } = axis;
  const bang = html`<span class="bang" aria-hidden="true">!</span>`;
  const mark = html`<${Upright} at=${at} x=${finding.fair} from="3" to="27" cls="fair" />`;
  return html`<div class=${`check-row ${finding.alarm ? "alarm" : ""}`} role="row">
    <span role="cell" class="of-name">${finding.alarm && bang}<b>${plain(finding.name)}</b>
      <small class="num">n ${whole(finding.n)}</small></span>
    <span role="cell" class="of-words">${plain(finding.sentence)}</span>
    <span role="cell" class="of-value num"><b>${figureOf(finding)}</b>
      <small>${doubtOf(finding)}</small></span>
    <span role="cell" class="of-plot"><${Plot} height=${30}>
      <${Grid} at=${at} height=${30} ticks=${ticks} />${isKnown(finding.fair) && mark}
      <${Interval} at=${at} value=${finding.value} low=${finding.low} high=${finding.high} y=${15}
        cls=${finding.alarm ? "bad" : ""} /></${Plot}></span></div>`;
}

function doubtOf(finding) {
  if (finding.alarm) return html`<em class="loud">alarm</em>`;
  return finding.too_few ? "too few to tell" : "";
}
