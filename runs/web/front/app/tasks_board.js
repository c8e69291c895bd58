/* A part of a set: what each model came to, over tasks and on each of them, beside chance. */
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
