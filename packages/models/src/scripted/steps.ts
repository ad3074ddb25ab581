// Executes steps through tool calls and reports their results. Stops at the first step that fails.
import { checklistText } from "./documents.ts";
import type { Step } from "./forms.ts";
import { type Instruction, readInstructions, readProcedure } from "./instructions.ts";
import { addFile, appendLines, changeLines, deleteFile, moveFile, replaceFile, replacementsIn } from "./patches.ts";
import { repairFailingTest } from "./repair.ts";
import type { CommandResult } from "./results.ts";
import {
  applyPatch,
  block,
  code,
  commentOnPull,
  done,
  failed,
  type Report,
  readLines,
  runCommand,
  type Script,
} from "./script.ts";

/** What the conversation has besides the prompt. */
export interface PracticeEnvironment {
  /** Text of each skill by name. */
  skills: Map<string, string>;
  cwd: string | undefined;
}

/** The progress of the work. The current step is the first of `remaining` until it is reported. */
export interface Work {
  reports: Report[];
  remaining: Instruction[];
}

export function* executeSteps({ reports, remaining }: Work, environment: PracticeEnvironment): Script<void> {
  for (let next = remaining[0]; next !== undefined && !hasEnded(reports); next = remaining[0]) {
    const found = yield* perform(next, environment, reports);
    reports.push(found.report);
    remaining.splice(0, 1, ...found.replacements);
  }
}

/** No step is attempted after one that failed or stopped the work. */
export const hasEnded = (reports: Report[]): boolean =>
  reports.some(({ outcome }) => outcome === "failed" || outcome === "stopped");

/** A report, and the steps that replace a step such as "implement the first step in FILE". */
interface Performed {
  report: Report;
  replacements: Instruction[];
}

function* perform(instruction: Instruction, environment: PracticeEnvironment, earlier: Report[]): Script<Performed> {
  if (instruction.step.kind === "take-step") return yield* startOpenStep(instruction.step.path);
  return { report: yield* performStep(instruction, environment, earlier), replacements: [] };
}

/** Replaces a skill with its numbered steps. */
export function withSkillSteps(instruction: Instruction, environment: PracticeEnvironment): Instruction[] {
  const { step } = instruction;
  const text = step.kind === "skill" ? environment.skills.get(step.name) : undefined;
  if (step.kind !== "skill" || text === undefined) return [instruction];
  return readProcedure(text).flatMap((line) => readableOrWhole(line).map((found) => withTopic(found, step.topic)));
}

/** The readable pieces of a line, or the line as one unclear piece. A skill inside a skill is not followed. */
function readableOrWhole(line: string): Instruction[] {
  const pieces = readInstructions(line).filter((piece) => piece.step.kind !== "unclear" && piece.step.kind !== "skill");
  return pieces.length > 0 ? pieces : [{ text: line, step: { kind: "unclear" } }];
}

const withTopic = (found: Instruction, topic: string): Instruction =>
  found.step.kind === "checklist" && found.step.items.length === 0
    ? { ...found, step: { ...found.step, items: tasksOf(topic) } }
    : found;

/** One item per instruction, if all of them are readable. */
function tasksOf(topic: string): string[] {
  const pieces = readInstructions(topic);
  if (pieces.length > 1 && pieces.every(({ step }) => step.kind !== "unclear")) return pieces.map(({ text }) => text);
  return topic === "" ? [] : [topic.replace(/\s+/g, " ")];
}

function* startOpenStep(path: string): Script<Performed> {
  const file = yield* readLines(path);
  if (file.kind === "refused") return { report: unreadable(path, file.reason), replacements: [] };
  const line = file.lines.find((candidate) => candidate.includes("- [ ]"));
  if (line === undefined)
    return { report: failed(`There is no open step (\`- [ ]\`) in ${code(path)}.`), replacements: [] };
  const task = line.replace(/^.*?- \[ \]\s*/, "");
  const steps = readableOrWhole(task);
  const isFollowable = steps.every(({ step }) => step.kind !== "unclear" && step.kind !== "take-step");
  if (isFollowable) return { report: done(`Took the open step ${code(task)} of ${code(path)}.`), replacements: steps };
  return {
    report: failed(`The open step ${code(task)} of ${code(path)} is not a form I understand.`),
    replacements: [],
  };
}

function* performStep(
  { text, step }: Instruction,
  environment: PracticeEnvironment,
  earlier: Report[],
): Script<Report> {
  switch (step.kind) {
    case "create":
      return yield* create(step.path, step.text);
    case "checklist":
      return yield* create(step.path, checklistText(step.path, step.items));
    case "append":
      return yield* append(step);
    case "replace":
      return yield* replace(step);
    case "delete":
      return yield* patchFile(deleteFile(step.path), `deleting ${code(step.path)}`, `Deleted ${code(step.path)}.`);
    case "move":
      return yield* move(step);
    case "read":
      return yield* show(step.path);
    case "run":
      return yield* run(step.command);
    case "comment":
      return yield* comment(step, earlier);
    case "repair":
      return yield* repairFailingTest(environment.cwd);
    case "stop-if":
      return yield* stopIf(step);
    case "stop-unclear":
      return { outcome: "stopped", text: `Not a condition I understand, so I did not go on: ${code(text)}.` };
    case "commit":
      return yield* run(`git add -A && git commit -m ${shellQuoted(step.message)}`);
    case "commit-step":
      return yield* run(`git add -A && git commit -m ${shellQuoted(lastTickedStep(earlier))}`);
    case "skill":
      return { outcome: "skipped", text: `There is no skill ${code(step.name)} in this conversation.` };
    case "take-step":
    case "unclear":
      return { outcome: "skipped", text: `Not a form I understand: ${code(text)}.` };
  }
}

type StepOf<Kind extends Step["kind"]> = Extract<Step, { kind: Kind }>;

function* append(step: StepOf<"append">): Script<Report> {
  const file = yield* readLines(step.path);
  if (file.kind === "refused") return unreadable(step.path, file.reason);
  const last = file.lines.at(-1);
  const patch = appendLines(step.path, last, step.text);
  return yield* patchFile(patch, `appending to ${code(step.path)}`, `Appended to ${code(step.path)}.`);
}

function* replace(step: StepOf<"replace">): Script<Report> {
  const file = yield* readLines(step.path);
  if (file.kind === "refused") return unreadable(step.path, file.reason);
  const changes = replacementsIn(file.lines, step.from, step.to, step.which);
  const [first] = changes;
  if (first === undefined)
    return failed(`${code(step.path)} does not contain ${code(step.from)}; nothing was changed.`);
  if (step.from === step.to) return done(`${code(step.path)} already says ${code(step.to)}.`);
  const lines = changes.length === 1 ? code(first.after.join("\n")) : `${code(step.to)} in ${changes.length} places`;
  return yield* patchFile(
    changeLines(step.path, changes),
    `changing ${code(step.path)}`,
    `${code(step.path)} now says ${lines}.`,
  );
}

function* create(path: string, text: string): Script<Report> {
  const doing = `creating ${code(path)}`;
  const added = yield* applyPatch(addFile(path, text), doing);
  if (added.kind === "applied") return done(`Created ${code(path)}.`);
  if (!added.reason.includes("it exists already")) return failed(`${doing} was not possible:\n${block(added.reason)}`);
  return yield* patchFile(replaceFile(path, text), doing, `Created ${code(path)}.`);
}

function* move({ path, to }: StepOf<"move">): Script<Report> {
  const files = `${code(path)} to ${code(to)}`;
  return yield* patchFile(moveFile(path, to), `moving ${files}`, `Moved ${files}.`);
}

function* patchFile(patch: string, doing: string, did: string): Script<Report> {
  const result = yield* applyPatch(patch, doing);
  return result.kind === "applied" ? done(did) : failed(`${doing} was not possible:\n${block(result.reason)}`);
}

function* show(path: string): Script<Report> {
  const file = yield* readLines(path);
  return file.kind === "refused"
    ? unreadable(path, file.reason)
    : done(`Read ${code(path)}:\n${block(file.lines.join("\n"))}`);
}

function* run(command: string): Script<Report> {
  return reportCommand(command, yield* runCommand(command));
}

function* stopIf(step: StepOf<"stop-if">): Script<Report> {
  const file = yield* readLines(step.path);
  // Whether to go on is not known, so the remaining steps are not taken.
  if (file.kind === "refused")
    return { outcome: "stopped", text: `${code(step.path)} could not be read:\n${block(file.reason)}` };
  const isContained = step.text.split(/\s+or\s+/i).some((text) => contains(file.lines.join("\n"), text));
  if (isContained) return { outcome: "stopped", text: `${code(step.path)} says ${code(step.text)}.` };
  return done(`Went on: ${code(step.path)} does not say ${code(step.text)}.`);
}

/** Whatever the case of its letters; a single word only as a whole one. */
function contains(content: string, text: string): boolean {
  const [within, wanted] = [content.toLowerCase(), text.toLowerCase()];
  return /^[\w-]+$/.test(wanted) ? within.split(/[^\w-]+/).includes(wanted) : within.includes(wanted);
}

function reportCommand(command: string, result: CommandResult): Report {
  if (result.kind === "refused") return failed(`${code(command)} did not finish:\n${block(result.reason)}`);
  const output = result.output.trim() === "" ? " It printed nothing." : `\n${block(result.output)}`;
  if (result.kind === "running") return failed(`${code(command)} is still running.${output}`);
  if (result.exitCode !== 0) return failed(`${code(command)} failed with exit code ${result.exitCode}.${output}`);
  return done(`Ran ${code(command)}: exit code 0.${output}`);
}

const unreadable = (path: string, reason: string): Report => failed(`Could not read ${code(path)}:\n${block(reason)}`);

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function lastTickedStep(earlier: Report[]): string {
  const ticked = earlier
    .map((report) => / says `+ ?- \[x\] (.*?) ?`+\.$/m.exec(report.text)?.[1])
    .filter((task) => task !== undefined);
  return ticked.at(-1) ?? "Complete the steps of the practice model";
}

function* comment({ pullRequest, text }: Extract<Step, { kind: "comment" }>, earlier: Report[]): Script<Report> {
  const bullets = earlier.map((report) => `- ${report.text.split("\n")[0]}`);
  const body = text ?? ["What I did:", "", ...bullets].join("\n");
  const answer = yield* commentOnPull(pullRequest, body);
  return answer.includes("Commented on pull request")
    ? done(`Commented on pull request ${pullRequest}.`)
    : failed(`Could not comment on pull request ${pullRequest}: ${answer}`);
}
