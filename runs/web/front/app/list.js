/* The list of battles draws only what is in sight, and remembers its place while a battle is
   read. */
const ROW_HEIGHT = 68;
const ROW_HEIGHT_NARROW = 112;
const SPARE_ROWS = 8;
const listState = { key: null, top: 0, cursor: 0, found: null, index: null };
const rowHeight = () => (isNarrow() ? ROW_HEIGHT_NARROW : ROW_HEIGHT);

/* The battle that is `by` further on in the list, or null at its ends. */
function neighbour(id, by) {
  const { found, index } = listState;
  const at = found ? found.indexOf(index.place.get(id)) : -1;
  const next = at < 0 ? undefined : found[at + by];
  return next === undefined ? null : { id: index.id[next], at: at + by };
}

function stepBattle(id, by) {
  const next = neighbour(id, by);
  if (!next) return;
  listState.cursor = next.at;
  location.hash = battleLink(next.id);
}

function openAtCursor() {
  const { found, index, cursor } = listState;
  if (found?.length) location.hash = battleLink(index.id[found[cursor]]);
}

/* From which row to which the window shows the list. */
function useSight(box, height, count) {
  const [sight, setSight] = useState([0, 30]);
  const look = () => {
    if (!box.current) return;
    const top = -box.current.getBoundingClientRect().top;
    const from = Math.max(0, Math.floor(top / height) - SPARE_ROWS);
    const to = Math.min(count, Math.ceil((top + innerHeight) / height) + SPARE_ROWS);
    setSight((old) => (old[0] === from && old[1] === to ? old : [from, to]));
  };
  useLayoutEffect(look, [count, height]);
  useWindowEvent("scroll", () => {
    listState.top = scrollY;
    look();
  });
  useWindowEvent("resize", look);
  return sight;
}

/* Scrolls as little as brings a row into sight, below the bar at the top. */
function reveal(box, place, height) {
  const at = box.getBoundingClientRect().top + place * height;
  if (at < 120) scrollBy(0, at - 120);
  else if (at + height > innerHeight - 20) scrollBy(0, at + height - innerHeight + 20);
}

function List({ index, films, found }) {
  const box = useRef(null);
  const [cursor, setCursor] = useState(listState.cursor);
  const height = rowHeight();
  const [from, to] = useSight(box, height, found.length);
  useWindowEvent("arena-step", (event) => {
    const last = found.length - 1;
    const next = Math.max(0, Math.min(last, listState.cursor + event.detail));
    listState.cursor = next;
    setCursor(next);
    if (box.current) reveal(box.current, next, height);
  });
  useArrival(true, listState.top);
  useLayoutEffect(() => setCursor(listState.cursor), [found]);
  useLayoutEffect(() => {
    if (listState.cursor > 0 && box.current) reveal(box.current, listState.cursor, height);
  }, [listState.key]);
  if (!found.length) return html`<${NoneFound} index=${index} />`;
  const row = (battle, k) => html`<${BattleRow} key=${index.id[battle]} index=${index}
    films=${films} battle=${battle} place=${from + k} all=${found.length} height=${height}
    isCursor=${from + k === cursor} />`;
  return html`<div class="list" ref=${box} role="list" aria-label="Battles"
    style=${{ height: `${found.length * height}px` }}>
    ${found.slice(from, to).map(row)}</div>`;
}

function NoneFound({ index }) {
  if (!index.size) return html`<div class="none-found"><p>No battle has been played yet.</p></div>`;
  return html`<div class="none-found"><p>No battle fits.</p>
    <p class="muted">Take a filter away, or search for less.</p></div>`;
}

function BattleRow({ index, films, battle, place, all, height, isCursor = false }) {
  const id = index.id[battle];
  const style = { transform: `translateY(${place * height}px)`, height: `${height}px` };
  const remember = () => {
    if (listState.found?.[place] === battle) listState.cursor = place;
  };
  return html`<div role="listitem" aria-setsize=${all} aria-posinset=${place + 1} style=${style}
    class=${`battle-row ${isCursor ? "cursor" : ""}`}>
    <${BattleLine} index=${index} films=${films} battle=${battle} href=${battleLink(id)}
      onClick=${remember} /></div>`;
}

function BattleLine({ index, films, battle, href, onClick }) {
  const video = index.videos[index.video[battle]];
  const film = films[video];
  const verdict = index.verdict[battle];
  const question = index.question[battle];
  const none = html`<i class="muted">no question</i>`;
  const asked = question ? html`<${Said} text=${question} />` : none;
  const isFlip = index.seats[battle] === 2 && verdict !== "split";
  return html`<a href=${href} onClick=${onClick}>
    <${Thumb} video=${video} film=${film} place=${standInOf(film)} />
    <span class="row-main"><span class="row-who"><${Outcome} verdict=${verdict} most=${28}
        a=${index.models[index.a[battle]]} b=${index.models[index.b[battle]]} />${" "}
      <${Chip} verdict=${verdict} />
      ${isFlip && html` <span class="chip chip-split">orders disagree</span>`}</span>
      <span class="row-question">${asked}</span></span>
    <span class="row-side"><${BattleMeta} index=${index} battle=${battle} />
      <span class="row-file"><bdi>${plain(fileName(film?.path ?? video))}</bdi></span></span></a>`;
}

function BattleMeta({ index, battle }) {
  const grade = index.difficulty[battle];
  return html`<span class="row-meta"><b class="num">${roundName(index.round[battle])}</b> ·${" "}
    P${index.persona[battle]}${isKnown(grade) && html` <${Grade} grade=${grade} />`}</span>`;
}

/* Difficulty from 1 to 5 as a bar and a figure. */
function Grade({ grade }) {
  const width = `${(Math.min(5, Math.max(1, grade)) - 1) * 25}%`;
  return html`<span class="grade" aria-hidden="true"><i style=${{ width }}></i></span>
    <span class="num" title="difficulty, 1 to 5">${fixed(grade)}</span>`;
}

/* A few battles, one below the other. */
function Examples({ index, films, places }) {
  const row = (battle) => html`<${BattleRow} key=${index.id[battle]} index=${index} films=${films}
    battle=${battle} place=${0} all=${places.length} height=${rowHeight()} />`;
  return html`<div class="examples" role="list">${places.map(row)}</div>`;
}
