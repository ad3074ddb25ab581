// The table of security tests states what is true: each test exists, runs as the named users and has the named back ends.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Problem, repositoryRoot } from "./tree.ts";

const page = "docs/security-tests.md";
const items = Array.from({ length: 15 }, (_, index) => String(index + 1));

export function findSecurityTestProblems(root = repositoryRoot): Problem[] {
  const rows = readRows(readFileSync(join(root, page), "utf8"));
  const runAgain = new Set(listedFiles(readFileSync(join(root, "scripts/user-tests.mjs"), "utf8")));
  const files = new Set(rows.map(({ file }) => file));
  return [
    ...items
      .filter((item) => !rows.some((row) => row.item === item))
      .map((item) => `${page}: item ${item} has no test.`),
    ...[...runAgain]
      .filter((file) => !files.has(file))
      .map((file) => `${page}: ${file} runs as an ordinary user and is not in the table.`),
    ...rows.flatMap((row) => judge(row, { root, runAgain })),
  ];
}

interface Row {
  item: string;
  file: string;
  test: string;
  users: string;
  backEnds: string[];
}

const readRows = (text: string): Row[] =>
  text
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter((cells) => /^`.+`$/.test(cells[3] ?? ""))
    .map(([, item = "", , file = "", test = "", users = "", backEnds = ""]) => ({
      ...{ item, test, users },
      file: file.slice(1, -1),
      backEnds: backEnds.split(", ").filter(Boolean),
    }));

const listedFiles = (text: string): string[] =>
  text.match(/"[^"]+\.test\.ts"/g)?.map((name) => name.slice(1, -1)) ?? [];

function judge({ file, test, users, backEnds }: Row, context: { root: string; runAgain: Set<string> }): Problem[] {
  const path = join(context.root, file);
  if (!existsSync(path)) return [`${page}: there is no ${file}.`];
  const text = readFileSync(path, "utf8");
  const changesUser = /ordinary user|ordinaryUser|65534/.test(text);
  const isRunAsBoth = context.runAgain.has(file) || changesUser;
  const missing = backEnds.filter((name) => !(mentions[name] ?? /$^/).test(text));
  return [
    ...(text.includes(test) ? [] : [`${page}: ${file} has no test with "${test}" in its name.`]),
    ...(users === "both" && !isRunAsBoth ? [`${page}: ${file} does not run as an ordinary user.`] : []),
    ...(users === "root" && isRunAsBoth ? [`${page}: ${file} runs as both users; write both.`] : []),
    ...missing.map((name) => `${page}: ${file} names no ${name}.`),
  ];
}

/** Bubblewrap is the back end unless another is chosen. */
const mentions: Record<string, RegExp> = { bubblewrap: /./, Landlock: /landlock/i };
