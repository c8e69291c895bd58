/* The page of a task set: what each model came to, by task, by needle, by budget, and the probes
   for shortcuts. */

import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { own } from "./base.js";
import { Flag, Section, Table } from "./bits.js";
import {
  Axis,
  apart,
  atPercent,
  Grid,
  Interval,
  lineClass,
  Plot,
  scale,
  ticksOf,
  Upright,
} from "./charts.js";
import { Model, nameOf, shortOf, summary } from "./names.js";
import { clip, counted, fixed, isKnown, money, percent, titled, whole } from "./numbers.js";
import {
  Found,
  MethodsSection,
  oddOf,
  SetOpening,
  SetPage,
  spanOf,
  startSet,
  Told,
} from "./sets.js";
import { plain, Said } from "./text.js";
import "../style/tokens.css";
import "../style/base.css";
import "../style/layout.css";
import "../style/text.css";
import "../style/charts.css";
import "../style/report.css";
import "../style/rounds.css";
import "../style/tasks.css";
import "../style/print.css";

const SHARES = { at: scale(0, 100), ticks: [0, 25, 50, 75, 100], format: (x) => `${x}` };
const MARKS = { at: scale(2, 10), ticks: [2, 4, 6, 8, 10], format: (x) => `${x}` };
const isWhole = (row) => row.view === "whole";
function BoardSection({ board, place, words, cautions }) {
  const rows = board.models.filter(isWhole);
  const isText = rows.some((row) => row.g_avg) && !rows.some((row) => row.m_avg);
  const axis = isText ? MARKS : SHARES;
  const isMixed = axis === SHARES && rows.some((row) => row.g_avg);
  const line = (row) =>
    html`<${BoardRow}
      key=${`${row.model}-${row.judge}`}
      row=${row}
      axis=${axis}
      chance=${board.chance}
      isMixed=${isMixed}
    />`;
  return html`<${Section} id=${`board-${place}`} kicker=${kickerOf(board, "Scores")}
    says=${html`<${Found} parts=${words.board} />`} note=${boardNote(board, cautions, axis)}>
    <div class=${`ladder scores ${isMixed ? "mixed" : ""}`} role="table"
      aria-label=${labelOf(board, "Scores")}>
      <${BoardHead} axis=${axis} isMixed=${isMixed} />${rows.map(line)}</div></${Section}>`;
}

/* What a part of the page is called for who cannot see it; no two have one name. */

const labelOf = (board, name) => (board.split === null ? name : `${name}, ${board.split}`);
const kickerOf = (board, name) =>
  board.split === null ? name : html`${name} · <${Said} text=${board.split} />`;

function boardNote(board, cautions, axis) {
  const sized = `${counted(board.items, "item")} about ${counted(board.videos, "video")}. `;
  const keyless = board.keyless
    ? `${counted(board.keyless, "item")} without a known answer: unscored. `
    : "";
  const mean =
    axis === SHARES
      ? "M-Avg is the mean of the tasks’ accuracies, in percent; no answer counts as wrong. " +
        (isKnown(board.chance) ? "The dashed line is chance. " : "")
      : "G-Avg is the mean of the tasks’ scores, 2 to 10. ";
  return html`${sized}${keyless}${mean}Bars are 95 % intervals that know which items share a
  video.${cautions.map((text) => html` <strong class="warn-text">${plain(text)}</strong>`)}`;
}

function BoardHead({ axis, isMixed }) {
  const head = (cls, text) => html`<span role="columnheader" class=${cls}>${text}</span>`;
  const line = html`<span class="hidden">Score and interval</span><${Axis} ...${axis} />`;
  return html`<div class="ladder-row ladder-head" role="row">
    ${head("of-name", "Model")}
    ${head("of-plot", line)}${head("of-rating", axis === SHARES ? "M-Avg" : "G-Avg")}
    ${isMixed && head("of-free", "G-Avg")}
  </div>`;
}

function BoardRow({ row, axis, chance, isMixed }) {
  const figure = axis === SHARES ? row.m_avg : row.g_avg;
  const digits = axis === SHARES ? 1 : 2;
  const seen = isKnown(row.max_frames) ? counted(row.max_frames, "frame") : "";
  const frames = row.is_blind ? "saw no frames" : seen;
  const odd = oddOf(row).map((text) => html` <${Flag} text=${text} />`);
  const judge = row.judge !== null && html` judge <${Said} text=${row.judge} />`;
  const isSaid = row.model.endsWith(`(${frames})`);
  const by = html`<small>${!isSaid && frames}${judge}${odd}</small>`;
  const guessed = axis === SHARES && isKnown(chance);
  const line = html`<${Upright} at=${axis.at} x=${chance} from="0" to="100%" cls="chance" />`;
  const free = html`<span role="cell" class="of-free"><${Told} figure=${row.g_avg}
    digits=${2} /></span>`;
  return html`<div class="ladder-row" role="row">
    <span role="cell" class="of-name"><${Model} name=${row.model} link=${false} />${by}</span>
    <span role="cell" class="of-plot"><${Plot} height=${48}>
      <${Grid} at=${axis.at} height="100%" ticks=${axis.ticks} />
      ${guessed && line}<${Interval} at=${axis.at} ...${figure ?? {}} y=${24} /></${Plot}></span>
    <span role="cell" class="of-rating"><${Told} figure=${figure} digits=${digits} /></span>
    ${isMixed && free}</div>`;
}

/* Each task a column, and each group of tasks where there are several. */
function TasksSection({ board, place, words }) {
  const tasks = new Map();
  for (const row of board.models) {
    for (const one of row.tasks) tasks.set(`${one.kind}\n${one.task}`, one);
  }
  const columns = [...tasks.values()];
  const rows = board.models.filter(isWhole);
  if (columns.length < 2 || !rows.length) return null;
  const groups = [...new Set(rows.flatMap((row) => Object.keys(row.groups)))];
  const line = (row) => [
    html`<${Model} name=${row.model} link=${false} />`,
    ...columns.map((one) => html`<${TaskCell} row=${row} of=${one} />`),
  ];
  const grouped = (row) => [
    html`<${Model} name=${row.model} link=${false} />`,
    ...groups.map((name) => html`<${Told} figure=${own(row.groups, name)} />`),
  ];
  const heads = [["Model", ""], ...columns.map((one) => [taskHead(one, rows), "right"])];
  const ofGroups = [["Model", ""], ...groups.map((name) => [titled(name), "right"])];
  const inGroups = html`<h3>Groups of tasks</h3><${Table} cls="by-task"
    label=${labelOf(board, "Scores by group")} columns=${ofGroups} rows=${rows.map(grouped)} />`;
  const note =
    "Of choices the accuracy in percent, of free text the mean score, 2 to 10; beneath it the " +
    "95 % interval.";
  return html`<${Section} id=${`tasks-${place}`} kicker=${kickerOf(board, "By task")}
    says=${html`<${Found} parts=${words.tasks} />`} note=${note}>
    <${Table} label=${labelOf(board, "Scores by task")} cls="by-task" columns=${heads}
      rows=${rows.map(line)} />
    ${groups.length > 1 && inGroups}</${Section}>`;
}

const taskOf = (row, { task, kind }) =>
  row.tasks.find((one) => one.task === task && one.kind === kind);

function taskHead(one, rows) {
  const n = Math.max(...rows.map((row) => taskOf(row, one)?.figure.n ?? 0), 0);
  const chance = isKnown(one.chance) ? `, chance ${whole(one.chance)}` : "";
  return html`<b><${Said} text=${clip(one.task, 40)} /></b>
    <small class="num">n ${whole(n)}${chance}</small>`;
}

const TaskCell = ({ row, of }) =>
  html`<${Told} figure=${taskOf(row, of)?.figure} digits=${of.kind === "choice" ? 1 : 2} />`;

/* Needles: a heat map a model, position in the video down, length of the background across. */
const MOST_MAPS = 12;
const FEW_ITEMS = 10;

/* A length in the largest unit that it is a whole number of. */
function lasting(seconds) {
  if (seconds && seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds && seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

const fifth = (place, of) => `${(100 * place) / of}–${(100 * (place + 1)) / of} %`;

const POSITIONS_NOTE =
  "Accuracy in percent, with the number of needles. Down: where in the video the needle’s middle " +
  "lies; across: the length of the background. Pale: fewer than ten needles. Point at a cell for " +
  "its interval.";

function PositionsSection({ board, place, words }) {
  const rows = board.models.filter((row) => isWhole(row) && row.positions);
  if (!rows.length) return null;
  const some = rows.slice(0, MOST_MAPS);
  const more = rows.length > some.length;
  const cut = more ? ` The first ${some.length} of ${rows.length} results are drawn.` : "";
  const map = (row) => html`<${NeedleMap} key=${`${row.model}-${row.judge}`} row=${row}
    label=${labelOf(board, `Needles, ${nameOf(row.model)} ${row.judge ?? ""}`)} />`;
  return html`<${Section} id=${`positions-${place}`} kicker=${kickerOf(board, "Needles")}
    says=${html`<${Found} parts=${words.positions} />`} note=${`${POSITIONS_NOTE}${cut}`}>
    <div class="maps">${some.map(map)}</div></${Section}>`;
}

function NeedleMap({ row, label }) {
  const { lengths, cells, by_position: byPosition, by_length: byLength } = row.positions;
  const head = (text) => html`<th scope="col">${text}</th>`;
  const cell = (one) => html`<${NeedleCell} cell=${one} />`;
  const gap = html`<td class="gap"></td>`;
  const line = (some, place) => html`<tr><th scope="row" class="num">
    ${fifth(place, cells.length)}</th>${some.map(cell)}${gap}${cell(byPosition[place])}</tr>`;
  return html`<figure><figcaption><b><${Model} name=${row.model} link=${false} /></b></figcaption>
    <div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table class="needles"><thead><tr><td></td>${lengths.map((one) => head(lasting(one)))}${gap}
      ${head("all")}</tr></thead><tbody>${cells.map(line)}</tbody>
    <tfoot><tr class="apart" aria-hidden="true"><td></td></tr>
      <tr><th scope="row">all</th>${byLength.map(cell)}${gap}<td></td></tr></tfoot>
    </table></div></figure>`;
}

function NeedleCell({ cell }) {
  if (!cell) return html`<td class="none"><span class="hidden">no needle</span></td>`;
  const thin = cell.n < FEW_ITEMS ? "thin" : "";
  const interval = isKnown(cell.low) ? `, ${fixed(cell.low)} to ${fixed(cell.high)} %` : "";
  return html`<td class=${`needle ${thin}`} style=${{ "--strength": (cell.value ?? 0) / 100 }}
    title=${`${cell.right} of ${cell.n} right${interval}`}><b class="num">${whole(cell.value)}</b>
    <small class="num"><span class="hidden">percent of </span>${whole(cell.n)}</small></td>`;
}

/* What frames and dollars buy: accuracy against both on logarithmic axes, and what is enough. */
const SWEEP_HEIGHT = 250;
const SWEEP_FOOT = 26;
const PLOT_FROM = 8;
const PLOT_TO = 62;
const MOST_CURVES = 9;
const COURSES = [
  { key: "frames", title: "Frames", about: "sent of each video", write: whole },
  { key: "usd", title: "Dollars", about: "an item", write: money },
];

const SWEEP_NOTE =
  "Over the items that all settings of a model have. Bars: 95 % intervals; dashed: chance; " +
  "ringed: the cheapest setting whose difference from the model’s best, item by item, has a 95 % " +
  "bound above the margin.";

function SweepSection({ board, place, words }) {
  const sweeps = board.sweeps;
  if (!sweeps.length) return null;
  const courses = COURSES.filter(({ key }) => settingsOf(sweeps).some((one) => one[key] > 0));
  const chart = (course) =>
    html`<figure key=${course.key}>
      <figcaption><b>${course.title}</b> ${course.about}</figcaption>
      <${SweepChart} sweeps=${sweeps} course=${course} chance=${board.chance} />
    </figure>`;
  const line = (text) => html`<li>${plain(text)}</li>`;
  const isCut = sweeps.length > MOST_CURVES;
  const cut = isCut ? ` The first ${MOST_CURVES} of ${sweeps.length} models are drawn.` : "";
  return html`<${Section} id=${`sweep-${place}`} kicker=${kickerOf(board, "Budget")}
    says=${html`<${Found} parts=${words.sweeps} />`} note=${`${SWEEP_NOTE}${cut}`}>
    <div class=${courses.length > 1 ? "panels two" : "one-panel"}>${courses.map(chart)}</div>
    <ul class="enough">${words.each_sweep.map(line)}</ul></${Section}>`;
}

const settingsOf = (sweeps) => sweeps.flatMap((one) => one.settings);
const isDrawn = (course) => (one) => one[course.key] > 0 && isKnown(one.accuracy.value);

/* Places on a logarithmic axis, in percent of the drawing. */
function logScale(values) {
  const [low, high] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))];
  const middle = (PLOT_FROM + PLOT_TO) / 2;
  return (x) =>
    high > low ? PLOT_FROM + ((PLOT_TO - PLOT_FROM) * (Math.log(x) - low)) / (high - low) : middle;
}

/* The range of accuracies, to the next ten on either side. */
function heightsOf(sweeps, chance) {
  const ends = settingsOf(sweeps).flatMap(({ accuracy: { low, value, high } }) => [
    low,
    value,
    high,
  ]);
  const found = [...ends, chance].filter(isKnown);
  const low = Math.floor(Math.min(...found) / 10) * 10;
  const high = Math.max(Math.ceil(Math.max(...found) / 10) * 10, low + 10);
  const room = SWEEP_HEIGHT - SWEEP_FOOT - 14;
  const y = (share) => 10 + (room * (high - share)) / (high - low);
  return { y, ticks: ticksOf(low, high, 5) };
}

function SweepChart({ sweeps, course, chance }) {
  const [on, setOn] = useState(null);
  const drawn = sweeps.filter((one) => one.settings.some(isDrawn(course))).slice(0, MOST_CURVES);
  const values = settingsOf(drawn).filter(isDrawn(course));
  const x = logScale(values.map((one) => one[course.key]));
  const { y, ticks } = heightsOf(drawn, chance);
  const lasts = drawn.map((one) => one.settings.findLast(isDrawn(course)).accuracy.value);
  const places = apart(lasts.map(y), 14, 12, SWEEP_HEIGHT - SWEEP_FOOT);
  const curve = (sweep, k) => html`<${Curve} key=${sweep.model} sweep=${sweep} course=${course}
    x=${x} y=${y} cls=${lineClass(sweep.model, k, on)} on=${setOn}
    label=${{ from: y(lasts[k]), to: places[k], share: lasts[k] }} />`;
  const guessed = html`<line class="chance" x1="0" x2=${`${PLOT_TO + 2}%`} y1=${y(chance)}
    y2=${y(chance)} />`;
  return html`<${Plot} height=${SWEEP_HEIGHT} cls="sweep" label=${sweepSays(drawn, course)}>
    <${SweepLevels} y=${y} ticks=${ticks} chance=${chance} />${isKnown(chance) && guessed}
    <${SweepTicks} values=${values.map((one) => one[course.key])} x=${x} write=${course.write} />
    ${drawn.map(curve)}</${Plot}>`;
}

/* A figure that the line of chance would run through stands below its own line. */
function SweepLevels({ y, ticks, chance }) {
  const isCrossed = (share) => isKnown(chance) && Math.abs(y(share) - 8 - y(chance)) < 9;
  const level = (share) => html`<line x1="0" x2=${`${PLOT_TO + 2}%`} y1=${y(share)}
    y2=${y(share)} /><text class="tick" x="0" y=${y(share) + (isCrossed(share) ? 11 : -3)}>
    ${share}</text>`;
  return html`<g class="grid">${ticks.map(level)}</g>`;
}

function sweepSays(drawn, course) {
  const said = drawn.map(({ model, settings }) => {
    const each = settings.filter(isDrawn(course));
    const words = each.map(
      (one) => `${fixed(one.accuracy.value)} % at ${course.write(one[course.key])}`,
    );
    return `${nameOf(model)}: ${words.join(", ")}`;
  });
  return `Accuracy by ${course.title.toLowerCase()}. ${said.join("; ")}`;
}

/* As many settings as have room; the largest always. */
function SweepTicks({ values, x, write }) {
  const kept = [];
  for (const value of [...new Set(values)].sort((one, other) => other - one)) {
    const room = write(value).length * 1.6 + 2;
    if (kept.every((other) => x(other) - x(value) > room)) kept.push(value);
  }
  const tick = (value) => html`<text class="tick mid" x=${atPercent(x(value))}
    y=${SWEEP_HEIGHT - 6}>${write(value)}</text>`;
  return kept.map(tick);
}

function Curve({ sweep, course, x, y, cls, on, label }) {
  const spots = sweep.settings.filter(isDrawn(course)).map((one) => ({
    one,
    x: atPercent(x(one[course.key])),
    y: y(one.accuracy.value),
  }));
  const line = (spot, k) =>
    k > 0 &&
    html`<line x1=${spots[k - 1].x} y1=${spots[k - 1].y}
    x2=${spot.x} y2=${spot.y} />`;
  const mark = (spot) => html`<${SweepSpot} spot=${spot} y=${y} model=${sweep.model}
    isEnough=${spot.one.frames === sweep.cheapest} />`;
  return html`<g class=${cls} onMouseEnter=${() => on(sweep.model)} onMouseLeave=${() => on(null)}>
    ${spots.map(line)}${spots.map(mark)}
    <line class="leader" x1=${`${PLOT_TO + 1.5}%`} x2=${`${PLOT_TO + 4}%`} y1=${label.from}
      y2=${label.to} />
    <text x=${`${PLOT_TO + 5}%`} y=${label.to + 4}>
      <tspan class="name">${plain(shortOf(sweep.model, 18))}</tspan>${" "}
      <tspan class="share">${whole(label.share)} %</tspan></text></g>`;
}

function SweepSpot({ spot, y, isEnough, model }) {
  const { low, high, value } = spot.one.accuracy;
  const bar = html`<line class="doubt" x1=${spot.x} x2=${spot.x} y1=${y(low)} y2=${y(high)} />`;
  const ring = html`<circle class="enough-ring" cx=${spot.x} cy=${spot.y} r="8" />`;
  const cost = isKnown(spot.one.usd) ? `, ${money(spot.one.usd)} an item` : "";
  return html`${isKnown(low) && bar}${isEnough && ring}<circle cx=${spot.x} cy=${spot.y} r="3.4">
    <title>${nameOf(model)}, ${counted(spot.one.frames, "frame")}${cost}: ${fixed(value)} %${" "}
    (${spanOf(spot.one.accuracy, 1)})</title></circle>`;
}

/* Shortcuts: what the options give away without the video, to text probes and to models. */
const READ_BLIND = {
  blind: "no frames",
  one: "one frame",
  shuffled: "shuffled",
  other: "another video",
};
const MOST_QIDS = 12;

const PROBES_NOTE =
  "A probe picks an option by text alone; beside it stands what chance earns. Found: it earns " +
  "more than drawn keys would give it (one-sided, p < .001). Balanced too exactly: it earns " +
  "less, which gives answers away by elimination.";

function ProbesSection() {
  const { probes, words } = summary;
  const { scores, asked, defects } = probes;
  const parts = probes.parts.filter((part) => part.keyed);
  return html`<${Section} id="probes" kicker="Shortcuts" note=${PROBES_NOTE}
    says=${html`<${Found} parts=${words.probes} />`}>
    ${scores.length > 0 && html`<${ScoredTwice} rows=${scores} />`}
    ${parts.length > 0 && html`<${TextProbes} parts=${parts} />`}
    ${asked.length > 0 && html`<${AskedProbes} rows=${asked} />`}
    ${defects.length > 0 && html`<${Defects} rows=${defects} />`}</${Section}>`;
}

const partName = ({ split, task }) =>
  html`<${Said} text=${split === null ? task : `${split}: ${task}`} />`;

/* Both scores: over all items, and over those that text alone does not give away. */
function ScoredTwice({ rows }) {
  const columns = [
    ["Model", ""],
    ["All items", "right"],
    ["Without what is given away", "right"],
  ];
  const line = (row) => [
    html`${row.split !== null && html`<${Said} text=${`${row.split}: `} />`}
      <${Model} name=${row.model} link=${false} />`,
    html`<${Told} figure=${row.every} />`,
    html`<${Told} figure=${row.rest} />`,
  ];
  return html`<h3>Both scores</h3><${Table} label="Scores with and without what is given away"
    cls="by-task" columns=${columns} rows=${rows.map(line)} />`;
}

function TextProbes({ parts }) {
  const names = [...new Set(parts.flatMap((part) => part.results.map((one) => one.probe)))];
  const columns = [
    ["Task", ""],
    ["Items", "right"],
    ["Given away", "right"],
    ["Chance", "right"],
    ...names.map((name) => [titled(name), "right"]),
  ];
  const cell = (part) => (name) => {
    const one = part.results.find((result) => result.probe === name);
    return html`<${ProbeCell} result=${one} />`;
  };
  const line = (part) => [
    partName(part),
    html`<span class="num">${whole(part.keyed)}</span>`,
    html`<span class="num">${whole(part.given_away)}</span>`,
    html`<span class="num">${percent(part.results[0]?.chance)}</span>`,
    ...names.map(cell(part)),
  ];
  return html`<h3>By text alone</h3><${Table} label="Text probes" cls="tight by-task"
    columns=${columns} rows=${parts.map(line)} />`;
}

function ProbeCell({ result }) {
  if (!result || !isKnown(result.share)) return html`<span class="muted">–</span>`;
  const share = percent(result.share);
  if (result.reading === "clean") return html`<span class="num">${share}</span>`;
  return html`<b class="num">${share}</b> <${Flag} text=${result.reading} />`;
}

/* Each view a column; a row a task and model. */
function AskedProbes({ rows }) {
  const views = ["whole", ...Object.keys(READ_BLIND)];
  const columns = [
    ["Task", ""],
    ["Model", ""],
    ["Whole video", "right"],
    ...Object.values(READ_BLIND).map((name) => [titled(name), "right"]),
    ["Chance", "right"],
  ];
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.split, row.task, row.model]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  const cell = (some) => (view) => {
    const one = some.find((row) => row.view === view);
    if (!one || !isKnown(one.accuracy)) return html`<span class="muted">–</span>`;
    return html`<b class="num">${fixed(one.accuracy)}</b> <small class="num">n ${one.n}</small>`;
  };
  const line = (some) => [
    partName(some[0]),
    html`<${Model} name=${some[0].model} link=${false} />`,
    ...views.map(cell(some)),
    html`<span class="num">${fixed(some[0].chance)}</span>`,
  ];
  return html`<h3>Models without the video <small>accuracy in percent</small></h3>
    <${Table} label="Models without the video" cls="tight by-task" columns=${columns}
      rows=${[...groups.values()].map(line)} />`;
}

function Defects({ rows }) {
  const columns = [
    ["Defect", ""],
    ["Items", "right"],
    ["Which", "broad"],
  ];
  const line = ({ flaw, qids }) => {
    const named = qids.slice(0, MOST_QIDS).map((alike) => alike.join(" = "));
    const more = qids.length - named.length;
    const rest = more > 0 ? ` and ${whole(more)} more` : "";
    return [
      html`<${Said} text=${flaw} />`,
      html`<span class="num">${whole(qids.length)}</span>`,
      html`<${Said} text=${`${named.join(", ")}${rest}`} />`,
    ];
  };
  return html`<h3>Defects</h3>
    <${Table} label="Defects" cls="tight" columns=${columns} rows=${rows.map(line)} />`;
}

/* The report of a task set: its parts in order. */
const SECTIONS = [
  ["board", "Scores"],
  ["tasks", "By task"],
  ["positions", "Needles"],
  ["sweep", "Budget"],
];

function BoardPart({ board, place }) {
  const words = summary.words.boards[place];
  const given = { board, place, words };
  return html`<${BoardSection} ...${given} cautions=${summary.cautions[place]} />
    <${TasksSection} ...${given} /><${PositionsSection} ...${given} />
    <${SweepSection} ...${given} />`;
}

function TaskReport() {
  const boards = summary.scores.boards;
  const part = (board, place) => html`<${BoardPart} key=${place} board=${board} place=${place} />`;
  const ofBoards = boards.flatMap((board, place) =>
    SECTIONS.map(([id, name]) => [`${id}-${place}`, kickerOf(board, name)]),
  );
  const sections = [...ofBoards, ["probes", "Shortcuts"], ["methods", "Methods"]];
  return html`<${SetPage} sections=${sections}>
    <${SetOpening} what="item" />${boards.map(part)} <${ProbesSection} />
    <${MethodsSection} sources=${["arena bench score --json", "arena bench probe --json"]}
      what="item" extra="judging free text costs extra" /></${SetPage}>`;
}

startSet(TaskReport);
