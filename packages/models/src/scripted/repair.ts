// Fixes a failing test: reads the failure, finds the function under test, tries one small change at a time.
import { changeLines } from "./patches.ts";
import type { CommandResult } from "./results.ts";
import { applyPatch, block, code, done, failed, type Report, readLines, runCommand, type Script } from "./script.ts";

export function* repairFailingTest(cwd: string | undefined): Script<Report> {
  const before = yield* runCommand(testCommand);
  if (before.kind !== "exited") return failed(`${code(testCommand)} did not finish:\n${block(textOf(before))}`);
  if (before.exitCode === 0)
    return done(`${code(testCommand)} already passes (${tally(before.output)}); nothing to fix.`);
  const failure = readFailure(before.output, cwd);
  if (!failure) return failed(`No failing test found in the output of ${code(testCommand)}:\n${block(before.output)}`);
  const test = yield* readLines(failure.testPath);
  if (test.kind === "refused") return failed(`Could not read ${code(failure.testPath)}:\n${block(test.reason)}`);
  const subject = findSubject(test.lines, failure);
  if (!subject)
    return failed(`The failing test in ${code(failure.testPath)} calls nothing that it imports from a file.`);
  const source = yield* readLines(subject.path);
  if (source.kind === "refused") return failed(`Could not read ${code(subject.path)}:\n${block(source.reason)}`);
  return yield* tryChanges(subject.path, findChanges(source.lines, subject.names, failure.expected), before.output);
}

interface Failure {
  testPath: string;
  line: number;
  /** Whether the test expects more than it got: a longer list, a larger number. */
  expected: "more" | "less" | "other";
}

interface Change {
  lineNumber: number;
  before: string;
  after: string;
  effect: Failure["expected"];
}

const testCommand = "npm test";
const maxChanges = 8;

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

/** The counts of the test runner. */
function tally(output: string): string {
  const counts = ["tests", "pass", "fail"].map((word) => new RegExp(`^\\S+ (${word} \\d+)`, "m").exec(output)?.[1]);
  const found = counts.filter((count) => count !== undefined);
  return found.length > 0 ? found.join(", ") : "exit code 0";
}

const textOf = (result: CommandResult): string => (result.kind === "refused" ? result.reason : result.output);

function readFailure(output: string, cwd: string | undefined): Failure | undefined {
  const failing = output.slice(Math.max(0, output.search(/^\s*(?:not ok|✖)/m)));
  const location = quotedLocation.exec(failing) ?? bareLocation.exec(failing);
  if (!location?.[1]) return undefined;
  const path = location[1].replace(/^\/\/(?=\/)/, "");
  const testPath = cwd && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
  return { testPath, line: Number(location[2]), expected: readExpected(failing) };
}

const quotedLocation = /location: '([^'\n]+\.(?:test|spec)\.[cm]?[jt]sx?):(\d+)/;
const bareLocation = /([\w.@~/-]+\.(?:test|spec)\.[cm]?[jt]sx?):(\d+)/;

/** From the assertion: `2 !== 3` has actual and expected, a diff marks missing lines with `-`. */
function readExpected(output: string): Failure["expected"] {
  const numbers = /^\s*(-?\d+(?:\.\d+)?) !== (-?\d+(?:\.\d+)?)\s*$/m.exec(output);
  if (numbers) return Number(numbers[1]) < Number(numbers[2]) ? "more" : "less";
  const diff = /\+ actual - expected\s*\n([\s\S]*?)\n\s*(?:code:|at )/.exec(output)?.[1] ?? "";
  const [extra, missing] = [/^\s*\+ /gm, /^\s*- /gm].map((mark) => (diff.match(mark) ?? []).length);
  if (extra === undefined || missing === undefined || extra === missing) return "other";
  return missing > extra ? "more" : "less";
}

/** The file under test and the functions of it that the failing test calls. */
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

/** Small changes within the named functions: those with the expected effect first, nearest to the return first. */
function findChanges(lines: string[], names: string[], expected: Failure["expected"]): Change[] {
  const numbers = names.flatMap((name) => linesOfFunction(lines, name)).reverse();
  const changes = numbers.flatMap((index) => changesOfLine(lines, index));
  const fitting = changes.filter((change) => change.effect === expected);
  return [...fitting, ...changes.filter((change) => change.effect !== expected)].slice(0, maxChanges);
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

/** Skips lines that occur twice, before or after the change: a patch could not tell them apart. */
function changesOfLine(lines: string[], index: number): Change[] {
  const before = lines[index] ?? "";
  if (lines.indexOf(before) !== lines.lastIndexOf(before)) return [];
  const changes = commonMistakes.flatMap(({ pattern, replacement, effect }) =>
    [...before.matchAll(pattern)].map((match) => {
      const after = before.slice(0, match.index) + replacement + before.slice(match.index + match[0].length);
      return { lineNumber: index + 1, before, after, effect };
    }),
  );
  return changes.filter((change) => !lines.includes(change.after));
}

/** Common mistakes at boundaries, and the effect of fixing them on the result. */
const commonMistakes: { pattern: RegExp; replacement: string; effect: Failure["expected"] }[] = [
  { pattern: / - 1\b/g, replacement: "", effect: "more" },
  { pattern: / \+ 1\b/g, replacement: "", effect: "less" },
  { pattern: / < /g, replacement: " <= ", effect: "more" },
  { pattern: / <= /g, replacement: " < ", effect: "less" },
  { pattern: / > /g, replacement: " >= ", effect: "more" },
  { pattern: / >= /g, replacement: " > ", effect: "less" },
  { pattern: /\bMath\.floor\b/g, replacement: "Math.ceil", effect: "more" },
  { pattern: /\bMath\.ceil\b/g, replacement: "Math.floor", effect: "less" },
  { pattern: / - /g, replacement: " + ", effect: "more" },
  { pattern: / \+ /g, replacement: " - ", effect: "less" },
  { pattern: / !== /g, replacement: " === ", effect: "other" },
  { pattern: / === /g, replacement: " !== ", effect: "other" },
  { pattern: / && /g, replacement: " || ", effect: "other" },
  { pattern: / \|\| /g, replacement: " && ", effect: "other" },
];
