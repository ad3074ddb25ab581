// Fixes a failing test the plain way: read what failed, look at the function it calls, try one small change at a time.
import { changeLines } from "./patches.ts";
import type { CommandResult } from "./results.ts";
import { applyPatch, block, code, done, failed, type Report, readLines, runCommand, type Script } from "./script.ts";

export function* repairFailingTest(cwd: string | undefined): Script<Report> {
  const before = yield* runCommand(testCommand);
  if (before.kind !== "exited") return failed(`${code(testCommand)} did not run to its end:\n${block(textOf(before))}`);
  if (before.exitCode === 0)
    return done(`${code(testCommand)} already passes (${tally(before.output)}); nothing to fix.`);
  const failure = readFailure(before.output, cwd);
  if (!failure)
    return failed(`No failing test can be made out in what ${code(testCommand)} printed:\n${block(before.output)}`);
  const test = yield* readLines(failure.testPath);
  if (test.kind === "refused") return failed(`Could not read ${code(failure.testPath)}:\n${block(test.reason)}`);
  const subject = findSubject(test.lines, failure);
  if (!subject)
    return failed(`The failing test in ${code(failure.testPath)} calls nothing that it imports from a file.`);
  const source = yield* readLines(subject.path);
  if (source.kind === "refused") return failed(`Could not read ${code(subject.path)}:\n${block(source.reason)}`);
  return yield* tryChanges(subject.path, findChanges(source.lines, subject.names, failure.wanted), before.output);
}

interface Failure {
  testPath: string;
  line: number;
  /** Whether the test wants more than it got: a longer list, a larger number. */
  wanted: "more" | "less" | "other";
}

interface Change {
  lineNumber: number;
  before: string;
  after: string;
  effect: Failure["wanted"];
}

const testCommand = "npm test";
const mostChanges = 8;

function* tryChanges(path: string, changes: Change[], firstOutput: string): Script<Report> {
  let output = firstOutput;
  for (const change of changes) {
    const applied = yield* applyPatch(
      changeLines(path, [{ before: [change.before], after: [change.after] }]),
      `changing line ${change.lineNumber} of ${code(path)}`,
    );
    if (applied.kind === "refused") return failed(`Could not change ${code(path)}:\n${block(applied.reason)}`);
    const tested = yield* runCommand(testCommand);
    if (tested.kind === "exited" && tested.exitCode === 0) return done(describeFix(path, change, tested.output));
    output = textOf(tested);
    const undone = yield* applyPatch(
      changeLines(path, [{ before: [change.after], after: [change.before] }]),
      `taking the change of ${code(path)} back`,
    );
    if (undone.kind === "refused")
      return failed(`Could not take a change of ${code(path)} back:\n${block(undone.reason)}`);
  }
  const tried = `${changes.length} small ${changes.length === 1 ? "change" : "changes"}`;
  return failed(`Tried ${tried} in ${code(path)}; the test still fails and the file is as it was.\n${block(output)}`);
}

const describeFix = (path: string, change: Change, output: string): string =>
  [
    `Fixed the failing test: line ${change.lineNumber} of ${code(path)} was ${code(change.before.trim())}`,
    `and is now ${code(change.after.trim())}. ${code(testCommand)} passes: ${tally(output)}.`,
  ].join(" ");

/** What the test runner itself counted. */
function tally(output: string): string {
  const counts = ["tests", "pass", "fail"].map((word) => new RegExp(`^\\S+ (${word} \\d+)`, "m").exec(output)?.[1]);
  const found = counts.filter((count) => count !== undefined);
  return found.length > 0 ? found.join(", ") : "exit code 0";
}

const textOf = (result: CommandResult): string => (result.kind === "refused" ? result.reason : result.output);

function readFailure(output: string, cwd: string | undefined): Failure | undefined {
  const failing = output.slice(Math.max(0, output.search(/^\s*(?:not ok|✖)/m)));
  const place = quotedPlace.exec(failing) ?? barePlace.exec(failing);
  if (!place?.[1]) return undefined;
  const path = place[1].replace(/^\/\/(?=\/)/, "");
  const testPath = cwd && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
  return { testPath, line: Number(place[2]), wanted: readWanted(failing) };
}

const quotedPlace = /location: '([^'\n]+\.(?:test|spec)\.[cm]?[jt]sx?):(\d+)/;
const barePlace = /([\w.@~/-]+\.(?:test|spec)\.[cm]?[jt]sx?):(\d+)/;

/** From the assertion's own words: `2 !== 3` names actual and expected, a diff marks what is missing with `-`. */
function readWanted(output: string): Failure["wanted"] {
  const numbers = /^\s*(-?\d+(?:\.\d+)?) !== (-?\d+(?:\.\d+)?)\s*$/m.exec(output);
  if (numbers) return Number(numbers[1]) < Number(numbers[2]) ? "more" : "less";
  const diff = /\+ actual - expected\s*\n([\s\S]*?)\n\s*(?:code:|at )/.exec(output)?.[1] ?? "";
  const [extra, missing] = [/^\s*\+ /gm, /^\s*- /gm].map((mark) => (diff.match(mark) ?? []).length);
  if (extra === undefined || missing === undefined || extra === missing) return "other";
  return missing > extra ? "more" : "less";
}

/** The file under test and the names of it that the failing test calls. */
function findSubject(testLines: string[], failure: Failure): { path: string; names: string[] } | undefined {
  const rest = testLines.slice(failure.line - 1);
  const next = rest.findIndex((line, index) => index > 0 && /^\s*(?:test|it|describe)\(/.test(line));
  const body = rest.slice(0, next < 0 ? undefined : next).join("\n");
  for (const found of testLines.join("\n").matchAll(/import\s*\{([^}]*)\}\s*from\s*["'](\.[^"']+)["']/g)) {
    const names = (found[1] ?? "").split(",").map((name) => name.trim());
    const called = names.filter((name) => /^\w+$/.test(name) && new RegExp(`\\b${name}\\(`).test(body));
    if (called.length > 0) return { path: resolvePath(failure.testPath, found[2] ?? ""), names: called };
  }
  return undefined;
}

function resolvePath(from: string, relative: string): string {
  const parts = from.split("/").slice(0, -1);
  for (const part of relative.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** Small changes within the named functions: those that promise the wanted effect first, nearest to the return first. */
function findChanges(lines: string[], names: string[], wanted: Failure["wanted"]): Change[] {
  const numbers = names.flatMap((name) => linesOfFunction(lines, name)).reverse();
  const changes = numbers.flatMap((index) => changesOfLine(lines, index));
  const fitting = changes.filter((change) => change.effect === wanted);
  return [...fitting, ...changes.filter((change) => change.effect !== wanted)].slice(0, mostChanges);
}

function linesOfFunction(lines: string[], name: string): number[] {
  const start = lines.findIndex((line) =>
    new RegExp(`\\b(?:function\\s+${name}\\b|(?:const|let)\\s+${name}\\s*=)`).test(line),
  );
  if (start < 0) return [];
  const length = lines.slice(start).findIndex((line) => /^\}/.test(line));
  const last = length < 0 ? start : start + length;
  return Array.from({ length: last - start + 1 }, (_, offset) => start + offset);
}

/** Lines that occur twice, before or after the change, are left alone: a patch could not tell the two apart. */
function changesOfLine(lines: string[], index: number): Change[] {
  const before = lines[index] ?? "";
  if (lines.indexOf(before) !== lines.lastIndexOf(before)) return [];
  const changes = slips.flatMap(({ pattern, instead, effect }) =>
    [...before.matchAll(pattern)].map((match) => {
      const after = before.slice(0, match.index) + instead + before.slice(match.index + match[0].length);
      return { lineNumber: index + 1, before, after, effect };
    }),
  );
  return changes.filter((change) => !lines.includes(change.after));
}

/** The slips people make around boundaries, and what taking one back does to the result. */
const slips: { pattern: RegExp; instead: string; effect: Failure["wanted"] }[] = [
  { pattern: / - 1\b/g, instead: "", effect: "more" },
  { pattern: / \+ 1\b/g, instead: "", effect: "less" },
  { pattern: / < /g, instead: " <= ", effect: "more" },
  { pattern: / <= /g, instead: " < ", effect: "less" },
  { pattern: / > /g, instead: " >= ", effect: "more" },
  { pattern: / >= /g, instead: " > ", effect: "less" },
  { pattern: /\bMath\.floor\b/g, instead: "Math.ceil", effect: "more" },
  { pattern: /\bMath\.ceil\b/g, instead: "Math.floor", effect: "less" },
  { pattern: / - /g, instead: " + ", effect: "more" },
  { pattern: / \+ /g, instead: " - ", effect: "less" },
  { pattern: / !== /g, instead: " === ", effect: "other" },
  { pattern: / === /g, instead: " !== ", effect: "other" },
  { pattern: / && /g, instead: " || ", effect: "other" },
  { pattern: / \|\| /g, instead: " && ", effect: "other" },
];
