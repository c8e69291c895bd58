/* The report of a task set: its parts in order, the list of them at its side, and its top. */
const SECTIONS = [
  ["board", "Scores"],
  ["tasks", "By task"],
  ["positions", "Needles"],
  ["sweep", "Budget"],
];

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

function SetOpening() {
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
    <p class="behind"><${Amount} n=${set.items} one="item" /> about${" "}
      <${Amount} n=${set.videos} one="video" />,${" "}
      <${Amount} n=${models} one="model" />,${" "}
      <${Amount} n=${results.length} one="result" />.</p>
    ${scores.stand_ins && standIns}
  </header>`;
}

function BoardPart({ board, place }) {
  const words = summary.words.boards[place];
  const given = { board, place, words };
  return html`<${BoardSection} ...${given} cautions=${summary.cautions[place]} />
    <${TasksSection} ...${given} /><${PositionsSection} ...${given} />
    <${SweepSection} ...${given} />`;
}

/* Only parts that are there are listed, so the list is made once they are drawn. */
function SetContents() {
  const [shown, setShown] = useState([]);
  useLayoutEffect(() => {
    const boards = summary.scores.boards.flatMap((board, place) =>
      SECTIONS.map(([id, name]) => [`${id}-${place}`, kickerOf(board, name)]),
    );
    const all = [...boards, ["probes", "Shortcuts"], ["methods", "Methods"]];
    setShown(all.filter(([id]) => document.getElementById(id)));
  }, []);
  const link = ([id, name]) => html`<li key=${id}><a href=${`#${id}`}>${name}</a></li>`;
  return html`<nav class="contents" aria-label="In this report"><ol>${shown.map(link)}</ol></nav>`;
}

function SetReport() {
  useWindowEvent("keydown", (event) => {
    const isTyped = event.metaKey || event.ctrlKey || event.altKey;
    if (event.key === "t" && !isTyped) theme.turn();
  });
  const boards = summary.scores.boards;
  const part = (board, place) => html`<${BoardPart} key=${place} board=${board} place=${place} />`;
  return html`<header class="top">
      <${SkipLink} /><${Brand} href="#main" /> <span class="tools"><${ThemeButton} /></span>
    </header>
    <div class="report">
      <${SetContents} />
      <main id="main">
        <${SetOpening} />${boards.map(part)} <${ProbesSection} /><${MethodsSection} />
      </main>
    </div>
    <footer class="foot">
      Made by <code>arena report</code> as one file that asks nobody for anything.
    </footer>`;
}

function start() {
  theme.start();
  summary = JSON.parse(document.getElementById("summary").textContent);
  render(html`<${SetReport} />`, document.getElementById("app"));
  const part = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (part) part.scrollIntoView();
}

start();
