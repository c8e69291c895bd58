/* One battle, whole: the question, what each saw, what they said, why one won. */
const CLOSENESS = { 1: "close to the video", 2: "less close", 3: "unrelated" };

async function battleWithChain(id) {
  const index = await source.index();
  const place = index.place.get(id);
  if (place === undefined) return { isMissing: true };
  const places = index.chains.get(chainKey(index, place));
  const [battle, films, ...chain] = await Promise.all([
    battleAt(place),
    source.videos(),
    ...places.map(battleAt),
  ]);
  return { battle, film: films[battle.video] ?? emptyFilm(battle), chain };
}

const emptyFilm = (battle) => ({ path: battle.video, times: [], seen: {}, sprite: null });

function Battle({ id }) {
  const found = useData(() => battleWithChain(id), [id]);
  useArrival(found !== null);
  if (!found) {
    return html`<main id="main" class="wide"><p class="muted loading">Reading …</p></main>`;
  }
  if (found.isMissing || found.failed) return html`<${NoBattle} id=${id} error=${found.failed} />`;
  return html`<${WholeBattle} key=${id} ...${found} />`;
}

function NoBattle({ id, error }) {
  const why =
    error ?? html`There is none with the id <code><${Said} text=${clip(id, 200)} /></code>.`;
  return html`<main id="main" class="wide"><h1 class="page">No such battle</h1>
    <p>${why} <a class="plain" href="#battles">All battles</a></p></main>`;
}

/* The attempt to make a harder question out of this battle's faults, if there was one. */
function sequelOf(battle, chain) {
  const next = chain.find((one) => one.evolution.some((step) => step.battle === battle.id));
  const step = next?.evolution.filter((one) => one.battle === battle.id).at(-1);
  return step ? { step, next } : null;
}

function WholeBattle({ battle, film, chain }) {
  const sequel = sequelOf(battle, chain);
  const answer = (side) => html`<${Answer} key=${side} side=${side} battle=${battle}
    film=${film} />`;
  return html`<main id="main" class="wide battle">
    <div class="battle-head"><${Crumbs} battle=${battle} film=${film} />
      <${Question} battle=${battle} /><${Ruling} battle=${battle} /></div>
    <div class="battle-grid"><div class="battle-body">
      <${Seen} battle=${battle} film=${film} />
      <div class="answers">${["a", "b"].map(answer)}</div>
      <${Judgings} battle=${battle} />
      ${sequel && html`<${Faults} battle=${battle} ...${sequel} />`}
      <${Took} battle=${battle} /></div>
      <${Lineage} chain=${chain} now=${battle.id} /></div></main>`;
}

function Question({ battle }) {
  const user = battle.persona_text ?? "no user was invented";
  const invented = `P${battle.persona} ${CLOSENESS[battle.persona] ?? ""}`;
  const text = battle.question
    ? plain(battle.question)
    : html`<i class="muted">No question came of it</i>`;
  return html`<h1 class="question" dir="auto">${text}</h1>
    <p class="persona"><span class="chip"><bdi>${plain(battle.user ?? invented)}</bdi></span>${" "}
      <${Said} text=${user} /></p>`;
}

function Ruling({ battle }) {
  const { verdict, reason, difficulty, aimed_at: aimedAt } = battle;
  const line = html`<span class="separator"></span>`;
  const word = (text) => html`<span class="muted">${text}</span>`;
  const grade = html`${line}${word("difficulty ")}<b class="num">${fixed(difficulty)}</b>
    ${word(" of 5")}`;
  const aim = html`${line}${word("made from faults of ")}<${Listed} models=${aimedAt} />`;
  return html`<p class="ruling"><${Outcome} verdict=${verdict} a=${battle.model_a}
      b=${battle.model_b} isColoured=${true} /> <${Chip} verdict=${verdict} />
    ${reason && html`<span class="muted">: <${Said} text=${reason} /></span>`}
    ${isKnown(difficulty) && grade}${aimedAt?.length > 0 && aim}</p>`;
}

function Crumbs({ battle, film }) {
  const list = listState.key ? `#battles?${listState.key}` : "#battles";
  return html`<div class="crumbs"><a href=${list}>Battles</a><span class="slash">/</span>
    <a href=${battlesLink({ video: battle.video })}><bdi>${plain(fileName(film.path))}</bdi></a>
    <span class="slash">/</span><code>${plain(battle.id)}</code><${CopyLink} />
    <${Steps} id=${battle.id} /></div>`;
}

function CopyLink() {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    } catch {
      /* Not allowed here; the address bar has it. */
    }
  };
  return html`<button class="quiet" onClick=${copy}>
    <span aria-live="polite">${isDone ? "copied" : "copy link"}</span></button>`;
}

/* The way to the battles before and after it in the list it was found in. */
function Steps({ id }) {
  const here = neighbour(id, 0);
  if (!here) return null;
  const button = (by, label, key) => html`<button onClick=${() => stepBattle(id, by)}
    disabled=${!neighbour(id, by)} aria-label=${label}>
    ${by < 0 ? "↑" : "↓"} <kbd>${key}</kbd></button>`;
  return html`<span class="steps"><span class="num muted">${here.at + 1} of${" "}
    ${whole(listState.found.length)}</span>
    ${button(-1, "Previous battle, k", "k")}${button(1, "Next battle, j", "j")}</span>`;
}

function Answer({ side, battle, film }) {
  const name = battle[`model_${side}`];
  const text = battle[`answer_${side}`];
  const isWinner = battle.verdict === side;
  const facts = text !== null && answerFacts(battle, film, name);
  return html`<article class=${`answer answer-${side} ${isWinner ? "winner" : ""}`}
    aria-label=${`Answer ${side.toUpperCase()}, by ${nameOf(name)}`}>
    <header><${Side} side=${side} /> <${Model} name=${name} link=${name !== null} />
      ${isWinner && html`<span class=${`chip chip-won-${side}`}>judged better</span>`}
      <span class="facts-line num">${facts}</span></header>
    <${AnswerText} text=${text} /></article>`;
}

function AnswerText({ text }) {
  if (text === null) return html`<p class="muted">No answer.</p>`;
  if (text.trim() === "") return html`<p class="muted">An empty answer.</p>`;
  return html`<${Markdown} text=${text} />`;
}

function answerFacts(battle, film, name) {
  const took = own(battle.took ?? {}, `contestant:${name}`);
  const seen = seenBy(film, "contestant", name).length;
  const frames = seen || !took ? counted(seen, "frame") : "saw no frames";
  if (!took) return frames;
  return [frames, `${whole(took.out)} tokens`, waited(took.s), money(took.usd)].join(" · ");
}
