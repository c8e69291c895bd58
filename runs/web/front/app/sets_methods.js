/* How a set and the results on it came about: where items are from, who answered, at what cost. */
const RESULT_COLUMNS = [
  ["Result", ""],
  ["Served as", ""],
  ["Frames", "right"],
  ["Seed", "right"],
  ["Judge", ""],
  ["Answers", "right"],
  ["No answer", "right"],
  ["Cost of answers", "right"],
];

/* `sources` are the commands that print the same figures; `extra` says what the cost leaves out. */
function MethodsSection({ sources, what, extra }) {
  const { set, results } = summary;
  const rows = results.map((one) => [
    html`<${Model} name=${one.name} link=${false} />`,
    one.how === "import" ? "imported" : html`<${Said} text=${`${one.model ?? "unknown"}`} />`,
    html`<span class="num">${whole(one.max_frames)}</span>`,
    html`<span class="num">${isKnown(one.seed) ? `${one.seed}` : "–"}</span>`,
    one.judge === null ? "–" : html`<${Said} text=${one.judge} />`,
    html`<span class="num">${whole(one.answers)}</span>`,
    html`<span class="num">${whole(one.forfeits)}</span>`,
    html`<span class="num">${costOf(one)}</span>`,
  ]);
  return html`<${Section} id="methods" kicker="Methods" says=${methodsSay(results)}
    note=${html`The figures of this page are those of${" "}
      ${sources.map((one, place) => [place > 0 && " and ", html`<code>${one}</code>`])}. The cost is
      that of the answers; ${extra}.`}>
    <${Facts} rows=${setFacts(set, what)} />
    <${Table} label="Results" cls="tight results" columns=${RESULT_COLUMNS} rows=${rows} />
    <${Digests} results=${results} /></${Section}>`;
}

function methodsSay(results) {
  const answers = sum(results.map((one) => one.answers));
  const unknown = sum(results.map((one) => one.unknown_cost));
  const cost = sum(results.map((one) => one.cost_usd ?? 0));
  const paid = unknown === answers ? "an unknown cost" : money(cost);
  const rest = unknown && unknown < answers ? ` and ${whole(unknown)} of unknown cost` : "";
  return `${counted(answers, "answer")} for ${paid}${rest}.`;
}

function costOf(one) {
  if (!isKnown(one.cost_usd)) return "unknown";
  const rest = one.unknown_cost ? ` + ${whole(one.unknown_cost)} unknown` : "";
  return `${money(one.cost_usd)}${rest}`;
}

/* What was asked for when a set was made, as text. */
function writtenOut(value) {
  if (Array.isArray(value)) return value.map(writtenOut).join(", ");
  if (typeof value !== "object" || value === null) return `${value}`;
  const pairs = Object.entries(value).map(([key, held]) => `${key} ${writtenOut(held)}`);
  return pairs.join(", ") || "none";
}

function setFacts(set, what) {
  const { source, selection, generator } = set;
  const said = (value) => html`<${Said} text=${writtenOut(value)} />`;
  const chosen = Object.entries(selection ?? {}).map(([key, value]) => [
    titled(spaced(key)),
    said(value),
  ]);
  return [
    ["Set", html`<${Said} text=${set.name} />`],
    ["Digest", html`<code>${plain(set.bench)}</code>`],
    [titled(`${what}s`), `${counted(set.items, what)} about ${counted(set.videos, "video")}`],
    ["Source", html`<${Said} text=${`${source.kind}, ${source.format}`} />`],
    ["Version", html`<${Said} text=${`${generator.name} ${generator.version}`} />`],
    ["Licence", html`<${Said} text=${set.licence ?? "not stated"} />`],
    ...chosen,
  ];
}

function Digests({ results }) {
  const rows = new Map();
  for (const { prompts } of results) {
    for (const [role, digest] of Object.entries(prompts ?? {})) {
      rows.set(`${role}\n${digest}`, [
        html`<${Said} text=${role} />`,
        html`<${Said} text=${`${digest}`} />`,
      ]);
    }
  }
  if (!rows.size) return null;
  const columns = [
    ["Role", ""],
    ["SHA-256 of its prompt", ""],
  ];
  return html`<details>
    <summary>Prompts, by digest</summary>
    <${Table} label="Prompts" cls="tight mono" columns=${columns} rows=${[...rows.values()]} />
  </details>`;
}
