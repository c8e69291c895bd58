/* Answers in Markdown: marked's tokens become elements directly, raw HTML stays text. Any page may
   use `Markdown`. */

import { html } from "htm/preact";
import { lexer } from "marked";
import { h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { whole } from "./numbers.js";
import { plain } from "./text.js";

const LONGEST_DRESSED = 20000;
const LONGEST_ADDRESS = 200;
const ENTITY = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
const unescaped = (text) => text.replace(/&(?:amp|lt|gt|quot|#39);/g, (found) => ENTITY[found]);
const addressOf = (token) => plain((token.href || "").slice(0, LONGEST_ADDRESS));

/* An address is shown, never followed: a page asks nobody for anything. */

function linkOf(token) {
  const isBare = !token.href || token.href === token.text;
  const address = isBare ? "" : html` <span class="muted">⟨${addressOf(token)}⟩</span>`;
  return html`<span class="address">${inline(token.tokens)}${address}</span>`;
}

function pictureOf(token) {
  const address = html`<span class="muted">⟨${addressOf(token)}⟩</span>`;
  return html`<span class="address">[picture: ${plain(token.text || "")} ${address}]</span>`;
}

const INLINE = {
  strong: (token) => html`<strong>${inline(token.tokens)}</strong>`,
  em: (token) => html`<em>${inline(token.tokens)}</em>`,
  del: (token) => html`<del>${inline(token.tokens)}</del>`,
  codespan: (token) => html`<code>${plain(token.text)}</code>`,
  br: () => html`<br />`,
  escape: (token) => plain(token.text),
  link: linkOf,
  image: pictureOf,
  text: (token) => (token.tokens ? inline(token.tokens) : plain(unescaped(token.text))),
};

function inline(tokens = []) {
  return tokens.map((token) => (INLINE[token.type] ?? ((other) => plain(other.raw)))(token));
}

function listOf(token) {
  const from = token.ordered && token.start !== 1 ? { start: token.start } : null;
  const box = (item) => (item.task ? (item.checked ? "☑ " : "☐ ") : "");
  const items = token.items.map((item) => html`<li>${box(item)}${blocks(item.tokens)}</li>`);
  return h(token.ordered ? "ol" : "ul", from, items);
}

function tableOf(token) {
  const cells = (row, tag) => row.map((cell) => h(tag, null, inline(cell.tokens)));
  return html`<div class="md-table" tabindex="0" role="region" aria-label="Table"><table>
    <thead><tr>${cells(token.header, "th")}</tr></thead>
    <tbody>${token.rows.map((row) => html`<tr>${cells(row, "td")}</tr>`)}</tbody></table></div>`;
}

const BLOCK = {
  space: () => null,
  hr: () => html`<hr />`,
  heading: (token) => html`<p class=${`md-h md-h${token.depth}`}>${inline(token.tokens)}</p>`,
  paragraph: (token) => html`<p>${inline(token.tokens)}</p>`,
  text: (token) => (token.tokens ? inline(token.tokens) : plain(token.text)),
  blockquote: (token) => html`<blockquote>${blocks(token.tokens)}</blockquote>`,
  code: (token) => html`<pre tabindex="0"><code>${plain(token.text)}</code></pre>`,
  list: listOf,
  table: tableOf,
};

function blocks(tokens = []) {
  const raw = (token) => html`<p class="raw">${plain(token.raw)}</p>`;
  return tokens.map((token) => (BLOCK[token.type] ?? raw)(token));
}

/* Null where marked gives up, as on nesting too deep. */
function tokensOf(text) {
  try {
    return lexer(text, { gfm: true, breaks: false });
  } catch {
    return null;
  }
}

/* JSON stands in a code block even where a model left the fence away. */
function fenced(text) {
  const bare = text.trim();
  if (!/^[[{]/.test(bare)) return text;
  try {
    return ["```json", JSON.stringify(JSON.parse(bare), null, 2), "```"].join("\n");
  } catch {
    return text;
  }
}

function dressedOf(text) {
  const shown = text.length > LONGEST_DRESSED ? text.slice(0, LONGEST_DRESSED) : fenced(text);
  const tokens = tokensOf(shown);
  return tokens ? blocks(tokens) : html`<pre tabindex="0">${plain(shown)}</pre>`;
}

export function Markdown({ text }) {
  const [isWhole, setWhole] = useState(false);
  const body = useMemo(() => dressedOf(text), [text]);
  if (isWhole) return html`<pre class="whole" tabindex="0">${plain(text)}</pre>`;
  const more = html`<p><button class="quiet" onClick=${() => setWhole(true)}>
    Show all ${whole(text.length / 1000)} k characters, unformatted</button></p>`;
  return html`<div class="md" dir="auto" tabindex="0">
    ${body}${text.length > LONGEST_DRESSED && more}</div>`;
}
