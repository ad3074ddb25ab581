// `agentcli review`: a change is collected, judged by the model with read-only tools, and reported as findings.
import type { Log } from "@agentcli/engine";
import { findingsOf, type ReviewAssignment, reviewTurn } from "@agentcli/engine/review";
import { callbacksFor, type RunOptions } from "@agentcli/host";
import { asReview } from "@agentcli/host/review-run";
import { type FileStore, openStore } from "@agentcli/host/sessions";
import type { Part } from "@agentcli/protocol";
import type { Invocation } from "../../command.ts";
import { runOptions } from "../../config/run-options.ts";
import { promptCleaner } from "../../exec/clean-prompt.ts";
import { execute } from "../../exec/execute.ts";
import { readImages } from "../../exec/images.ts";
import { readFollowUp } from "../../exec/prompt-input.ts";
import { openRun, type ProgramRun } from "../../exec/run.ts";
import { startThread } from "../../exec/start-thread.ts";
import type { Program } from "../../program.ts";
import { assign, maxBytesOfFile } from "../../review/assign.ts";
import { type CollectedChange, type CollectOptions, collectChange } from "../../review/collect.ts";
import { noTarget, type RequestedTarget, readTarget } from "../../review/target.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const target = readTarget(invocation);
  const instructions = await readInstructions(target, invocation, program);
  const options = reviewOptions(invocation, program);
  const images = readImages(options.images, program.environment.cwd);
  const store = openStore(options, program.environment.agentHome);
  try {
    return await judge({ target, instructions, images }, options, { program, store });
  } finally {
    store.close();
  }
}

interface Task {
  target: RequestedTarget;
  instructions: string;
  images: Part[];
}

async function judge(
  { target, instructions, images }: Task,
  options: RunOptions,
  { program, store }: { program: Program; store: FileStore },
): Promise<number> {
  const run = await openRun(options, program, { store, recorded: null, callbacks: callbacksFor(program.reporter) });
  try {
    const change = target.kind === "custom" ? null : await collectChange(target, collectOptions(run));
    if (change?.files.length !== 0) return await review(assign(change, instructions, run), images, run);
    // With a custom output schema only the model can report an empty result.
    if (options.outputSchemaFile === undefined) return await reportNothing(change, run);
    return await review(assignNothing(change, instructions), images, run);
  } finally {
    await run.close();
  }
}

const collectOptions = (run: ProgramRun): CollectOptions => ({
  directory: run.settings.cwd,
  program: run.program,
  maxBytes: maxBytesOfFile(run),
  onProgress: run.program.reporter.log,
});

async function review(assignment: ReviewAssignment, images: Part[], run: ProgramRun): Promise<number> {
  const { review, context, input } = reviewTurn(assignment);
  const opening = { context, input: [...images, ...input] };
  const coverage = review?.coverage ?? null;
  // A schema of the user's own: the final message is what it describes, and nothing can be added to it.
  if (run.options.outputSchemaFile !== undefined) {
    const log = await startThread(opening, run);
    if (coverage !== null) await log.write({ type: "noted", kind: "warning", data: { message: coverage } });
    return execute(log, run);
  }
  return executeReview(await startThread({ ...opening, review }, run), asReview(run, coverage), coverage);
}

/** No change, no question: the turn ends with its answer, and the model is not asked. */
async function reportNothing({ target, nothing }: CollectedChange, run: ProgramRun): Promise<number> {
  const { input } = reviewTurn({ target, instructions: "", change: null });
  const log = await startThread({ input, review: { coverage: null } }, run);
  const end = { status: "completed", message: `Nothing to review: ${nothing}` } as const;
  await log.write({ type: "turn.ended", turnId: log.state.turn?.turnId ?? "", end });
  return executeReview(log, run, null);
}

/** `-o` to a file for programs gets the findings; everything else gets the text. */
async function executeReview(log: Log, run: ProgramRun, coverage: string | null): Promise<number> {
  const { outputFile } = run.options;
  if (!outputFile?.endsWith(".json")) return execute(log, run);
  const code = await execute(log, { ...run, options: { ...run.options, outputFile: undefined } });
  if (log.state.end?.status === "completed") {
    const findings = JSON.stringify({ ...findingsOf(log.state), coverage }, null, 2);
    (await import("../../exec/output-file.ts")).keepMessage(outputFile, `${findings}\n`, run.program);
  }
  return code;
}

const assignNothing = ({ target, nothing }: CollectedChange, instructions: string): ReviewAssignment => ({
  target,
  instructions: `${instructions}\nThere is nothing to review: ${nothing} Say so in the required form.`.trimStart(),
  change: null,
});

// Config is not loaded yet: what is missing on the command line must be reported before anything else can fail.
const stdinLimitMs = 1_000;

/** With a target nothing more is needed, and standard input may belong to a loop around this program. */
async function readInstructions(
  target: RequestedTarget,
  { positionals, has }: Invocation,
  program: Program,
): Promise<string> {
  const [argument = null] = positionals;
  if (argument === null && target.kind !== "custom") return "";
  const { log: warn } = program.reporter;
  const clean = await promptCleaner(has("sanitize"), warn);
  const instructions = await readFollowUp({ argument, stdinLimitMs, warn, clean, signal: program.signal });
  if (target.kind === "custom" && !instructions?.trim()) throw noTarget();
  return instructions?.trim() ?? "";
}

/** A review changes nothing, whatever is configured. */
function reviewOptions(invocation: Invocation, { reporter }: Program): RunOptions {
  const options = runOptions(invocation);
  const isWider = options.fullAuto || options.bypass || (options.sandbox ?? "read-only") !== "read-only";
  if (isWider) reporter.log("warning: a review is always read-only; flags that allow more are ignored.");
  return { ...options, sandbox: "read-only", fullAuto: false, bypass: false, purpose: "review" };
}
