/* Tables as they are sent, with the texts of their cells, and parts of a page made of them. */

import { html } from "htm/preact";
import { Facts, Flag, Section, Table } from "./bits.js";
import { Axis, Grid, Interval, Plot, scale, Upright } from "./charts.js";
import { Curves } from "./curves.js";
import { Model, Sentence } from "./names.js";
import { clip, isKnown, titled, whole } from "./numbers.js";
import { Said } from "./text.js";

/* An interval in a column of its own stands below the figure before it. */
const isBelow = (column) => /_interval$/.test(column.kind) && !/with_interval$/.test(column.kind);

const columnsOf = ({ columns }) =>
  columns.flatMap((column, k) =>
    isBelow(column)
      ? []
      : [{ ...column, below: columns[k + 1] && isBelow(columns[k + 1]) && columns[k + 1].key }],
  );

const headOf = ({ title, unit }) => titled(`${title} ${unit}`.trim());

function Head({ column }) {
  if (!column.about) return headOf(column);
  return html`<b><${Said} text=${clip(column.title, 40)} /></b>
    <small class="num">${column.about}</small>`;
}

const NOTHING = "–";

/* A figure with its interval or its count beneath it, and what is noted of it. */
function Figure({ text, below, isFlagged }) {
  const [figure, note] = text.split(", ");
  const [value, interval] = figure.split(" (");
  const told = value !== NOTHING && (below || interval?.replace(")", ""));
  if (!told && !note) return html`<span class="num">${value}</span>`;
  return html`<b class="num">${value}</b>${told && html`<small class="num">${told}</small>`}
    ${note && (isFlagged ? html` <${Flag} text=${note} />` : html`<small>${note}</small>`)}`;
}

export function Cell({ column, row }) {
  const { key, kind } = column;
  if (kind === "name") return html`<${Model} name=${row.fields[key]} />`;
  if (kind === "flags") return row.fields[key].map((text) => html` <${Flag} text=${text} />`);
  if (!column.is_figure) return html`<${Said} text=${row.cells[key]} />`;
  return html`<${Figure} text=${row.cells[key]} below=${column.below && row.cells[column.below]}
    isFlagged=${kind === "noted_share"} />`;
}

const FEW_COLUMNS = 4;

export function Rows({ table, cls = "by-task by-ability" }) {
  const columns = columnsOf(table);
  const narrow = columns.length < FEW_COLUMNS ? "of-parts" : "";
  const head = (column) => [
    html`<${Head} column=${column} />`,
    `${column.is_figure ? "right" : ""} ${column.is_aside ? "beside" : ""}`,
  ];
  const [start = Infinity] = table.starts;
  const line = (row, k) =>
    columns.map((column) => {
      const cell = html`<${Cell} column=${column} row=${row} />`;
      return k < start ? cell : html`<span class="muted">${cell}</span>`;
    });
  return html`<${Table} label=${table.caption} cls=${`${cls} ${narrow} ${table.name}`}
    columns=${columns.map(head)} rows=${table.rows.map(line)} />`;
}

/* Bars on one axis; rows below a line are constants. */
function Ladder({ table }) {
  const bar = table.columns.find((column) => column.kind === "bar");
  const figures = columnsOf(table).filter((column) => column.is_figure);
  const at = scale(table.axis.low, table.axis.high);
  const ticks = at.ticks(4);
  const head = (cls, text) => html`<span role="columnheader" class=${cls}>${text}</span>`;
  const axis = html`<span class="hidden">${bar.title}</span><${Axis} at=${at} ticks=${ticks} />`;
  const [start = Infinity] = table.starts;
  const line = (row, k) => html`<${LadderRow} key=${k} row=${row} columns=${table.columns}
    bar=${bar} at=${at} ticks=${ticks} isConstant=${k >= start} />`;
  return html`<div class=${`ladder scores ${figures.length > 1 ? "mixed" : ""}`} role="table"
    aria-label=${table.caption}><div class="ladder-row ladder-head" role="row">
      ${head("of-name", "Model")}${head("of-plot", axis)}
      ${figures.map((column, k) => head(FIGURES[k], headOf(column)))}</div>
    ${table.rows.map(line)}</div>`;
}

const FIGURES = ["of-rating", "of-free"];

function LadderRow({ row, columns, bar, at, ticks, isConstant }) {
  const [name, ...others] = columns;
  const cell = (column) => html`<${Cell} column=${column} row=${row} />`;
  const [value, low, high, mark] = bar.of.map((key) => row.fields[key]);
  const middle = isConstant ? 21 : 24;
  const marked = html`<${Upright} at=${at} x=${mark} from="0" to="100%" cls="chance" />`;
  const beside = others.filter((column) => column !== bar && !column.is_figure);
  const figures = others.filter((column) => column.is_figure);
  return html`<div class=${`ladder-row ${isConstant ? "constant" : ""}`} role="row">
    <span role="cell" class="of-name">${cell(name)}<small>${beside.map(cell)}</small></span>
    <span role="cell" class="of-plot"><${Plot} height=${2 * middle}>
      <${Grid} at=${at} height="100%" ticks=${ticks} />${isKnown(mark) && marked}
      <${Interval} at=${at} value=${value} low=${low} high=${high} y=${middle}
        mark=${isConstant ? "ring" : "dot"} /></${Plot}></span>
    ${figures.map((one, k) => html`<span role="cell" class=${FIGURES[k]}>${cell(one)}</span>`)}
    </div>`;
}

const FEW_ITEMS = 10;

/* A map of a model; what is over all others stands apart, to the right and below. */
function Heat({ table }) {
  const [first, ...columns] = table.columns;
  const [start] = table.starts;
  const apart = (column, inside) => [column.is_aside && html`<td class="gap"></td>`, inside];
  const head = (column) => apart(column, html`<th scope="col">${column.title}</th>`);
  const line = (row, isLast) => html`<tr><th scope="row" class="num">${row.cells[first.key]}</th>
    ${columns.map((one) =>
      apart(
        one,
        html`<${HeatCell} row=${row} column=${one}
      isCorner=${isLast && one.is_aside} />`,
      ),
    )}</tr>`;
  return html`<figure><figcaption><b><${Model} name=${table.name} /></b></figcaption>
    <div class="scroll" tabindex="0" role="region" aria-label=${table.caption}>
    <table class="needles"><thead><tr><td></td>${columns.map(head)}</tr></thead>
    <tbody>${table.rows.slice(0, start).map((row) => line(row))}</tbody>
    <tfoot><tr class="apart" aria-hidden="true"><td></td></tr>
      ${table.rows.slice(start).map((row) => line(row, true))}</tfoot></table></div></figure>`;
}

function HeatCell({ row, column, isCorner }) {
  const [value, , , n] = column.of.map((key) => row.fields[key]);
  if (isCorner) return html`<td></td>`;
  if (!isKnown(value)) return html`<td class="none"><span class="hidden">none</span></td>`;
  const text = row.cells[column.key];
  return html`<td class=${`needle ${n < FEW_ITEMS ? "thin" : ""}`} title=${text}
    style=${{ "--strength": value / 100 }}><b class="num">${text.split(/ \(|, /)[0]}</b>
    <small class="num"><span class="hidden">percent of </span>${whole(n)}</small></td>`;
}

function FactsTable({ table }) {
  const line = ({ cells }) => [
    html`<${Said} text=${cells.name} />`,
    html`<${Said} text=${cells.text} />`,
  ];
  return html`<${Facts} rows=${table.rows.map(line)} />`;
}

const Folded = ({ table }) => html`<details><summary>${table.caption}</summary>
  <${Rows} table=${table} cls="tight mono" /></details>`;

const CurvesFigure = ({ table }) => html`<figure><figcaption><b>${table.caption}</b></figcaption>
  <${Curves} table=${table} isLog /></figure>`;

const LOOKS = {
  rows: { draw: Rows },
  ladder: { draw: Ladder },
  heat: { draw: Heat, around: () => "maps" },
  curves: { draw: CurvesFigure, around: (n) => (n > 1 ? "panels two" : "one-panel") },
  facts: { draw: FactsTable },
  folded: { draw: Folded },
};

function Tables({ tables }) {
  const looks = [...new Set(tables.map((one) => one.look))];
  const several = tables.filter((one) => one.look === "rows").length > 1;
  return looks.map((look) => {
    const { draw, around } = LOOKS[look];
    const some = tables.filter((one) => one.look === look);
    const drawn = some.map((table) => [
      look === "rows" && several && html`<h3>${table.caption}</h3>`,
      html`<${draw} key=${table.name} table=${table} />`,
    ]);
    return around ? html`<div class=${around(some.length)}>${drawn}</div>` : drawn;
  });
}

const WARNINGS = new Set(["caution", "few"]);

/* A part of a page as it is sent. */
export function SentSection({ section, says, children }) {
  const { id, title, tables, each, notes } = section;
  const line = (parts) => html`<li><${Sentence} parts=${parts} /></li>`;
  const note = ({ key, parts }) => {
    const said = html`<${Sentence} parts=${parts} />`;
    return WARNINGS.has(key) ? html`<strong class="warn-text">${said}</strong> ` : html`${said} `;
  };
  return html`<${Section} id=${id} kicker=${html`<${Said} text=${title} />`}
    says=${says ?? html`<${Sentence} parts=${section.says} />`}
    note=${notes.length > 0 && notes.map(note)}><${Tables} tables=${tables} />
    ${each.length > 0 && html`<ul class="enough">${each.map(line)}</ul>`}${children}</${Section}>`;
}
