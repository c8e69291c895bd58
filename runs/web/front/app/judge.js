/* Can the judge be believed: every check with its interval, beside what a fair judge would show. */
const POINTS_AXIS = { at: scale(-500, 1500), ticks: [-500, 0, 500, 1000, 1500] };
const SHARE_AXIS = { at: scale(0, 1), ticks: [0, 0.25, 0.5, 0.75, 1] };
const WIDEST_SHARE = 0.4;
const WIDEST_POINTS = 900;
const isPoints = (finding) => finding.unit === "points";
const isPeople = (finding) => finding.group === "People";
const figureOf = (finding) => (isPoints(finding) ? signed(finding.value) : percent(finding.value));

/* An interval so wide that its point says nothing. */
function isVague({ low, high, unit }) {
  if (!isKnown(low) || !isKnown(high)) return false;
  return high - low > (unit === "points" ? WIDEST_POINTS : WIDEST_SHARE);
}

function Judge() {
  const checks = summary.audit.filter((one) => !summary.labels?.labels || !isPeople(one));
  if (!checks.length) return null;
  const unknown = checks.filter((one) => !isKnown(one.value));
  return html`<${Section} id="judge" kicker="The judge" says=${summary.words.audit}
    note="Intervals are 95 % and know which battles share a video. The mark on an axis is what a fair
      judge would show; where there is none, no value is good or bad by itself.">
    ${[...groupsOf(checks)].map(
      ([name, rows]) => html`<${CheckGroup} key=${name} name=${name}
      rows=${rows} />`,
    )}
    ${
      unknown.length > 0 &&
      html`<h3>Not measured</h3><ul class="unknown">
      ${unknown.map((one) => html`<li><b>${one.name}.</b> ${plain(one.sentence)}</li>`)}</ul>`
    }
  </${Section}>`;
}

/* Alarms stand in a group of their own, before all else; then groups in the order they come. */
function groupsOf(checks) {
  const groups = new Map();
  const measured = checks.filter((one) => isKnown(one.value));
  for (const one of measured.filter((check) => check.alarm)) addTo(groups, "Alarms", one);
  for (const one of measured.filter((check) => !check.alarm)) addTo(groups, one.group, one);
  return groups;
}

function addTo(groups, name, one) {
  if (!groups.has(name)) groups.set(name, []);
  groups.get(name).push(one);
}

/* Rows of one unit share an axis; a group of both units has two. */
function CheckGroup({ name, rows }) {
  const shares = rows.filter((one) => !isPoints(one));
  const points = rows.filter(isPoints);
  const how = "how far each lies below the first model it must not beat, in rating points";
  return html`<h3>${name}${name === "Canaries" && html` <small>${how}</small>`}</h3>
    ${
      shares.length > 0 &&
      html`<${Checks} label=${name} rows=${shares} axis=${SHARE_AXIS}
      format=${(x) => percent(x)} />`
    }
    ${
      points.length > 0 &&
      html`<${Checks} label=${name} rows=${points} axis=${POINTS_AXIS}
      format=${(x) => (x === 0 ? "0" : signed(x))} />`
    }`;
}

function Checks({ label, rows, axis, format }) {
  return html`<div class="checks" role="table" aria-label=${label}>
    ${rows.map((one) => html`<${Check} key=${one.key} finding=${one} axis=${axis} />`)}
    <div class="check-row check-foot" aria-hidden="true"><span></span><span></span><span></span>
      <span class="of-plot"><${Axis} at=${axis.at} ticks=${axis.ticks} format=${format} /></span>
    </div></div>`;
}

function Check({ finding, axis }) {
  const { at, ticks } = axis;
  const word = finding.alarm
    ? html`<em class="loud">alarm</em>`
    : isVague(finding) && "too few to say";
  return html`<div class=${`check-row ${finding.alarm ? "alarm" : ""}`} role="row">
    <span role="cell" class="of-name">
      ${finding.alarm && html`<span class="bang" aria-hidden="true">!</span>`}
      <b>${finding.name}</b><small class="num">n ${whole(finding.n)}</small></span>
    <span role="cell" class="of-words">${plain(finding.sentence)}</span>
    <span role="cell" class="of-value num"><b>${figureOf(finding)}</b><small>${word}</small></span>
    <span role="cell" class="of-plot"><${Plot} height=${30}>
      <${Grid} at=${at} height=${30} ticks=${ticks} />
      ${
        isKnown(finding.fair) &&
        html`<${Upright} at=${at} x=${finding.fair} from="3" to="27"
        cls="fair" />`
      }
      <${Interval} at=${at} value=${finding.value} low=${finding.low} high=${finding.high} y=${15}
        cls=${finding.alarm ? "bad" : ""} /></${Plot}></span></div>`;
}
