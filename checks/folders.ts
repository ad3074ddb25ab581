// Folders of the platform know each other by their index.ts only, and never in a circle; types count too.
import { findImports } from "./imports.ts";
import { type Problem, readSources, repositoryRoot } from "./tree.ts";

const home = "packages/platform/src/";

/** What puts the folders together: it may see every index.ts, and of it subjects may see what they are given. */
const composition = "the program";
const given = ["platform.ts", "version.ts"];

/** Folders below the subjects → what they may see. All other folders may see each other. */
export const foundations: Record<string, string[]> = {
  telemetry: [],
  config: [],
  db: ["telemetry"],
  vault: ["db"],
  principals: ["db", "vault"],
  sessions: ["db", "principals"],
  http: ["config", "db", "principals", "sessions", "telemetry"],
};

interface Step {
  where: string;
  from: string;
  to: string;
  /** Below the folder it leads to. */
  file: string;
}

export function findFolderTrouble(root = repositoryRoot): Problem[] {
  const steps = readSources(root, /\.ts$/)
    .filter(({ path }) => path.startsWith(home))
    .flatMap(({ path, text }) =>
      findImports(text)
        .filter(({ specifier }) => specifier.startsWith("."))
        .map(({ specifier, line }) => stepOf(path, specifier, `${path}:${line}`)),
    )
    .filter((step) => step !== null);
  return [...steps.flatMap(judge), ...findCircles(steps)];
}

function stepOf(path: string, specifier: string, where: string): Step | null {
  const target = new URL(specifier, `file:///${path}`).pathname.slice(1);
  if (!target.startsWith(home)) return null;
  const [from, to] = [folderOf(path), folderOf(target)];
  return from === to ? null : { where, from, to, file: target.slice(home.length).replace(`${to}/`, "") };
}

function folderOf(path: string): string {
  const [first = "", ...rest] = path.slice(home.length).split("/");
  return rest.length === 0 || first === "commands" ? composition : first;
}

function judge({ where, from, to, file }: Step): Problem[] {
  if (to === composition)
    return given.includes(file) && !(from in foundations)
      ? []
      : [`${where}: ${from} must not import ${file} of the program.`];
  if (file !== "index.ts") return [`${where}: ${from} must not import ${to}/${file}; ${to}/index.ts is the way in.`];
  const allowed = foundations[from];
  if (!allowed || allowed.includes(to)) return [];
  return [`${where}: ${from} must not import ${to}; it may import ${allowed.join(", ") || "no other folder"}.`];
}

function findCircles(steps: Step[]): Problem[] {
  const edges = steps.filter(({ from, to }) => from !== composition && to !== composition);
  const targetsOf = (folder: string) => new Set(edges.filter(({ from }) => from === folder).map(({ to }) => to));
  const folders = [...new Set(edges.map(({ from }) => from))].sort();
  const circles = folders.map((folder) => pathBack(folder, targetsOf)).filter((path) => path !== null);
  const distinct = new Map(circles.reverse().map((path) => [[...new Set(path)].sort().join(), path]));
  return [...distinct.values()].map((path) => `These folders import each other: ${path.join(" → ")}.`);
}

function pathBack(start: string, targetsOf: (folder: string) => Set<string>): string[] | null {
  const seen = new Set<string>();
  const paths = [[start]];
  for (let path = paths.shift(); path !== undefined; path = paths.shift())
    for (const next of targetsOf(path.at(-1) ?? "")) {
      if (next === start) return [...path, start];
      if (!seen.has(next)) paths.push([...path, next]);
      seen.add(next);
    }
  return null;
}
