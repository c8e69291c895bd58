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
