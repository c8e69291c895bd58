/* Tables as they are sent, with the texts of their cells, and parts of a page made of them. */

import { html } from "htm/preact";
import { Facts, Flag, Section, Table } from "./bits.js";
import { Axis, Grid, Interval, Plot, scale, Upright } from "./charts.js";
import { Curves } from "./curves.js";
import { battlesLink, hasPages, Model, Sentence } from "./names.js";
import { clip, isKnown, titled, whole } from "./numbers.js";
import { Said } from "./text.js";

const headOf = ({ title, unit }) => titled(`${title} ${unit}`.trim());

/* Only a long word is broken. */
const LONGEST_WORD = 16;
const Words = ({ text }) => html`<${Said} text=${text}
  as=${text.split(" ").every((word) => word.length <= LONGEST_WORD) ? "span" : "bdi"} />`;

function Head({ column }) {
  if (!column.about) return headOf(column);
  return html`<b><${Words} text=${clip(column.title, 40)} /></b>
    <small class="num">${column.about}</small>`;
}

const NOTHING = "–";
const short = (interval) => interval.replace(/^([\d.]+) to ([\d.]+)\)$/, "$1–$2)").replace(")", "");

/* A figure with its interval and on what it stands beneath it, and what is noted of it. */
function Figure({ text, n }) {
  const [figure, note] = text.split(", ");
  const [value, interval] = figure.split(" (");
  const told = value !== NOTHING && (interval ? short(interval) : isKnown(n) && `n ${whole(n)}`);
  if (!told && !note) return html`<span class="num">${value}</span>`;
  return html`<b class="num">${value}</b> ${told && html`<small class="num">${told}</small>`}
    ${note && html` <${Flag} text=${note} />`}`;
}

function Cell({ column, row }) {
  const { key, kind } = column;
  if (kind === "name" && !isKnown(row.fields[key])) return null;
  if (kind === "name") {
    return html`<${Model} name=${row.fields[key]} link=${key === "model" && hasPages()} />`;
  }
  if (kind === "flags") return row.fields[key]?.map((text) => html` <${Flag} text=${text} />`);
  if (!column.is_figure) return html`<${Words} text=${row.cells[key]} />`;
  return html`<${Figure} text=${row.cells[key]} n=${row.fields[`${key}_n`]} />`;
}

const FEW_COLUMNS = 4;

function Rows({ table, cls }) {
  const { columns } = table;
  const narrow = columns.length < FEW_COLUMNS ? "of-parts" : "";
  const head = (column) => [
    html`<${Head} column=${column} />`,
    `${column.is_figure ? "right" : ""} ${column.is_aside ? "beside" : ""}`,
  ];
  const [start = Infinity] = table.starts;
  const line = (row, k) =>
    columns.map((column, place) => {
      const cell = html`<${Cell} column=${column} row=${row} />`;
      const { link } = row.fields;
      if (link && place === 0) return html`<a href=${battlesLink(link)}>${cell}</a>`;
      return k < start ? cell : html`<span class="muted">${cell}</span>`;
    });
  return html`<${Table} label=${table.caption} cls=${`${cls} ${narrow}`}
    columns=${columns.map(head)} rows=${table.rows.map(line)} />`;
}

/* Bars of the first figure on one axis; rows below a line are constants. */
function Ladder({ table }) {
  const figures = table.columns.filter((column) => column.is_figure);
  const at = scale(table.axis.low, table.axis.high);
  const ticks = at.ticks(4);
  const head = (cls, text) => html`<span role="columnheader" class=${cls}>${text}</span>`;
  const axis = html`<span class="hidden">${headOf(figures[0])} and interval</span>
    <${Axis} at=${at} ticks=${ticks} />`;
  const [start = Infinity] = table.starts;
  const line = (row, k) => html`<${LadderRow} key=${k} row=${row} columns=${table.columns}
    figures=${figures} at=${at} ticks=${ticks} isConstant=${k >= start} />`;
  return html`<div class=${`ladder scores ${figures.length > 1 ? "mixed" : ""}`} role="table"
    aria-label=${table.caption}><div class="ladder-row ladder-head" role="row">
      ${head("of-name", "Model")}${head("of-plot", axis)}
      ${figures.map((column, k) => head(FIGURES[k], headOf(column)))}</div>
    ${table.rows.map(line)}</div>`;
}

const FIGURES = ["of-rating", "of-free"];
const figureOf = ({ fields }, { key }) => ({
  value: fields[key],
  low: fields[`${key}_low`],
  high: fields[`${key}_high`],
});

function LadderRow({ row, columns, figures, at, ticks, isConstant }) {
  const [name, ...beside] = columns.filter((column) => !column.is_figure);
  const cell = (column) => html`<${Cell} column=${column} row=${row} />`;
  const { mark } = row.fields;
  const middle = isConstant ? 21 : 24;
  const marked = html`<${Upright} at=${at} x=${mark} from="0" to="100%" cls="chance" />`;
  return html`<div class=${`ladder-row ${isConstant ? "constant" : ""}`} role="row">
    <span role="cell" class="of-name">${cell(name)}<small>${beside.map(cell)}</small></span>
    <span role="cell" class="of-plot"><${Plot} height=${2 * middle}>
      <${Grid} at=${at} height="100%" ticks=${ticks} />${isKnown(mark) && marked}
      <${Interval} at=${at} ...${figureOf(row, figures[0])} y=${middle}
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
  const value = row.fields[column.key];
  const n = row.fields[`${column.key}_n`];
  if (isCorner) return html`<td></td>`;
  if (!isKnown(value)) return html`<td class="none"><span class="hidden">none</span></td>`;
  const text = row.cells[column.key];
  return html`<td class=${`needle ${n < FEW_ITEMS ? "thin" : ""}`} title=${text}
    style=${{ "--strength": value / 100 }}><b class="num">${text.split(" (")[0]}</b>
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

function Tables({ tables, rowsAround }) {
  const looks = [...new Set(tables.map((one) => one.look))];
  const cls = rowsAround ? "tight" : "by-task by-ability";
  return looks.map((look) => {
    const { draw, around } = LOOKS[look];
    const some = tables.filter((one) => one.look === look);
    const drawn = some.map((table) => {
      const title = look === "rows" && tables.length > 1 && html`<h3>${table.caption}</h3>`;
      return html`<div key=${table.caption}>${title}<${draw} table=${table} cls=${cls} /></div>`;
    });
    const box = look === "rows" ? rowsAround : around?.(some.length);
    return box ? html`<div class=${box}>${drawn}</div>` : drawn;
  });
}

const WARNINGS = new Set(["caution", "few"]);

/* A part of a page as it is sent. */
export function SentSection({ section, says, around, children }) {
  const { id, title, tables, each, notes } = section;
  const line = (parts) => html`<li><${Sentence} parts=${parts} /></li>`;
  const statements = html`<ul class="statements">${each.map(line)}</ul>`;
  const note = ({ key, parts }) => {
    const said = html`<${Sentence} parts=${parts} />`;
    return WARNINGS.has(key) ? html`<strong class="warn-text">${said}</strong> ` : html`${said} `;
  };
  return html`<${Section} id=${id} kicker=${html`<${Said} text=${title} />`}
    says=${says ?? html`<${Sentence} parts=${section.says} />`}
    note=${notes.length > 0 && notes.map(note)}><${Tables} tables=${tables} rowsAround=${around} />
    ${each.length > 0 && statements}${children}</${Section}>`;
}
