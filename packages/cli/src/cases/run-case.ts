// Runs one test case: the real engine in a copy of the project, with the replies of the case.
import { join } from "node:path";
import { exitNameOf } from "@agentcli/command-line";
import type { StoredRecord } from "@agentcli/engine";
import { callbacksFor, type Reporter, type RunContext, type RunOptions, type Tape } from "@agentcli/host";
import { describeDifference, failingModel, openPlayer, readCassette } from "@agentcli/host/cassette";
import { type FileStore, newId, openMemoryStore } from "@agentcli/host/sessions";
import type { Part } from "@agentcli/protocol";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { executePrompt } from "../exec/execute-prompt.ts";
import { openRun } from "../exec/run.ts";
import type { Program } from "../program.ts";
import type { Case } from "./case.ts";
import { type CaseFacts, factsOf, type Threads } from "./facts.ts";
import { projectFacts } from "./project-facts.ts";
import type { ProjectCopy, Scratch } from "./scratch.ts";
import { scriptedModel } from "./scripted-model.ts";

export interface CaseResult {
  case: Case;
  /** Empty: it passed. */
  failures: { line: number; message: string }[];
  durationMs: number;
  /** Null if the run could not begin. */
  facts: CaseFacts | null;
}

export interface CaseRunner {
  scratch: Scratch;
  /** With the environment that the run sees; its working directory is replaced. */
  program: Program;
  options: RunOptions;
  hooks: "sandboxed" | "as-trusted";
  /** `live`: the one of the options is asked, whatever the case has as replies. */
  model: "scripted" | "live";
}

/** Throws what is wrong with this program; for a live model also what keeps every run from beginning. */
export async function runCase(one: Case, runner: CaseRunner): Promise<CaseResult> {
  const startedAt = performance.now();
  const copy = runner.scratch.copy(one.files);
  try {
    const replies = runner.model === "live" ? liveReplies(one) : openReplies(one);
    const run = await runIn(one, { ...runner, copy, replies });
    const failures = [...(await check(one, run.facts)), ...replies.problems(run.facts)];
    return { case: one, failures, durationMs: performance.now() - startedAt, facts: run.facts };
  } catch (error) {
    if (exitNameOf(error) === null || runner.model === "live") throw error;
    const failures = [{ line: one.line, message: (error as Error).message }];
    return { case: one, failures, durationMs: performance.now() - startedAt, facts: null };
  } finally {
    await copy.remove();
  }
}

async function check(one: Case, facts: CaseFacts): Promise<CaseResult["failures"]> {
  const failures: CaseResult["failures"] = [];
  for (const { name, line, check: checkOne } of one.expectations) {
    const found = await checkOne(facts);
    if (found !== null) failures.push({ line, message: `${name}: ${found}` });
  }
  return failures;
}

interface Replies {
  prompt: string;
  /** Absent: a real model is asked. */
  openModel?: Tape["openModel"];
  /** The thread of a sub-agent has its role from its first record. */
  threads: Threads;
  problems(facts: CaseFacts): CaseResult["failures"];
}

function openReplies({ replies, prompt = "", line }: Case): Replies {
  const threads: Threads = new Map();
  if (replies.kind === "none") return { prompt, threads, problems: () => [] };
  if (replies.kind === "cassette") return { threads, ...fromCassette(replies.path, prompt), problems: () => [] };
  const model = scriptedModel(replies, (threadId) => roleOf(threads.get(threadId)));
  return {
    prompt,
    threads,
    openModel: async () => model,
    // Where the run failed, that is what has to be read.
    problems: ({ error }) => {
      const mismatch = model.mismatch();
      if (mismatch === null) return [];
      const isWhole = error === null || error.includes(mismatch);
      return [{ line, message: isWhole ? mismatch : `${mismatch}. The run ended with: ${error}` }];
    },
  };
}

function liveReplies({ replies, prompt }: Case): Replies {
  const recorded = () => (replies.kind === "cassette" ? fromCassette(replies.path, "").prompt : "");
  return { prompt: prompt ?? recorded(), threads: new Map(), problems: () => [] };
}

function roleOf(records: StoredRecord[] | undefined): string | null {
  const created = records?.[0]?.record;
  return created?.type === "thread.created" && created.parentId ? (created.role ?? null) : null;
}

function fromCassette(path: string, prompt: string): Pick<Replies, "prompt" | "openModel"> {
  const cassette = readCassette(path);
  const begun = cassette.batches.flatMap(({ records }) => records).find(({ record }) => record.type === "turn.begun");
  const recorded = begun?.record.type === "turn.begun" ? begun.record.input : [];
  const player = openPlayer({
    cassette,
    compare: "prompts",
    async onDifference(difference) {
      return failingModel("protocol", `${path}: ${describeDifference(difference)}. Record it again.`);
    },
  });
  const texts = recorded.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return { prompt: prompt || texts.join("\n"), openModel: async () => player };
}

interface Running extends CaseRunner {
  copy: ProjectCopy;
  replies: Replies;
}

async function runIn(one: Case, running: Running): Promise<{ facts: CaseFacts }> {
  const { copy, replies, options, hooks } = running;
  const directory = one.directory === undefined ? copy.root : join(copy.root, one.directory);
  const program = quiet({ ...running.program, environment: { ...running.program.environment, cwd: directory } });
  const runOptions: RunOptions = {
    ...options,
    directory,
    ...(one.sandbox && { sandbox: one.sandbox }),
    budget: [...options.budget, ...one.budget],
  };
  const { threads, prompt, openModel } = replies;
  const tape: Tape = {
    store: (store) => recording(store, threads),
    openModel: openModel ?? ((open) => open()),
    servers: "started",
  };
  const context = { store: openMemoryStore(), recorded: null, callbacks: callbacksFor(program.reporter), tape, hooks };
  const end = await execute({ text: prompt, options: runOptions }, program, context).catch(
    running.model === "live" ? rethrow : asEnd,
  );
  const { started, ...facts } = factsOf(threads);
  const { rules, offered } = await projectFacts(runOptions, program, facts.calls);
  return {
    facts: {
      ...facts,
      // Where the copy is means nothing to a reader.
      hooks: facts.hooks.map((row) => ({ ...row, hook: (row.hook ?? "").replace(`${copy.root}/`, "") })),
      ...end,
      error: end.error ?? facts.error,
      rules,
      agents: { offered, started },
      touched: copy.touched(),
      readFile: copy.readFile,
    },
  };
}

type RunEnd = Pick<CaseFacts, "exit" | "error">;

async function execute(
  { text, options }: { text: string; options: RunOptions },
  program: Program,
  context: RunContext,
): Promise<RunEnd> {
  const run = await openRun(options, program, context);
  try {
    const input: Part[] = [{ type: "text", text }];
    return { exit: await executePrompt(input, run, { threadId: newId(Date.now()) }), error: null };
  } finally {
    await run.close();
  }
}

/** What stops a run before its first record is a result too: an exit code and a sentence. */
function asEnd(error: unknown): RunEnd {
  const exit = exitNameOf(error);
  if (exit === null) throw error;
  return { exit: exitCodes[exit].code, error: (error as Error).message };
}

const rethrow = (error: unknown): never => {
  throw error;
};

const recording = (store: FileStore, threads: Threads): FileStore => ({
  ...store,
  async append(threadId, after, records) {
    const stored = await store.append(threadId, after, records);
    threads.set(threadId, [...(threads.get(threadId) ?? []), ...stored]);
    return stored;
  },
});

const silent: Reporter = {
  recall() {},
  async show() {},
  async finish() {},
  async fail() {},
  log() {},
};

const quiet = (program: Program): Program => ({ ...program, reporter: silent });
