// Groups of the platform know each other by their index.ts only, rooms of a group likewise, and never in a cycle; types count too.
import { findImports } from "./imports.ts";
import { type Problem, readSources, repositoryRoot } from "./tree.ts";

const home = "packages/platform/src/";

/** The composition root and the commands: they may load a single room of a group. */
const program = "the program";

/** Imports no other group. */
const foundation = "foundation";

interface Position {
  group: string;
  /** Of the group; "" for files directly in it. */
  room: string;
  /** Below the group. */
  file: string;
}

interface Step {
  where: string;
  from: Position;
  to: Position;
}

export function findFolderProblems(root = repositoryRoot): Problem[] {
  const sources = readSources(root, /\.ts$/).filter(({ path }) => path.startsWith(home));
  const paths = new Set(sources.map(({ path }) => path));
  const steps = sources
    .flatMap(({ path, text }) =>
      findImports(text)
        .filter(({ specifier }) => specifier.startsWith("."))
        .map(({ specifier, line }) => stepOf(path, specifier, `${path}:${line}`)),
    )
    .filter((step) => step !== null);
  return [...steps.flatMap((step) => judge(step, paths)), ...findFolderCycles(steps)];
}

function stepOf(path: string, specifier: string, where: string): Step | null {
  const target = new URL(specifier, `file:///${path}`).pathname.slice(1);
  if (!target.startsWith(home)) return null;
  return { where, from: positionOf(path), to: positionOf(target) };
}

function positionOf(path: string): Position {
  const [first = "", ...rest] = path.slice(home.length).split("/");
  if (rest.length === 0 || first === "commands") return { group: program, room: "", file: path.slice(home.length) };
  return { group: first, room: rest.length > 1 ? (rest[0] ?? "") : "", file: rest.join("/") };
}

function judge({ where, from, to }: Step, paths: Set<string>): Problem[] {
  if (from.group === to.group) return judgeWithin({ where, from, to }, paths);
  if (to.group === program) return [`${where}: ${from.group} must not import ${to.file} of the program.`];
  if (from.group === foundation)
    return [`${where}: ${foundation} must not import ${to.group}; it imports no other group.`];
  const entries =
    from.group === program ? ["index.ts", `${to.room}/index.ts`, to.room === "" ? to.file : ""] : ["index.ts"];
  if (entries.includes(to.file)) return [];
  return [`${where}: ${from.group} must not import ${to.group}/${to.file}; import ${to.group}/index.ts.`];
}

function judgeWithin({ where, from, to }: Step, paths: Set<string>): Problem[] {
  const entry = `${to.group}/${to.room}/index.ts`;
  const isClosed = to.room !== "" && to.room !== from.room && paths.has(home + entry);
  if (!isClosed || to.file === `${to.room}/index.ts`) return [];
  return [`${where}: ${from.group}/${from.room || from.file} must not import ${to.group}/${to.file}; import ${entry}.`];
}

function findFolderCycles(steps: Step[]): Problem[] {
  const between = steps
    .filter(({ from, to }) => from.group !== to.group && from.group !== program)
    .map(({ from, to }) => ({ from: from.group, to: to.group }));
  const within = steps
    .filter(({ from, to }) => from.group === to.group && from.room !== to.room && from.room !== "" && to.room !== "")
    .map(({ from, to }) => ({ from: `${from.group}/${from.room}`, to: `${to.group}/${to.room}` }));
  return findCycles([...between, ...within]).map((path) => `These folders import each other: ${path.join(" → ")}.`);
}

/** Each once, however many folders of it one begins at. */
function findCycles(edges: { from: string; to: string }[]): string[][] {
  const targetsOf = (folder: string) => new Set(edges.filter(({ from }) => from === folder).map(({ to }) => to));
  const folders = [...new Set(edges.map(({ from }) => from))].sort();
  const cycles = folders.map((folder) => pathBack(folder, targetsOf)).filter((path) => path !== null);
  return [...new Map(cycles.reverse().map((path) => [[...new Set(path)].sort().join(), path])).values()];
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
