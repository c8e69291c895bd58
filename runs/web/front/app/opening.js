/* The report's first screen: what the run says, and how much stands behind it. */
function Opening() {
  const { run, words } = summary;
  const when = dated(run.began_s);
  return html`<header class="opening">
    <p class="kicker"><bdi>${plain(run.name)}</bdi>${when && ` · ${when}`}</p>
    <h1><${Sentence} parts=${words.lead} /></h1>
    ${words.rest.length > 0 && html`<p class="rest"><${Sentence} parts=${words.rest} /></p>`}
    <${Behind} />
    <${Banner} />
  </header>`;
}

const Count = ({ n, one, many }) =>
  html`<b class="num">${whole(n)}</b> ${n === 1 ? one : (many ?? `${one}s`)}`;

/* The counts that carry the sentence, and how easily it would turn. */
function Behind() {
  const { settings, rounds, fragility } = summary;
  const judges = Object.keys(summary.judges);
  const videos = videosOf(settings);
  const judged = html`, judged by <${Judges} names=${judges} />`;
  const isFragile = fragility?.rival && isKnown(fragility.removed);
  return html`<p class="behind">
    <${Count} n=${settings.totals.decided} one="decided battle" />,${" "}
    ${isKnown(videos) && html`<${Count} n=${videos} one="video" />, `}
    <${Count} n=${ratedModels().length} one="rated model" />,${" "}
    <${Count} n=${rounds.length} one="round" /> of questions${judges.length > 0 && judged}.
    ${isFragile && html`<${Fragile} removed=${fragility.removed} />`}</p>`;
}

const Fragile = ({ removed }) => html` First place would change hands if${" "}
  <${Count} n=${removed} one="battle" /> ${removed === 1 ? "was" : "were"} left out.`;

function Judges({ names }) {
  const judge = (name) => html`<b><bdi>${plain(shortOf(name, 44))}</bdi></b>`;
  return names.map((name, place) => [place > 0 && ", ", judge(name)]);
}

/* What a reader must know before believing the order. */
function Banner() {
  const warnings = summary.settings.warnings.filter((text) => !text.startsWith("rates stand-ins"));
  if (!summary.stand_ins && !warnings.length) return null;
  const standIns = html`<p><b>Stand-ins played.</b> Every contestant is a small offline program that
    measures the frames it is sent. This shows the tool at work; it ranks no real model.</p>`;
  return html`<div class="banner" role="note">${summary.stand_ins && standIns}
    ${warnings.map((text) => html`<${Warning} text=${text} />`)}</div>`;
}

function Warning({ text }) {
  const isFew = text.includes("too few videos");
  const hint = isFew && " Take the order below for a first impression.";
  return html`<p><b>${plain(titled(text))}.</b>${hint}</p>`;
}
