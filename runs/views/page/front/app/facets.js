/* What battles can be narrowed by. A facet has a code for each battle (two where both sides count),
   and for each code what stands in the address and what is shown; -1 is no code at all. */

import { isWin } from "./bits.js";
import { nameOf, roundName, summary } from "./names.js";
import { fileName, isKnown } from "./numbers.js";

const LENGTHS = [
  [8, "up to 8 s"],
  [15, "8-15 s"],
  [60, "15-60 s"],
  [180, "60-180 s"],
  [600, "180-600 s"],
  [900, "600-900 s"],
  [3600, "900-3600 s"],
  [Infinity, "above 3600 s"],
];
const OUTCOMES = ["won", "lost", "tie_good", "tie_bad", "split", "void", "forfeit"];
const OUTCOME_NAMES = {
  lost: "Lost",
  tie_good: "Tie, both good",
  tie_bad: "Tie, both bad",
  split: "Seats disagree",
  void: "Void",
  forfeit: "Forfeit",
};
const USERS = ["", "P1 close", "P2 less close", "P3 unrelated"];
const SEATS = ["judged once", "agree", "disagree"];
const AGAINST = [
  ["with", "none against the winner"],
  ["against", "one or more against"],
  ["none", "not recorded"],
];

/* Where users were brought along, their place says nothing of how close they are. */

const userOf = (persona) => (!summary.status.users?.file && USERS[persona]) || `P${persona}`;
const lengthCode = (film) =>
  isKnown(film?.duration_s) ? LENGTHS.findIndex(([most]) => film.duration_s <= most) : -1;

/* Codes of values as they come, for a facet whose values are not known before. */
function coded(column) {
  const codes = new Map();
  const code = (value) => {
    if (!codes.has(value)) codes.set(value, codes.size);
    return codes.get(value);
  };
  return { columns: [Int32Array.from(column, code)], values: [...codes.keys()].map(String) };
}

/* Whether the standards all go along with a battle's winner. */
function againstCode(standards, verdict) {
  if (!isWin(verdict)) return -1;
  const loser = verdict === "a" ? "b" : "a";
  if (/^-*$/.test(standards ?? "")) return 2;
  return standards.includes(loser) ? 1 : 0;
}

/* Those that do not depend on what is asked for; made once for an index. */
const steadyOf = new WeakMap();

function steadyFacets(index) {
  if (!steadyOf.has(index)) steadyOf.set(index, makeSteady(index));
  return steadyOf.get(index);
}

function makeSteady(index) {
  const names = (show) => (facet) => ({ ...facet, labels: facet.values.map(show) });
  const models = index.models;
  const round = names((value) => roundName(Number(value)))(coded(index.round));
  const user = names((value) => userOf(Number(value)))(coded(index.persona));
  const plainly = names((value) => value);
  const against = index.id.map((_, k) => againstCode(index.standards?.[k], index.verdict[k]));
  return [
    { key: "model", name: "Model", columns: [index.a, index.b], values: models, isModel: true },
    { key: "round", name: "Round", ...round, isNumber: true },
    {
      key: "category",
      name: "Category",
      ...plainly(coded(index.category.map((x) => x ?? "unknown"))),
    },
    { key: "persona", name: "User", ...user, isNumber: true },
    {
      key: "seats",
      name: "Both orders",
      columns: [index.seats],
      values: ["0", "1", "2"],
      labels: SEATS,
      isOrdered: true,
    },
    {
      key: "standards",
      name: "Standards of a winner",
      columns: [Int32Array.from(against)],
      values: AGAINST.map(([value]) => value),
      labels: AGAINST.map(([, label]) => label),
      isOrdered: true,
    },
    { key: "origin", name: "Question", ...plainly(coded(index.origin.map((x) => x ?? "none"))) },
  ];
}

/* All facets of an index; `model` is the one whose wins and losses are asked for, or null. */
export function facetsOf(index, films, model) {
  const [ofModel, round, category, ...others] = steadyFacets(index);
  const models = index.models.map(nameOf);
  const me = model === null ? -1 : index.models.indexOf(model);
  const facets = [{ ...ofModel, labels: models }];
  if (me >= 0) facets.push(rivalFacet(index, me, models));
  const length = index.videos.map((video) => lengthCode(films[video]));
  const duration = {
    key: "duration",
    name: "Length of video",
    columns: [Int32Array.from(index.video, (video) => length[video])],
    values: LENGTHS.map(([, name]) => name),
    labels: LENGTHS.map(([, name]) => name),
    isOrdered: true,
  };
  const video = {
    key: "video",
    name: "Video",
    columns: [index.video],
    values: index.videos,
    labels: index.videos.map((id) => fileName(films[id]?.path ?? id)),
  };
  return [...facets, outcomeFacet(index, me), round, category, duration, ...others, video];
}

function rivalFacet(index, me, labels) {
  const other = (_, k) => (index.a[k] === me ? index.b[k] : index.b[k] === me ? index.a[k] : -1);
  const columns = [Int32Array.from(index.a, other)];
  return { key: "rival", name: "Against", columns, values: index.models, labels, isModel: true };
}

function outcomeFacet(index, me) {
  const outcome = (verdict, k) => {
    if (!isWin(verdict)) return OUTCOMES.indexOf(outcomeKind(verdict));
    const winner = verdict === "a" ? index.a[k] : index.b[k];
    return me < 0 || winner === me ? 0 : 1;
  };
  return {
    key: "verdict",
    name: "Outcome",
    columns: [Int32Array.from(index.verdict, outcome)],
    values: OUTCOMES,
    labels: OUTCOMES.map((key) =>
      key === "won" ? (me < 0 ? "A winner" : "Won") : OUTCOME_NAMES[key],
    ),
    isOrdered: true,
  };
}

const outcomeKind = (verdict) =>
  verdict.startsWith("forfeit") ? "forfeit" : verdict === "tie" ? "tie_good" : verdict;

/* One pass: a battle that fails one filter alone still counts for that filter's other values. */
export function sift(index, facets, query) {
  const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = facets.map((facet) => wantedCode(facet, query.get(facet.key)));
  const counts = facets.map((facet) => new Int32Array(facet.values.length));
  const found = [];
  for (let battle = 0; battle < index.size; battle++) {
    if (words.length && !words.every((word) => index.text[battle].includes(word))) continue;
    let misses = 0;
    let missed = -1;
    for (let k = 0; k < facets.length && misses < 2; k++) {
      if (wanted[k] === null || fits(facets[k], battle, wanted[k])) continue;
      misses++;
      missed = k;
    }
    if (misses === 0) found.push(battle);
    if (misses < 2) tally(facets, counts, battle, misses ? missed : null);
  }
  return { found, counts };
}

/* Null: nothing is asked of this facet. -2: something that no battle has. */
function wantedCode(facet, value) {
  if (value === null) return null;
  const code = facet.values.indexOf(value);
  return code < 0 ? -2 : code;
}

/* Written out, since it runs some 100,000 times a filter. */
function fits({ columns }, battle, code) {
  return columns[0][battle] === code || (columns.length > 1 && columns[1][battle] === code);
}

function tally(facets, counts, battle, only) {
  for (let k = 0; k < facets.length; k++) {
    if (only !== null && only !== k) continue;
    for (const column of facets[k].columns) {
      if (column[battle] >= 0) counts[k][column[battle]]++;
    }
  }
}

export const ORDERS = [
  ["played", "As played"],
  ["hard", "Hardest"],
  ["odd", "Most surprising"],
];

/* Surprising is what the ratings gave the smallest chance, as the commands order battles. */
export function ordered(index, found, order) {
  if (order === "hard") return byFigure(found, (battle) => -(index.difficulty[battle] ?? 0));
  return order === "odd" ? byFigure(found, (battle) => index.surprise[battle]) : found;
}

function byFigure(found, figure) {
  const pairs = found.map((battle) => [figure(battle), battle]);
  return pairs.sort((one, other) => one[0] - other[0]).map(([, battle]) => battle);
}
