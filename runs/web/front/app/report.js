/* The report: its parts in order, and the list of them at its side. */
const REPORT_PARTS = [
  ["ladder", "Ladder"],
  ["newest", "Newest battles"],
  ["pairs", "Head to head"],
  ["rounds", "Rounds"],
  ["slices", "Slices"],
  ["judge", "Judge"],
  ["people", "People"],
  ["spending", "Cost and time"],
  ["missing", "Left out"],
  ["methods", "Methods"],
];

function Report() {
  const index = useData(() => (summary.live ? source.index() : null));
  const films = useData(() => (summary.live ? source.videos() : null));
  useArrival(true);
  return html`<div class="report"><${Contents} />
    <main id="main"><${Opening} /><${Ladder} /><${Newest} index=${index} films=${films} />
      <${Matrix} /><${Rounds} /><${Slices} /><${Judge} /><${People} /><${Spending} /><${Missing} />
      <${Methods} /></main></div>`;
}

/* Only parts that this run has are listed, so the list is made once they are drawn. */
function Contents() {
  const [shown, setShown] = useState([]);
  useLayoutEffect(() => {
    const found = REPORT_PARTS.filter(([id]) => document.getElementById(id));
    setShown((old) => (old.length === found.length ? old : found));
  });
  const link = ([id, name]) => html`<li key=${id}><a href=${`#report/${id}`}>${name}</a></li>`;
  return html`<nav class="contents" aria-label="In this report"><ol>${shown.map(link)}</ol></nav>`;
}
