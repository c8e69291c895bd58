/* What stands behind the report: cost and time, what was left out, how it was made, its data. */

import { html } from "htm/preact";
import { save } from "./base.js";
import { Facts, Section, Table } from "./bits.js";
import { everyBattle } from "./data.js";
import { battlesLink, Model, sentenceOf, shortOf, summary } from "./names.js";
import { isKnown, known, money, percent, sum, titled, whole } from "./numbers.js";
import { plain, Said } from "./text.js";

/* What the run cost and how long answers took, by role and by contestant. */

export function Spending() {
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
  const cell =
    (row) =>
    ({ key, kind }) => {
      if (kind === "name") return html`<${Model} name=${row.fields[key]} />`;
      return kind === "text"
        ? titled(row.cells[key])
        : html`<span class="num">${row.cells[key]}</span>`;
    };
  const lines = rows.map((row) => columns.map(cell(row)));
  return html`<${Table} label=${caption} columns=${heads} rows=${lines} />`;
}

/* What was left out, and why: battles without a verdict, files that could not be used. */
const WITHOUT_VERDICT = ["void", "forfeit_a", "forfeit_b"];

export function Missing() {
  const { status } = summary;
  const gone = sum(WITHOUT_VERDICT.map((verdict) => status.verdicts[verdict] ?? 0));
  const files = filesLeftOut(status);
  return html`<${Section} id="missing" kicker="Left out" says=${sentenceOf("missing")}>
    ${gone > 0 && html`<${BattlesLeftOut} status=${status} />`}
    ${files.length > 0 && html`<${FilesLeftOut} files=${files} />`}
    ${status.damage.map((text) => html`<p class="note"><${Said} text=${text} /></p>`)}
  </${Section}>`;
}

/* A file that was set aside is listed once, with the reason it was set aside for. */
function filesLeftOut({ quarantine, skipped }) {
  const aside = new Set(quarantine.map((file) => file.path));
  return [...quarantine, ...skipped.filter((file) => !aside.has(file.path))];
}

const BATTLE_COLUMNS = [
  ["What", ""],
  ["Why", ""],
  ["Battles", "right"],
];

function BattlesLeftOut({ status }) {
  const count = (n) => html`<span class="num">${whole(n)}</span>`;
  const voids = Object.entries(status.void_reasons).map(([reason, n]) => [
    html`<a href=${battlesLink({ verdict: "void" })}>Void</a>`,
    html`<${Said} text=${reason} />`,
    count(n),
  ]);
  const forfeits = Object.entries(status.forfeits).map(([model, n]) => [
    html`<a href=${battlesLink({ verdict: "forfeit" })}>Forfeit</a>`,
    html`<${Model} name=${model} /> gave no answer`,
    count(n),
  ]);
  return html`<${Table} label="Battles left out" cls="tight" columns=${BATTLE_COLUMNS}
    rows=${[...voids, ...forfeits]} />`;
}

const FILE_COLUMNS = [
  ["File", ""],
  ["Why it was not used", "broad"],
];

function FilesLeftOut({ files }) {
  const rows = files.map((file) => [
    html`<${Said} text=${file.path} />`,
    html`<${Said} text=${file.reason} />`,
  ]);
  return html`<${Table} label="Files left out" cls="tight" columns=${FILE_COLUMNS}
    rows=${rows} />`;
}

/* How the run was made, and the data behind the page. */
const CAST_COLUMNS = [
  ["Cast", ""],
  ["Served as", ""],
  ["Frames", "right"],
];
const PROMPT_COLUMNS = [
  ["Role", ""],
  ["SHA-256 of its prompt", ""],
];

export function Methods() {
  const { cast, prompts } = summary.methods;
  const castRows = Object.entries(cast ?? {}).map(([name, one]) => [
    html`<bdi>${plain(shortOf(name, 44))}</bdi>`,
    html`<${Said} text=${one.model} />`,
    html`<span class="num">${whole(one.max_frames)}</span>`,
  ]);
  const promptRows = Object.entries(prompts ?? {});
  const digests = html`<details><summary>Prompts, by digest</summary>
    <${Table} label="Prompts" cls="tight mono" columns=${PROMPT_COLUMNS} rows=${promptRows} />
    </details>`;
  return html`<${Section} id="methods" kicker="Methods"
    says="How this was made, and the data behind it.">
    <div class="panels two"><${Facts} rows=${methodFacts()} />
      <${Table} label="Cast" cls="tight" columns=${CAST_COLUMNS} rows=${castRows} /></div>
    ${promptRows.length > 0 && digests}<${Downloads} /></${Section}>`;
}

function methodFacts() {
  const { settings, run, methods } = summary;
  const { pairing, swap } = methods.run ?? {};
  const level = percent(settings.level);
  const seats = swap === "all" ? "every battle" : known(swap, (x) => `${percent(x)} of battles`);
  return [
    ["Ratings", `${titled(settings.model)}, ties ${settings.ties}, ${settings.interval}, ${level}`],
    ["Frames", samplingSays(methods.sampling)],
    ["Pairing", pairing ? `${pairing}; ${seats} judged in both orders` : "not recorded"],
    ["Seed", `${run.seed ?? "not recorded"}`],
    ["Version", `videoautoarena ${run.version ?? methods.run?.version ?? ""}`],
  ];
}

function samplingSays(sampling) {
  if (!sampling) return "not recorded";
  const { frames, policy, size_px: size, fit, quality, decoder } = sampling;
  return (
    `at most ${frames} a video, ${policy}, longer side ${size} px, ${fit}, JPEG ${quality}, ` +
    `${decoder}`
  );
}

/* What can be taken away: the board, the summary, all battles. */
const SHEET = [
  "rating",
  "low",
  "high",
  "rank_best",
  "rank_worst",
  "battles",
  "wins",
  "ties",
  "losses",
  "win_rate",
];

/* A spreadsheet takes a cell that starts with one of these signs for a formula; a quote stops
   it. */
function cellOfSheet(value) {
  if (typeof value === "number") return `${value}`;
  const text = `${value ?? ""}`;
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function leaderboardSheet() {
  const rows = summary.models.map((row) => [row.model, ...SHEET.map((key) => row[key])]);
  return [["model", ...SHEET], ...rows].map((row) => row.map(cellOfSheet).join(",")).join("\r\n");
}

async function battleLines() {
  const lines = [];
  for await (const battle of everyBattle()) lines.push(`${JSON.stringify(battle)}\n`);
  return lines.join("");
}

function Downloads() {
  const sheet = () => save("leaderboard.csv", `${leaderboardSheet()}\r\n`, "text/csv");
  const all = () => save("report.json", JSON.stringify(summary, null, 1), "application/json");
  const battles = async () => save("battles.jsonl", await battleLines(), "application/x-ndjson");
  return html`<p class="actions"><button onClick=${sheet}>Leaderboard, CSV</button>
    <button onClick=${all}>Everything above, JSON</button>
    <button onClick=${battles}>All battles, JSON lines</button></p>`;
}
