/* The page of a frozen set of any kind: its parts as they are sent, in their order. */

import { html } from "htm/preact";
import { draw, useWindowEvent } from "./base.js";
import { Contents, Top, theme } from "./bits.js";
import { Dialogues } from "./dialogues.js";
import { putSummary, Sentence, StandIns, summary } from "./names.js";
import { SentSection } from "./table.js";
import { plain, Said } from "./text.js";
import "../style/tokens.css";
import "../style/base.css";
import "../style/layout.css";
import "../style/text.css";
import "../style/charts.css";
import "../style/report.css";
import "../style/rounds.css";
import "../style/tasks.css";
import "../style/dialogues.css";
import "../style/print.css";

/* Who and what is behind the figures, below the finding of the whole. */
function Opening() {
  const { set, words, stand_ins: isPlayed } = summary;
  return html`<header class="opening">
    <p class="kicker"><bdi>${plain(set.name)}</bdi></p>
    <h1><${Sentence} parts=${words.lead} /></h1>
    ${words.rest.length > 0 && html`<p class="rest"><${Sentence} parts=${words.rest} /></p>`}
    <p class="behind"><${Sentence} parts=${words.behind} /></p>
    ${isPlayed && html`<div class="banner" role="note"><${StandIns} /></div>`}
  </header>`;
}

const partOf = (section) =>
  section.id === "dialogues"
    ? html`<${Dialogues} key=${section.id} section=${section} />`
    : html`<${SentSection} key=${section.id} section=${section} />`;

function SetPage() {
  useWindowEvent("keydown", (event) => {
    const isTyped = event.metaKey || event.ctrlKey || event.altKey;
    if (event.key === "t" && !isTyped) theme.turn();
  });
  const parts = summary.sections.map(({ id, title }) => [id, html`<${Said} text=${title} />`]);
  return html`<${Top} home="#main" />
    <div class="report"><${Contents} parts=${parts} />
      <main id="main"><${Opening} />${summary.sections.map(partOf)}</main></div>
    <footer class="foot">
      Made by <code>arena report</code> as one file that asks nobody for anything.
    </footer>`;
}

theme.start();
putSummary(JSON.parse(document.getElementById("summary").textContent));
draw(html`<${SetPage} />`);
const part = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
if (part) part.scrollIntoView();
