/* The report of a set of dialogues: its parts in order. */
const SECTIONS = [
  ["board", "Scores"],
  ["abilities", "By ability"],
  ["parts", "Turns, length, scenes"],
  ["history", "History"],
  ["dialogues", "Dialogues"],
  ["methods", "Methods"],
];

const DialogueReport = () =>
  html`<${SetPage} sections=${SECTIONS}>
    <${SetOpening} what="dialogue" /><${BoardSection} /><${AbilitiesSection} /><${PartsSection} />
    <${HistorySection} /><${DialoguesSection} />
    <${MethodsSection} sources=${["arena bench score --json", "arena bench compare --json"]}
      what="dialogue" extra="marking replies costs extra" /></${SetPage}>`;

startSet(DialogueReport);
