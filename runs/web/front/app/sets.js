/* What the pages of all kinds of frozen sets share: their sentences, figures, frame and start. */
/* A figure and its unit stay on one line. */
const unbroken = (text) => text.replace(/(\d) (%|s\b)/g, "$1\u00a0$2");

/* A sentence whose names are set apart; there is no page of a model to lead to. */
const Found = ({ parts }) =>
  parts.map((one) =>
    typeof one === "string"
      ? plain(unbroken(one))
      : html`<em class="who-said"><${Model} name=${one.model} link=${false} /></em>`,
  );

const Amount = ({ n, one }) => html`<b class="num">${whole(n)}</b> ${n === 1 ? one : `${one}s`}`;

const hasValue = (figure) => isKnown(figure?.value);

const spanOf = (figure, digits) =>
  isKnown(figure.low) ? `${fixed(figure.low, digits)}–${fixed(figure.high, digits)}` : "";

/* A figure with its interval beneath it. */
function Told({ figure, digits = 1 }) {
  if (!hasValue(figure)) return html`<span class="num muted">–</span>`;
  return html`<b class="num">${fixed(figure.value, digits)}</b>
    <small class="num">${spanOf(figure, digits)}</small>`;
}

const ODD_ENDS = {
  unreadable: "unreadable",
  forfeit: "without an answer",
  unscored: "unscored",
  void: "without a video",
};

/* What a model's figure is less sure of: endings that are no choice, and items it was not asked. */
function oddOf(row) {
  const found = Object.entries(ODD_ENDS)
    .filter(([end]) => own(row.counts, end))
    .map(([end, words]) => `${whole(row.counts[end])} ${words}`);
  return row.missing ? [...found, `${whole(row.missing)} not asked`] : found;
}

/* Who and what is behind the figures, below the finding of the whole. */
function SetOpening({ what }) {
  const { set, words, scores, results } = summary;
  const models = new Set(results.map((one) => one.model ?? one.name)).size;
  const standIns = html`<div class="banner" role="note">
    <p>
      <b>Stand-ins played.</b> Every model is a small offline program that measures the frames it is
      sent. This shows the tool at work; it ranks no real model.
    </p>
  </div>`;
  return html`<header class="opening">
    <p class="kicker"><bdi>${plain(set.name)}</bdi></p>
    <h1><${Found} parts=${words.lead} /></h1>
    ${words.rest.length > 0 && html`<p class="rest"><${Found} parts=${words.rest} /></p>`}
    <p class="behind"><${Amount} n=${set.items} one=${what} /> about${" "}
      <${Amount} n=${set.videos} one="video" />,${" "}
      <${Amount} n=${models} one="model" />,${" "}
      <${Amount} n=${results.length} one="result" />.</p>
    ${scores.stand_ins && standIns}
  </header>`;
}

/* Only parts that are there are listed, so the list is made once they are drawn. */
function SetContents({ sections }) {
  const [shown, setShown] = useState([]);
  useLayoutEffect(() => setShown(sections.filter(([id]) => document.getElementById(id))), []);
  const link = ([id, name]) => html`<li key=${id}><a href=${`#${id}`}>${name}</a></li>`;
  return html`<nav class="contents" aria-label="In this report"><ol>${shown.map(link)}</ol></nav>`;
}

/* The page around the parts of a set; `sections` are pairs of an id and what it is called. */
function SetPage({ sections, children }) {
  useWindowEvent("keydown", (event) => {
    const isTyped = event.metaKey || event.ctrlKey || event.altKey;
    if (event.key === "t" && !isTyped) theme.turn();
  });
  return html`<header class="top">
      <${SkipLink} /><${Brand} href="#main" /> <span class="tools"><${ThemeButton} /></span>
    </header>
    <div class="report">
      <${SetContents} sections=${sections} />
      <main id="main">${children}</main>
    </div>
    <footer class="foot">
      Made by <code>arena report</code> as one file that asks nobody for anything.
    </footer>`;
}

function startSet(Report) {
  theme.start();
  summary = JSON.parse(document.getElementById("summary").textContent);
  render(html`<${Report} />`, document.getElementById("app"));
  const part = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (part) part.scrollIntoView();
}
