/* The report's first screen: what the run says, and how much stands behind it. */
function Opening() {
  const { run, words } = summary;
  const when = dated(run.began_s);
  return html`<header class="opening">
    <p class="kicker"><bdi>${plain(run.name)}</bdi>${when && ` · ${when}`}</p>
    <h1><${Sentence} parts=${words.lead} /></h1>
    <p class="behind"><${Sentence} parts=${words.behind} />${" "}
      <${Sentence} parts=${words.fragile} /></p>
    <${Banner} />
  </header>`;
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
