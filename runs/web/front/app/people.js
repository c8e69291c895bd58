/* What people say: how far they agree with the judge and one another, and whose questions they
   like. Shown where people have labelled battles of the run. */

import { html } from "htm/preact";
import { Section, STANDARDS, Table } from "./bits.js";
import { Axis, Grid, Interval, Plot } from "./charts.js";
import { halvesTick, SHARE_AXIS } from "./judge.js";
import { summary } from "./names.js";
import { clip, counted, isKnown, percent, whole } from "./numbers.js";
import { Said } from "./text.js";

const findingOf = (key) => summary.labels.findings.find((one) => one.key === `labels.${key}`);
const isMeasured = (finding) => finding && isKnown(finding.value);
export const withInterval = ({ value, low, high }) =>
  isKnown(low) ? `${percent(value)} (${percent(low)} to ${percent(high)})` : percent(value);

function peopleSay() {
  const judge = findingOf("agreement");
  const people = findingOf("people");
  if (!isMeasured(judge)) return "People have labelled, but no label is of a battle that counts.";
  const first = `Judge and people agree in ${percent(judge.value)} of ${counted(judge.n, "label")}`;
  if (!isMeasured(people)) return `${first}; no battle was labelled by two.`;
  return `${first}, two people in ${percent(people.value)}.`;
}

const PEOPLE_NOTE =
  "Intervals are 95 % and know which battles share a video. A judge that agrees with people as " +
  "often as they do with one another is as good as a person.";

export function People() {
  const { labels } = summary;
  if (!labels?.labels && !labels?.ranking) return null;
  const agreement = html`<p class="muted">${labelCounts()}</p>
    <div class="panels two"><${AgreementTable} /><${Labellers} /></div>`;
  return html`<${Section} id="people" kicker="People" says=${peopleSay()} note=${PEOPLE_NOTE}>
    ${labels.labels > 0 && agreement}
    ${labels.ranking && html`<${QuestionRanking} ranking=${labels.ranking} />`}</${Section}>`;
}

function labelCounts() {
  const { labels, battles, labellers, left_out: out } = summary.labels;
  const people = counted(labellers.length, "person", "people");
  const more = out ? `; ${whole(out)} more are of battles that do not count` : "";
  return `${counted(labels, "label")} of ${counted(battles, "battle")} by ${people}${more}.`;
}

/* Overall, then by each of the four standards: judge and people, and people one with another. */

function agreementRows() {
  const rows = [
    ["Judge and people", "agreement"],
    ["Two people", "people"],
    ...STANDARDS.map(([key, name]) => [`${name}: judge and people`, `judge_${key}`]),
    ...STANDARDS.map(([key, name]) => [`${name}: two people`, `people_${key}`]),
  ];
  return rows
    .map(([name, key]) => [name, findingOf(key)])
    .filter(([, finding]) => isMeasured(finding));
}

function AgreementTable() {
  const { at, ticks } = SHARE_AXIS;
  const row = ([name, finding]) => html`<${AgreementRow} key=${name} name=${name}
    finding=${finding} />`;
  return html`<div><h3>Agreement</h3><div role="table" aria-label="Agreement">
    ${agreementRows().map(row)}
    <div class="agreement-row" aria-hidden="true"><span></span>
    <span><${Axis} at=${at} ticks=${ticks} format=${halvesTick} /></span><span></span></div>
    </div></div>`;
}

function AgreementRow({ name, finding }) {
  const { at, ticks } = SHARE_AXIS;
  return html`<div role="row" class="agreement-row">
    <span role="cell">${name} <small class="num">n ${whole(finding.n)}</small></span>
    <span role="cell"><${Plot} height=${24} label=${withInterval(finding)}>
      <${Grid} at=${at} height=${24} ticks=${ticks} />
      <${Interval} at=${at} ...${intervalOfShare(finding)} y=${12} cls="small" /></${Plot}></span>
    <span role="cell" class="num right">${percent(finding.value)}</span></div>`;
}

const intervalOfShare = ({ value, low, high }) => ({ value, low, high });

const LABELLER_COLUMNS = [
  ["Labeller", ""],
  ["Labels", "right"],
  ["Ties", "right"],
  ["Agrees with the judge", "right"],
];

function Labellers() {
  const rows = summary.labels.labellers.map((one) => [
    html`<${Said} text=${clip(one.labeller, 60)} />`,
    html`<span class="num">${whole(one.labels)}</span>`,
    html`<span class="num">${whole(one.ties)}</span>`,
    html`<span class="num">${withInterval(one.agreed)}</span>`,
  ]);
  return html`<div><h3>Labellers</h3><${Table} label="Labellers" cls="tight"
    columns=${LABELLER_COLUMNS} rows=${rows} /></div>`;
}

const orderOf = (place) => ["1st", "2nd", "3rd", "4th"][place] ?? `${place + 1}th`;

/* How often questions of each source came first, second and so on. */
function QuestionRanking({ ranking }) {
  const places = Math.max(...ranking.sources.map((one) => one.places.length), 0);
  const numbers = Array.from({ length: places }, (_, place) => place);
  const columns = [
    ["Questions of", ""],
    ["Ranked", "right"],
    ...numbers.map((place) => [orderOf(place), "right"]),
  ];
  const rows = ranking.sources.map((one) => [
    html`<${Said} text=${clip(one.source, 60)} />`,
    html`<span class="num">${whole(one.n)}</span>`,
    ...numbers.map((place) => html`<${PlaceShare} share=${one.places[place]} />`),
  ]);
  const how = "of several sources on one video, ranked by people who did not know the source";
  return html`<h3>Questions <small>${how}</small></h3>
    <${Table} label="Ranking of questions" cls="tight" columns=${columns} rows=${rows} />`;
}

function PlaceShare({ share }) {
  if (!share || !isKnown(share.value)) return "–";
  return html`<span class="num">${percent(share.value)} <small>${percent(share.low)} to${" "}
    ${percent(share.high)}</small></span>`;
}
