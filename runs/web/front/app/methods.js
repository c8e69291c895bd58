/* What stands behind the report: cost and time, what was left out, how it was made, its data. */

import { html } from "htm/preact";
import { save } from "./base.js";
import { everyBattle } from "./data.js";
import { summary } from "./names.js";
import { SentSection } from "./table.js";

export function Spending() {
  if (!summary.spending.length) return null;
  return html`<${SentSection} section=${summary.sections.spending} around="panels two" />`;
}

export const Missing = () => html`<${SentSection} section=${summary.sections.missing} />`;

export const Methods = () => html`<${SentSection} section=${summary.sections.methods}>
  <${Downloads} /></${SentSection}>`;

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
