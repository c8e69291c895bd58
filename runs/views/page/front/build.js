/* Makes of the modules in `app/` and the styles in `style/` what pages are made of: `dist/` gets a
   script and a stylesheet a page, and the digests of all that was read and written. Another folder to
   write to may be named. */

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { build } from "esbuild";

const PAGES = ["report", "annotate", "set"];
const MADE = "dist";
const to = resolve(process.argv[2] ?? join(import.meta.dirname, MADE));

process.chdir(import.meta.dirname);
const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
const { metafile, outputFiles } = await build({
  entryPoints: PAGES.map((page) => `app/${page}.js`),
  outdir: MADE,
  bundle: true,
  charset: "utf8",
  format: "iife",
  metafile: true,
  minify: true,
  target: ["chrome111", "firefox113", "safari16.4"],
  write: false,
});

/* The head of a script: the libraries of others in it, who made them, and that it is strict. */
function headOf(path) {
  const inputs = Object.keys(metafile.outputs[path].inputs);
  const found = inputs.map((input) => /^node_modules\/([^/]+)/.exec(input)?.[1]).filter(Boolean);
  const credits = [...new Set(found)].sort().map((name) => {
    const { version, license } = packages[`node_modules/${name}`];
    const rights = readFileSync(`licences/${name}.txt`, "utf8").match(/^ *Copyright .*\d{4}.*$/gm);
    return `${name} ${version}, ${license}: ${rights.map((line) => line.trim()).join("; ")}`;
  });
  return `/* ${credits.join("\n   ")} */\n"use strict";\n`;
}

const sha256 = (content) => createHash("sha256").update(content).digest("hex");
const digests = new Map();
for (const folder of ["app", "licences", "style"]) {
  for (const name of readdirSync(folder)) {
    digests.set(`${folder}/${name}`, sha256(readFileSync(`${folder}/${name}`)));
  }
}
for (const path of ["build.js", "package-lock.json"]) digests.set(path, sha256(readFileSync(path)));

rmSync(to, { recursive: true, force: true });
mkdirSync(to);
for (const { path, text } of outputFiles) {
  const name = basename(path);
  const content = (name.endsWith(".js") ? headOf(`${MADE}/${name}`) : "") + text;
  writeFileSync(join(to, name), content);
  digests.set(`${MADE}/${name}`, sha256(content));
}
const lines = [...digests.keys()].sort().map((path) => `${digests.get(path)}  ${path}\n`);
writeFileSync(join(to, "SHA256SUMS"), lines.join(""));
