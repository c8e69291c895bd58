/* One battle, whole: the question, what each saw, what they said, why one won. */

import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { own } from "./base.js";
import { Chip, isWin, Side, STANDARDS, Table, Unloaded } from "./bits.js";
import { battleAt, chainKey, source } from "./data.js";
import { Grade, listLink, listState, neighbour, stepBattle } from "./list.js";
import { useData } from "./live.js";
import { Markdown } from "./markdown.js";
import {
  battleLink,
  battlesLink,
  Listed,
  Model,
  nameOf,
  Outcome,
  roundName,
  shortOf,
} from "./names.js";
import {
  clip,
  counted,
  fileName,
  fixed,
  isKnown,
  money,
  sum,
  titled,
  waited,
  whole,
} from "./numbers.js";
import { useArrival } from "./route.js";
import { Seen, seenBy } from "./seen.js";
import { plain, Said } from "./text.js";

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

export function Battle({ id }) {
  const found = useData(() => battleWithChain(id), [id]);
  useArrival(found !== null);
  if (!found) {
    return html`<main id="main" class="wide">
      <p class="muted loading" role="status">Loading the battle …</p></main>`;
  }
  if (found.failed) {
    return html`<main id="main" class="wide">
      <${Unloaded} what="This battle" error=${found.failed} /></main>`;
  }
  if (found.isMissing) return html`<${NoBattle} id=${id} />`;
  return html`<${WholeBattle} key=${id} ...${found} />`;
}

function NoBattle({ id }) {
  const why = html`There is none with the id <code><${Said} text=${clip(id, 200)} /></code>.`;
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
    : html`<i class="muted">There is no question</i>`;
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
  return html`<div class="crumbs"><a href=${listLink()}>Battles</a><span class="slash">/</span>
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

/* Why a battle ended as it did: every judging with its reasons, standard by standard. */
const listedVerdicts = (battle) => new Set(battle.verdicts.map((judging) => judging.verdict));

function Judgings({ battle }) {
  const count = battle.verdicts.length;
  if (!count) return null;
  const agree = listedVerdicts(battle).size > 1 ? "which disagree" : "which agree";
  const one = (judging) => html`<${Judging} judging=${judging} battle=${battle} />`;
  const how = count === 1 ? "one judging" : `${count} judgings, ${agree}`;
  return html`<section class="judgings" aria-labelledby="why"><h2 id="why">Why <small>${how}</small>
    </h2><div class=${`judging-grid ${count > 1 ? "several" : ""}`}>
    ${battle.verdicts.map(one)}</div></section>`;
}

function Judging({ judging, battle }) {
  const isSwapped = judging.seats === "ba";
  const first = isSwapped ? "b" : "a";
  const reason = judging.reason || "It gave no reasons.";
  const bare = html`<p class="muted"><${Said} text=${reason} /></p>`;
  return html`<div class="judging">
    <p class="judging-head"><b><bdi>${plain(shortOf(judging.judge, 30))}</bdi></b> read${" "}
      <${Side} side=${first} /> <bdi>${plain(shortOf(battle[`model_${first}`], 30))}</bdi> first
      <span class="judging-verdict"><${Ahead} verdict=${judging.verdict} battle=${battle} />
      </span></p>
    ${isSwapped && html`<${SwapNote} battle=${battle} />`}
    ${judging.analyses ? html`<${Analyses} judging=${judging} battle=${battle} />` : bare}</div>`;
}

/* Its words keep the names of the seats it read, so a reader must know which is which. */
function SwapNote({ battle }) {
  const name = (side) => html`<b><bdi>${plain(shortOf(battle[`model_${side}`], 30))}</bdi></b>`;
  return html`<p class="swap-note">It read the answers in swapped order: in its words “A” and “B”
    mean ${name("b")} and ${name("a")}.</p>`;
}

function Ahead({ verdict, battle }) {
  if (!isWin(verdict)) return html`<${Chip} verdict=${verdict} />`;
  return html`for <${Side} side=${verdict} />${" "}
    <bdi>${plain(shortOf(battle[`model_${verdict}`], 30))}</bdi>`;
}

/* Who is ahead on one standard; a judge that left it open is said to have. */
function StandardChip({ verdict }) {
  if (verdict === "a" || verdict === "b") {
    return html`<span class="standard-chip"><${Side} side=${verdict} /> ahead</span>`;
  }
  const word = verdict === "tie" ? "level" : "left open";
  return html`<span class="standard-chip muted">${word}</span>`;
}

function Analyses({ judging, battle }) {
  const isAsked = judging.standards && Object.keys(judging.standards).length > 0;
  const row = ([key, name]) => html`<div key=${key}><dt>${name}
    ${isAsked && html`<${StandardChip} verdict=${judging.standards[key]} />`}</dt>
    <dd><${Said} as="div" text=${judging.analyses[key]} /></dd></div>`;
  const note = html`<p class="note tight">This run did not ask who is ahead on each standard.</p>`;
  const asked = STANDARDS.filter(([key]) => key in judging.analyses);
  return html`<dl class="standards">${asked.map(row)}</dl>
    ${!isAsked && isWin(battle.verdict) && note}`;
}

/* What was wrong with the answers of a battle, and what came of it. */
function Faults({ battle, step, next }) {
  const box = (side) => html`<${FaultBox} key=${side} side=${side} step=${step}
    model=${battle[`model_${side}`]} />`;
  return html`<section class="wrong" aria-labelledby="wrong"><h2 id="wrong">What was wrong with the
    answers <small>written down to make the next question</small></h2>
    <div class="answers">${["a", "b"].map(box)}</div>
    <${LedTo} step=${step} next=${next} /></section>`;
}

function FaultBox({ side, step, model }) {
  const faults = step[`faults_${side}`];
  const weaknesses = step[`weaknesses_${side}`];
  const fault = (text) => html`<li><${Said} as="div" text=${text} /></li>`;
  const weakness = (text, place) => html`${place > 0 && "; "}<${Said} text=${text} />`;
  const behind = html`<p class="behind-it"><span class="muted">Behind it:</span>${" "}
    ${weaknesses.map(weakness)}</p>`;
  const none = html`<p class="muted">Nothing was found.</p>`;
  return html`<div class=${`fault-box answer-${side}`}>
    <header><${Side} side=${side} /> <${Model} name=${model} /></header>
    ${faults.length ? html`<ul>${faults.map(fault)}</ul>` : none}
    ${weaknesses.length > 0 && behind}</div>`;
}

function LedTo({ step, next }) {
  const grade = (graded) => html`<b class="num">${fixed(graded?.overall)}</b>`;
  if (!step.accepted) {
    return html`<p class="led-to">The question made of it was refused: ${grade(step.new)} is no
      harder than ${grade(step.old)}.</p>`;
  }
  const link = html`<a class="plain" href=${battleLink(next.id)}>${roundName(next.round)}</a>`;
  return html`<p class="led-to">Led to ${link}, graded ${grade(step.new)} after${" "}
    ${grade(step.old)}.</p>`;
}

const TOOK_COLUMNS = [
  ["Role", ""],
  ["Who", ""],
  ["Calls", "right"],
  ["Read", "right"],
  ["Wrote", "right"],
  ["Waited", "right"],
  ["Cost", "right"],
];

/* Calls, tokens, time and money of one battle; a sum with something unknown in it is unknown. */
function Took({ battle }) {
  const rows = Object.entries(battle.took ?? {});
  if (!rows.length) return null;
  const total = (key) =>
    rows.every(([, row]) => isKnown(row[key])) ? sum(rows.map(([, row]) => row[key])) : null;
  const tokens = isKnown(total("in")) && isKnown(total("out")) ? total("in") + total("out") : null;
  const num = (text) => html`<span class="num">${text}</span>`;
  const cells = rows.map(([who, row]) => [
    titled(who.slice(0, who.indexOf(":"))),
    html`<bdi>${plain(shortOf(who.slice(who.indexOf(":") + 1), 40))}</bdi>`,
    num(whole(row.calls)),
    num(whole(row.in)),
    num(whole(row.out)),
    num(waited(row.s)),
    num(money(row.usd)),
  ]);
  const calls = counted(total("calls"), "call");
  return html`<details class="took"><summary>What this battle took: ${calls},${" "}
    ${whole(tokens)} tokens, ${waited(total("s"))}, cost ${money(total("usd"))}</summary>
    <${Table} label="Calls of this battle" cls="tight" columns=${TOOK_COLUMNS} rows=${cells} />
    </details>`;
}

/* The chain of questions that one user of one video asked, from the first. */
const EVOLVED_NOTE =
  "The bar is difficulty, 1 to 5. Each question is made from the faults of the answers before " +
  "it; one that is no harder is refused.";

function Lineage({ chain, now }) {
  const isEvolved = chain.length > 1 || chain[0]?.evolution.length > 0;
  const note = isEvolved
    ? EVOLVED_NOTE
    : "The only question of this user; none was made out of it.";
  const step = (one, place) => html`<${LineageStep} key=${one.id} battle=${one}
    isNow=${one.id === now} before=${chain[place - 1]} />`;
  return html`<aside class="lineage" aria-label="Lineage of the question" tabindex="0">
    <h2>Lineage</h2><ol>${chain.map(step)}</ol><p class="note tight">${note}</p></aside>`;
}

function LineageStep({ battle, isNow, before }) {
  const origin = battle.origin ?? "none";
  const question = clip(battle.question ?? "no question", 130);
  return html`<li class=${`step ${isNow ? "now" : ""} from-${origin}`}>
    <${CameFrom} battle=${battle} before=${before} />
    <a href=${battleLink(battle.id)} aria-current=${isNow ? "true" : null}>
      <span class="step-top"><b>${titled(roundName(battle.round))}</b>${" "}
        <span class="muted">${origin}</span>
        ${isKnown(battle.difficulty) && html`<${Grade} grade=${battle.difficulty} />`}</span>
      <span class="step-question"><${Said} text=${question} /></span>
      <span class="step-who"><${Outcome} verdict=${battle.verdict} most=${24} a=${battle.model_a}
        b=${battle.model_b} /> <${Chip} verdict=${battle.verdict} /></span></a></li>`;
}

/* What led to a question: attempts that were refused, the fault it was made of, or neither. */
function CameFrom({ battle, before }) {
  const passed = battle.evolution.find((step) => step.accepted);
  const refused = battle.evolution.filter((step) => !step.accepted);
  const why = refused.length ? ", since no harder one was found" : "";
  const because = html`<p class="because"><${Because} step=${passed} before=${before} /></p>`;
  return html`${refused.map((step) => html`<${Refused} step=${step} />`)}
    ${passed && before && because}
    ${battle.origin === "fresh" && html`<p class="because muted">Asked afresh${why}.</p>`}`;
}

function Refused({ step }) {
  return html`<p class="refused"><span class="cross" aria-hidden="true">×</span> refused,${" "}
    <span class="num">${fixed(step.new?.overall)}</span> after${" "}
    <span class="num">${fixed(step.old?.overall)}</span>:${" "}
    <s><${Said} text=${clip(step.question ?? "", 70)} /></s></p>`;
}

/* The first fault that the new question was made of, and whose it was. */
function Because({ step, before }) {
  const faults = [...step.faults_a, ...step.faults_b];
  if (!faults.length) {
    return html`<span class="muted">No fault was found; made harder all the same.</span>`;
  }
  const side = step.faults_a.length ? "a" : "b";
  const isBoth = step.faults_a.length > 0 && step.faults_a[0] === step.faults_b[0];
  const who = isBoth ? "Both" : shortOf(before[`model_${side}`], 24);
  const more = faults.length - (isBoth ? 2 : 1);
  return html`<bdi>${plain(who)}</bdi>: <${Said} text=${clip(faults[0], 160)} />
    ${more > 0 && html` <span class="muted">and ${more} more</span>`}`;
}
