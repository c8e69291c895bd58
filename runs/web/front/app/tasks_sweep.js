/* What frames and dollars buy: accuracy against both on logarithmic axes, and what is enough. */
const SWEEP_HEIGHT = 250;
const SWEEP_FOOT = 26;
const PLOT_FROM = 8;
const PLOT_TO = 62;
const MOST_CURVES = 9;
const COURSES = [
  { key: "frames", title: "Frames", about: "sent of each video", write: whole },
  { key: "usd", title: "Dollars", about: "an item", write: money },
];

const SWEEP_NOTE =
  "Over the items that all settings of a model have. Bars: 95 % intervals; dashed: chance; " +
  "ringed: the cheapest setting whose difference from the model’s best, item by item, has a 95 % " +
  "bound above the margin.";

function SweepSection({ board, place, words }) {
  const sweeps = board.sweeps;
  if (!sweeps.length) return null;
  const courses = COURSES.filter(({ key }) => settingsOf(sweeps).some((one) => one[key] > 0));
  const chart = (course) =>
    html`<figure key=${course.key}>
      <figcaption><b>${course.title}</b> ${course.about}</figcaption>
      <${SweepChart} sweeps=${sweeps} course=${course} chance=${board.chance} />
    </figure>`;
  const line = (text) => html`<li>${plain(text)}</li>`;
  const isCut = sweeps.length > MOST_CURVES;
  const cut = isCut ? ` The first ${MOST_CURVES} of ${sweeps.length} models are drawn.` : "";
  return html`<${Section} id=${`sweep-${place}`} kicker=${kickerOf(board, "Budget")}
    says=${html`<${Found} parts=${words.sweeps} />`} note=${`${SWEEP_NOTE}${cut}`}>
    <div class=${courses.length > 1 ? "panels two" : "one-panel"}>${courses.map(chart)}</div>
    <ul class="enough">${words.each_sweep.map(line)}</ul></${Section}>`;
}

const settingsOf = (sweeps) => sweeps.flatMap((one) => one.settings);
const isDrawn = (course) => (one) => one[course.key] > 0 && isKnown(one.accuracy.value);

/* Places on a logarithmic axis, in percent of the drawing. */
function logScale(values) {
  const [low, high] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))];
  const middle = (PLOT_FROM + PLOT_TO) / 2;
  return (x) =>
    high > low ? PLOT_FROM + ((PLOT_TO - PLOT_FROM) * (Math.log(x) - low)) / (high - low) : middle;
}

/* The range of accuracies, to the next ten on either side. */
function heightsOf(sweeps, chance) {
  const ends = settingsOf(sweeps).flatMap(({ accuracy: { low, value, high } }) => [
    low,
    value,
    high,
  ]);
  const found = [...ends, chance].filter(isKnown);
  const low = Math.floor(Math.min(...found) / 10) * 10;
  const high = Math.max(Math.ceil(Math.max(...found) / 10) * 10, low + 10);
  const room = SWEEP_HEIGHT - SWEEP_FOOT - 14;
  const y = (share) => 10 + (room * (high - share)) / (high - low);
  return { y, ticks: ticksOf(low, high, 5) };
}

function SweepChart({ sweeps, course, chance }) {
  const [on, setOn] = useState(null);
  const drawn = sweeps.filter((one) => one.settings.some(isDrawn(course))).slice(0, MOST_CURVES);
  const values = settingsOf(drawn).filter(isDrawn(course));
  const x = logScale(values.map((one) => one[course.key]));
  const { y, ticks } = heightsOf(drawn, chance);
  const lasts = drawn.map((one) => one.settings.findLast(isDrawn(course)).accuracy.value);
  const places = apart(lasts.map(y), 14, 12, SWEEP_HEIGHT - SWEEP_FOOT);
  const curve = (sweep, k) => html`<${Curve} key=${sweep.model} sweep=${sweep} course=${course}
    x=${x} y=${y} cls=${lineClass(sweep.model, k, on)} on=${setOn}
    label=${{ from: y(lasts[k]), to: places[k], share: lasts[k] }} />`;
  const guessed = html`<line class="chance" x1="0" x2=${`${PLOT_TO + 2}%`} y1=${y(chance)}
    y2=${y(chance)} />`;
  return html`<${Plot} height=${SWEEP_HEIGHT} cls="sweep" label=${sweepSays(drawn, course)}>
    <${SweepLevels} y=${y} ticks=${ticks} chance=${chance} />${isKnown(chance) && guessed}
    <${SweepTicks} values=${values.map((one) => one[course.key])} x=${x} write=${course.write} />
    ${drawn.map(curve)}</${Plot}>`;
}

/* A figure that the line of chance would run through stands below its own line. */
function SweepLevels({ y, ticks, chance }) {
  const isCrossed = (share) => isKnown(chance) && Math.abs(y(share) - 8 - y(chance)) < 9;
  const level = (share) => html`<line x1="0" x2=${`${PLOT_TO + 2}%`} y1=${y(share)}
    y2=${y(share)} /><text class="tick" x="0" y=${y(share) + (isCrossed(share) ? 11 : -3)}>
    ${share}</text>`;
  return html`<g class="grid">${ticks.map(level)}</g>`;
}

function sweepSays(drawn, course) {
  const said = drawn.map(({ model, settings }) => {
    const each = settings.filter(isDrawn(course));
    const words = each.map(
      (one) => `${fixed(one.accuracy.value)} % at ${course.write(one[course.key])}`,
    );
    return `${nameOf(model)}: ${words.join(", ")}`;
  });
  return `Accuracy by ${course.title.toLowerCase()}. ${said.join("; ")}`;
}

/* As many settings as have room; the largest always. */
function SweepTicks({ values, x, write }) {
  const kept = [];
  for (const value of [...new Set(values)].sort((one, other) => other - one)) {
    const room = write(value).length * 1.6 + 2;
    if (kept.every((other) => x(other) - x(value) > room)) kept.push(value);
  }
  const tick = (value) => html`<text class="tick mid" x=${atPercent(x(value))}
    y=${SWEEP_HEIGHT - 6}>${write(value)}</text>`;
  return kept.map(tick);
}

function Curve({ sweep, course, x, y, cls, on, label }) {
  const spots = sweep.settings.filter(isDrawn(course)).map((one) => ({
    one,
    x: atPercent(x(one[course.key])),
    y: y(one.accuracy.value),
  }));
  const line = (spot, k) =>
    k > 0 &&
    html`<line x1=${spots[k - 1].x} y1=${spots[k - 1].y}
    x2=${spot.x} y2=${spot.y} />`;
  const mark = (spot) => html`<${SweepSpot} spot=${spot} y=${y} model=${sweep.model}
    isEnough=${spot.one.frames === sweep.cheapest} />`;
  return html`<g class=${cls} onMouseEnter=${() => on(sweep.model)} onMouseLeave=${() => on(null)}>
    ${spots.map(line)}${spots.map(mark)}
    <line class="leader" x1=${`${PLOT_TO + 1.5}%`} x2=${`${PLOT_TO + 4}%`} y1=${label.from}
      y2=${label.to} />
    <text x=${`${PLOT_TO + 5}%`} y=${label.to + 4}>
      <tspan class="name">${plain(shortOf(sweep.model, 18))}</tspan>${" "}
      <tspan class="share">${whole(label.share)} %</tspan></text></g>`;
}

function SweepSpot({ spot, y, isEnough, model }) {
  const { low, high, value } = spot.one.accuracy;
  const bar = html`<line class="doubt" x1=${spot.x} x2=${spot.x} y1=${y(low)} y2=${y(high)} />`;
  const ring = html`<circle class="enough-ring" cx=${spot.x} cy=${spot.y} r="8" />`;
  const cost = isKnown(spot.one.usd) ? `, ${money(spot.one.usd)} an item` : "";
  return html`${isKnown(low) && bar}${isEnough && ring}<circle cx=${spot.x} cy=${spot.y} r="3.4">
    <title>${nameOf(model)}, ${counted(spot.one.frames, "frame")}${cost}: ${fixed(value)} %${" "}
    (${spanOf(spot.one.accuracy, 1)})</title></circle>`;
}
