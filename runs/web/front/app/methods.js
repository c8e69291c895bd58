/* How the run was made, and the data behind the page. */
const CAST_COLUMNS = [
  ["Cast", ""],
  ["Served as", ""],
  ["Frames", "right"],
];
const PROMPT_COLUMNS = [
  ["Role", ""],
  ["SHA-256 of its prompt", ""],
];

function Methods() {
  const { cast, prompts } = summary.methods;
  const castRows = Object.entries(cast ?? {}).map(([name, one]) => [
    html`<bdi>${plain(shortOf(name, 44))}</bdi>`,
    html`<${Said} text=${one.model} />`,
    html`<span class="num">${whole(one.max_frames)}</span>`,
  ]);
  const promptRows = Object.entries(prompts ?? {});
  const digests = html`<details><summary>Prompts, by digest</summary>
    <${Table} label="Prompts" cls="tight mono" columns=${PROMPT_COLUMNS} rows=${promptRows} />
    </details>`;
  return html`<${Section} id="methods" kicker="Methods"
    says="How this was made, and the data behind it.">
    <div class="panels two"><${Facts} rows=${methodFacts()} />
      <${Table} label="Cast" cls="tight" columns=${CAST_COLUMNS} rows=${castRows} /></div>
    ${promptRows.length > 0 && digests}<${Downloads} /></${Section}>`;
}

function methodFacts() {
  const { settings, run, methods } = summary;
  const { pairing, swap } = methods.run ?? {};
  const level = percent(settings.level);
  const seats = swap === "all" ? "every battle" : known(swap, (x) => `${percent(x)} of battles`);
  return [
    ["Ratings", `${titled(settings.model)}, ties ${settings.ties}, ${settings.interval}, ${level}`],
    ["Frames", samplingSays(methods.sampling)],
    ["Pairing", pairing ? `${pairing}; ${seats} judged in both orders` : "not recorded"],
    ["Seed", `${run.seed ?? "not recorded"}`],
    ["Version", `videoautoarena ${run.version ?? methods.run?.version ?? ""}`],
  ];
}

function samplingSays(sampling) {
  if (!sampling) return "not recorded";
  const { frames, policy, size_px: size, fit, quality, decoder } = sampling;
  return (
    `at most ${frames} a video, ${policy}, longer side ${size} px, ${fit}, JPEG ${quality}, ` +
    `${decoder}`
  );
}
