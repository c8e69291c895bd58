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

/* What can be taken away: the board as the command prints it, the summary, all battles. */
async function battleLines() {
  const lines = [];
  for await (const battle of everyBattle()) lines.push(`${JSON.stringify(battle)}\n`);
  return lines.join("");
}

function Downloads() {
  const sheet = () => save("leaderboard.csv", `${summary.csv}\n`, "text/csv");
  const all = () => save("report.json", JSON.stringify(summary, null, 1), "application/json");
  const battles = async () => save("battles.jsonl", await battleLines(), "application/x-ndjson");
  return html`<p class="actions"><button onClick=${sheet}>Leaderboard, CSV</button>
    <button onClick=${all}>Everything above, JSON</button>
    <button onClick=${battles}>All battles, JSON lines</button></p>`;
}
