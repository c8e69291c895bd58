/* What the run cost and how long answers took, by role and by contestant. */
const ROLE_COLUMNS = [
  ["Role", ""],
  ["Calls", "right"],
  ["Tokens read and written", "broad"],
  ["Median, 90th wait", "right"],
  ["Cost", "right"],
];
const CONTESTANT_COLUMNS = [
  ["Contestant", ""],
  ["Answers", "right"],
  ["Tokens an answer", "right"],
  ["Median, 90th wait", "right"],
  ["Cost an answer", "right"],
];
const thousands = (n) =>
  known(n, () => (n < 1e6 ? `${fixed(n / 1e3, n < 1e4 ? 1 : 0)} k` : `${fixed(n / 1e6)} M`));
const number = (text) => html`<span class="num">${text}</span>`;

function Spending() {
  const models = summary.models.filter((row) => row.answers);
  if (!summary.spending.length) return null;
  return html`<${Section} id="spending" kicker="Cost and time" says=${sentenceOf("spending")}
    note=${spendingNote()}>
    <div class="panels two">
      <${Table} label="Spending by role" columns=${ROLE_COLUMNS} rows=${roleRows()} />
      <${Table} label="Spending by contestant" columns=${CONTESTANT_COLUMNS}
        rows=${models.map(contestantRow)} />
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

const tokensOfRole = (row) => row.input_tokens + row.output_tokens;

function roleRows() {
  const rows = [...summary.spending].sort((p, q) => tokensOfRole(q) - tokensOfRole(p));
  const most = Math.max(...rows.map(tokensOfRole), 1);
  return rows.map((row) => [
    titled(row.role),
    number(
      html`${whole(row.calls)}${row.failed > 0 && html` <small>${row.failed} failed</small>`}`,
    ),
    html`<${TokenBar} read=${row.input_tokens} written=${row.output_tokens} most=${most} />`,
    number(waits(row.latency_s)),
    number(money(row.cost_usd)),
  ]);
}

function TokenBar({ read, written, most }) {
  const wide = (n) => ({ width: `${(40 * n) / most}%` });
  return html`<span class="bars"><i class="part-blue" style=${wide(read)}></i>
    <i class="part-orange" style=${wide(written)}></i>
    <small class="num">${thousands(read)} + ${thousands(written)}</small></span>`;
}

function contestantRow(row) {
  const read = ratio(row.tokens_in, row.answers);
  const written = ratio(row.tokens_out, row.answers);
  return [
    html`<${Model} name=${row.model} />`,
    number(whole(row.answers)),
    number(`${whole(read)} in, ${whole(written)} out`),
    number(waits(row.latency_s)),
    number(money(ratio(row.cost_usd, row.answers))),
  ];
}
