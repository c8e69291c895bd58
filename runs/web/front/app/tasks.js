/* The report of a task set: its parts in order. */
const SECTIONS = [
  ["board", "Scores"],
  ["tasks", "By task"],
  ["positions", "Needles"],
  ["sweep", "Budget"],
];

function BoardPart({ board, place }) {
  const words = summary.words.boards[place];
  const given = { board, place, words };
  return html`<${BoardSection} ...${given} cautions=${summary.cautions[place]} />
    <${TasksSection} ...${given} /><${PositionsSection} ...${given} />
    <${SweepSection} ...${given} />`;
}

function TaskReport() {
  const boards = summary.scores.boards;
  const part = (board, place) => html`<${BoardPart} key=${place} board=${board} place=${place} />`;
  const ofBoards = boards.flatMap((board, place) =>
    SECTIONS.map(([id, name]) => [`${id}-${place}`, kickerOf(board, name)]),
  );
  const sections = [...ofBoards, ["probes", "Shortcuts"], ["methods", "Methods"]];
  return html`<${SetPage} sections=${sections}>
    <${SetOpening} what="item" />${boards.map(part)} <${ProbesSection} />
    <${MethodsSection} sources=${["arena bench score --json", "arena bench probe --json"]}
      what="item" extra="judging free text costs extra" /></${SetPage}>`;
}

startSet(TaskReport);
