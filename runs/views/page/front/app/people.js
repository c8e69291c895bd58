/* What people say: how far they agree with the judge and one another, and whose questions they
   like. Shown where people have labelled battles of the run. */

import { html } from "htm/preact";
import { Checks } from "./judge.js";
import { summary } from "./names.js";
import { isKnown } from "./numbers.js";
import { SentSection } from "./table.js";

export function People() {
  const { people } = summary.sections;
  if (!people) return null;
  const measured = summary.labels.findings.filter((one) => isKnown(one.value));
  const agreement = html`<h3>Agreement</h3><${Checks} label="Agreement" rows=${measured} />`;
  return html`<${SentSection} section=${people} around="panels two">
    ${measured.length > 0 && agreement}</${SentSection}>`;
}
