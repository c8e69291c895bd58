/* What the run cost and how long answers took, by role and by contestant. */
function Spending() {
  if (!summary.spending.length) return null;
  return html`<${Section} id="spending" kicker="Cost and time" says=${sentenceOf("spending")}
    note=${spendingNote()}>
    <div class="panels two">
      <${SpendingTable} table="spending-by-role" />
      <${SpendingTable} table="spending-by-contestant" />
    </div></${Section}>`;
}

function spendingNote() {
  const each = summary.status.cost_usd_a_battle;
  const battle = isKnown(each)
    ? ` A battle cost ${money(each)} on average, its video’s examining included.`
    : "";
  return (
    `An unknown cost is said to be unknown, never $0.${battle} Tokens of frames are those that ` +
    "the provider counts."
  );
}

/* A table of the report as it is, but for the role's or model's name. */
function SpendingTable({ table }) {
  const { caption, columns, rows } = summary.tables[table];
  const heads = columns.map(({ title, is_figure: isFigure }) => [
    titled(title),
    isFigure ? "right" : "",
  ]);
  const cell = (row) => ({ key, kind }) => {
    if (kind === "name") return html`<${Model} name=${row.fields[key]} />`;
    return kind === "text"
      ? titled(row.cells[key])
      : html`<span class="num">${row.cells[key]}</span>`;
  };
  const lines = rows.map((row) => columns.map(cell(row)));
  return html`<${Table} label=${caption} columns=${heads} rows=${lines} />`;
}
