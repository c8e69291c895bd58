/* Themes of a model's faults, beside how often the others show them. */
const THEME_EXAMPLES = 4;

/* The theme it shows most more often than others, and the one it shows most less often. */
function markedThemes(profile) {
  const gap = (row) => Math.abs(row.difference.value);
  const most = (mark) =>
    profile.themes.filter((row) => row.mark === mark).sort((p, q) => gap(q) - gap(p))[0];
  return [most("more"), most("less")].filter(Boolean);
}

function ThemeSentences({ profile }) {
  return markedThemes(profile).map((row) => html`<${ThemeSentence} key=${row.mark} row=${row} />`);
}

function ThemeSentence({ row }) {
  const shares = `${percent(row.share)} of its answers, ${percent(row.others_share)} of theirs. `;
  return html`“<${Said} text=${clip(row.theme, 80)} />” is ${row.mark} often its fault than others’:
    ${" "}${shares}`;
}

function WhatGoesWrong({ profile, looks }) {
  const about = `in ${counted(profile.looked_at, "answer")} that were looked at for faults`;
  const shown = profile.themes.filter((row) => row.n > 0 || row.mark);
  const row = (one) => html`<${ThemeRow} key=${one.theme} row=${one} looks=${looks} />`;
  const table = html`<div role="table" aria-label="Themes of its faults">${shown.map(row)}
    <${ThemeAxis} /></div><p class="note">${THEME_NOTE}</p>`;
  const none = profile.looked_at
    ? "No faults of it were written down."
    : "None of its answers was looked at for faults.";
  return html`<section><h2>What goes wrong <small>${about}</small></h2>
    ${shown.length ? table : html`<p class="muted">${none}</p>`}</section>`;
}

const THEME_NOTE =
  "Dot: the share of its looked-at answers that show it, with its 95 % interval; ring: of " +
  "everybody else’s. Below the counts: the difference in percentage points, marked where its " +
  "95 % interval leaves out zero.";

function ThemeRow({ row, looks }) {
  const word = row.mark === "more" ? "more than others" : "less than others";
  const said =
    `${withInterval({ ...row, value: row.share })} of its answers, ` +
    `${percent(row.others_share)} of others’`;
  return html`<div class=${`theme-row ${row.mark ?? ""}`} role="row">
    <span role="cell" class="of-theme"><b><${Said} text=${clip(row.theme, 160)} /></b>${" "}
      ${row.mark && html`<span class=${`chip chip-${row.mark}`}>${word}</span>`}
      <${ThemeExamples} row=${row} looks=${looks} /></span>
    <span role="cell" class="of-plot"><${ThemePlot} row=${row} label=${said} /></span>
    <span role="cell" class="of-count num"><b>${row.n}</b> of ${row.of}
      <small>${differenceSays(row.difference)}</small></span></div>`;
}

/* The gap to the others in hundredths: +24 (3 to 45). */
function differenceSays(difference) {
  if (!isKnown(difference?.value)) return "";
  const points = (x) => signed(100 * x);
  if (!isKnown(difference.low)) return points(difference.value);
  return `${points(difference.value)} (${points(difference.low)} to ${points(difference.high)})`;
}

function ThemePlot({ row, label }) {
  const { at, ticks } = SHARE_AXIS;
  const others = isKnown(row.others_share) && atPercent(at(row.others_share));
  return html`<${Plot} height=${30} label=${label}><${Grid} at=${at} height=${30} ticks=${ticks} />
    ${others && html`<circle class="ring" cx=${others} cy="23" r="3.5" />`}
    <${Interval} at=${at} value=${row.share} low=${row.low} high=${row.high} y=${11}
      cls="small" /></${Plot}>`;
}

function ThemeAxis() {
  const { at, ticks } = SHARE_AXIS;
  return html`<div class="theme-row theme-foot" aria-hidden="true"><span></span>
    <span class="of-plot"><${Axis} at=${at} ticks=${ticks} format=${halvesTick} /></span>
    <span></span></div>`;
}

/* A quote of it, and battles where it shows, named by round and video. */
function ThemeExamples({ row, looks }) {
  const name = (id) => (looks ? battleName(id, looks) : plain(id));
  const link = (id) => html`<a href=${battleLink(id)}>${name(id)}</a>`;
  const ids = row.battles.slice(0, THEME_EXAMPLES);
  const links = ids.map((id, place) => [place > 0 && ", ", link(id)]);
  const quote = html`e.g. <${Said} text=${clip(row.quotes[0] ?? "", 140)} />`;
  const isBoth = row.quotes.length > 0 && ids.length > 0;
  return html`<small>${row.quotes.length > 0 && quote}${isBoth && " · "}${links}</small>`;
}

function battleName(id, { index, films }) {
  const place = index.place.get(id);
  if (place === undefined) return plain(id);
  const video = index.videos[index.video[place]];
  const file = fileName(films[video]?.path ?? video).replace(/\.[^.]+$/, "");
  return html`${roundName(index.round[place])} of <bdi>${plain(clip(file, 40))}</bdi>`;
}
