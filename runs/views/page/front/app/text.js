/* Text from models is hostile: it becomes text nodes and known elements, never HTML. Any page may
   use `plain` and `Said`. */

import { html } from "htm/preact";
import { h } from "preact";

const UNSEEN = new RegExp(
  "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u200b\\u200e\\u200f" +
    "\\u202a-\\u202e\\u2060-\\u2069\\ufeff\\u{e0000}-\\u{e007f}]",
  "gu",
);

/* Controls and signs that turn the direction of text are shown as what they are. */

export function plain(text) {
  const parts = [];
  let last = 0;
  for (const found of String(text).matchAll(UNSEEN)) {
    if (found.index > last) parts.push(text.slice(last, found.index));
    const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    parts.push(html`<span class="unseen" title="a character that cannot be seen">U+${code}</span>`);
    last = found.index + found[0].length;
  }
  if (!parts.length) return text;
  parts.push(text.slice(last));
  return parts;
}

/* Text of a model in the direction of its own script; as a block it also starts at its own side. */
export function Said({ text, as = "bdi" }) {
  return h(as, { dir: "auto" }, plain(text ?? ""));
}
