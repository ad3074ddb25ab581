// Everything one run needs, put together from settings, and the run itself.
import { writeFileSync } from "node:fs";
import {
  abandonTurn,
  builtInTools,
  type Dependencies,
  drive,
  type Log,
  lastTurn,
  openLog,
  type StoredRecord,
  type Surroundings,
  type ThreadState,
  type Tool,
} from "@agentcli/engine";
import { priceBook } from "@agentcli/models";
import { findHookFiles, type LoadedConfig } from "@agentcli/project";
import type {
  Config,
  HookDefinition,
  SandboxMode,
  SandboxReport,
  ThreadRecord,
  TurnEnd,
  TurnSettings,
} from "@agentcli/protocol";
import { exitCodes, exitOf } from "@agentcli/protocol/exit-codes";
import { findRepositoryRoot } from "@agentcli/workspace";
import { composeAgents } from "./agents.ts";
import { checkPrice, resolveBudget } from "./budget.ts";
import { openContext, type ProjectContext } from "./context.ts";
import { noteDenials } from "./denials.ts";
import { durationMs, longestTimerMs } from "./duration.ts";
import type { Environment } from "./environment.ts";
import { composeGuard } from "./guard.ts";
import type { ComposedHooks, HooksRequest } from "./hooks/compose.ts";
import type { Mcp } from "./mcp/compose.ts";
import { chooseModel } from "./model.ts";
import type { OutputSchema } from "./output-schema/load.ts";
import { Problem } from "./problem.ts";
import type { Program } from "./program.ts";
import type { RunOptions } from "./run-options.ts";
import { type FileStore, openFileStore, openMemoryStore } from "./sessions/store.ts";
import { compactAt, settle } from "./settings.ts";
import { composeWorkspace, type Place } from "./workspace.ts";

/** After this long the turn is over, for this reason. */
export interface TimedEnd {
  afterMs: number | null;
  code: "limit" | "budget";
  limit: string;
}

export interface Run {
  program: Program;
  options: RunOptions;
  settings: TurnSettings;
  /** Worth knowing, shown with the first things of the turn. */
  warnings: string[];
  /** Kept with a new thread: those it begins with. */
  hooks: HookDefinition[];
  surroundings: Surroundings;
  context: ProjectContext;
  sandbox: SandboxReport;
  tools: Tool[];
  /** Servers that are starting; joinServers takes their tools in. */
  mcp: Mcp | null;
  /** What is worth knowing about this run, for the log. */
  notes: ThreadRecord[];
  traits: { freeformTools: boolean };
  limits: { stdinMs: number | null; ends: TimedEnd[] };
  dependencies: Dependencies;
  /** The session file of a thread; null where none is kept. */
  sessionPath(threadId: string): string | null;
  openLog(state: ThreadState, emit: (stored: StoredRecord) => void | Promise<void>): Log;
  close(): Promise<void>;
}

/** An existing thread brings its store, which holds the writer's lock, and its settings. */
export interface Existing {
  store: FileStore;
  settings: TurnSettings | null;
  hooks: HookDefinition[];
}

// Over 60 lines because it is where a run is put together: every part is named once, in the order they need each other.
export async function openRun(options: RunOptions, program: Program, existing: Existing | null): Promise<Run> {
  const { environment } = program;
  const shape = await loadShape(options, environment.cwd);
  const { settings: settled, loaded, warnings } = await settle(options, environment, existing?.settings ?? null);
  const { config } = loaded;
  const chosen = options.local ? { ...settled, ...(await localModel(options, loaded, environment)) } : settled;
  if (!options.skipGitCheck && !findRepositoryRoot(chosen.cwd)) throw notARepository(chosen.cwd);
  const guard = await composeGuard({
    cwd: chosen.cwd,
    ignoreRules: options.ignoreRules,
    trust: () => (loaded.project.trusted ? "trusted" : "untrusted"),
    program,
  });
  const { model, facts } = await chooseModel(chosen, config, program);
  const price = priceBook(config.prices);
  const budget = resolveBudget(options.budget, config.budget, existing?.settings?.budget);
  checkPrice(budget, chosen.model, price);
  const onLimit = options.onLimit ?? existing?.settings?.onLimit;
  const settings = { ...chosen, budget, onLimit, compactAt: compactAt(config, facts.contextWindow) };
  const place = await composeWorkspace({ ...settings, sandboxMin: options.sandboxMin }, config, program);
  const store = existing?.store ?? (options.ephemeral ? openMemoryStore() : openFileStore(environment.agentHome));
  const { limits } = config;
  const contextWindow = config.model_context_window ?? facts.contextWindow;
  const context = openContext({
    root: loaded.project.root,
    cwd: settings.cwd,
    config,
    environment,
    contextWindow,
  });
  const written = existing ? nothingNew : context.forThread();
  const narrowed = narrowedPlaces((mode) => composeWorkspace({ ...settings, sandbox: mode }, config, program));
  const { family, tools: agents } = await composeAgents(config, {
    purpose: options.purpose,
    root: loaded.project.root,
    cwd: settings.cwd,
    store,
    program,
    warn: (message) => warnings.push(message),
    dependenciesFor: async ({ sandbox }) =>
      sandbox === settings.sandbox ? null : { ...run.dependencies, workspace: await narrowed.open(sandbox) },
  });
  const tools = [...builtInTools, ...agents];
  const mcp = await startServers(options, config, { settings, program });
  const hooks = await loadHooks({
    frozen: existing?.hooks ?? null,
    settings,
    loaded,
    options,
    program,
    transcriptPath: store.path,
  });
  const run: Run = {
    program,
    options,
    settings,
    warnings: [...warnings, ...written.warnings, ...hooks.warnings],
    context,
    hooks: hooks.frozen,
    surroundings: {
      ...today(),
      rules: written.rules,
      catalogues: written.catalogues,
      writableRoots: place.writableRoots,
      network: place.report.net === "on",
      allowedDomains: place.allowedDomains,
    },
    sandbox: place.report,
    tools,
    mcp,
    notes: [],
    traits: { freeformTools: facts.freeform },
    limits: {
      stdinMs: durationMs(limits.stdin),
      ends: [
        { afterMs: durationMs(limits.wall), code: "limit", limit: "wall" },
        { afterMs: budget?.wallMs ?? null, code: "budget", limit: "wall" },
      ],
    },
    dependencies: {
      model,
      workspace: place.workspace,
      tools,
      family,
      hooks: hooks.gate,
      guard,
      repository: context.repository,
      toolLimitMs: durationMs(limits.tool),
      outputTokens: config.tool_output_token_limit,
      price,
      wait,
      requestOptions: {
        reasoningSummary: config.model_reasoning_summary,
        verbosity: config.model_verbosity,
        outputSchema: shape?.strict,
      },
      answer: shape?.answer,
      onProgress: (progress) => progress.type === "calling" && place.workspace.warm(),
    },
    sessionPath: store.path,
    openLog(state, emit) {
      const log = openLog(state, { store, emit, scrub: program.scrub });
      place.listenForDenials(noteDenials(log));
      return log;
    },
    async close() {
      await family?.end();
      await hooks.close();
      await mcp?.servers.close();
      await narrowed.close();
      await place.workspace.close();
      if (!existing) store.close();
    },
  };
  return run;
}

/** Loaded only where servers are configured. A review looks at a change with what every thread has. */
const startServers = async (
  { purpose }: RunOptions,
  config: Config,
  { settings, program }: Pick<Run, "settings" | "program">,
): Promise<Mcp | null> =>
  config.mcp_servers && purpose !== "review"
    ? (await import("./mcp/compose.ts")).composeMcp(config, settings, program)
    : null;

/** Without hooks nothing of them is loaded. */
async function loadHooks(request: Omit<HooksRequest, "files">): Promise<ComposedHooks> {
  const { agentHome: home, systemDirectory } = request.program.environment;
  const { settings, loaded, frozen } = request;
  const files = findHookFiles({ home, systemDirectory, cwd: settings.cwd, loaded });
  if (files.length === 0 && !frozen?.length) return { gate: undefined, frozen: [], warnings: [], async close() {} };
  return (await import("./hooks/compose.ts")).composeHooks({ ...request, files });
}

/** Sub-agents with fewer rights work in a sandbox of their own, one for each mode. */
function narrowedPlaces(compose: (mode: SandboxMode) => Promise<Place>) {
  const places = new Map<SandboxMode, Promise<Place>>();
  return {
    async open(mode: SandboxMode) {
      const place = places.get(mode) ?? compose(mode);
      places.set(mode, place);
      return (await place).workspace;
    },
    async close() {
      for (const place of places.values()) await (await place).workspace.close();
    },
  };
}

/** The model server on this machine and the model it has. */
async function localModel(options: RunOptions, loaded: LoadedConfig, environment: Environment) {
  const { withLocalModel } = await import("./local-provider.ts");
  const { model = "", provider = "" } = await withLocalModel(options, loaded, environment);
  return { model, provider };
}

/** Loaded only when asked for: the checker of schemas is larger than the rest of the program. */
const loadShape = async ({ outputSchemaFile }: RunOptions, directory: string): Promise<OutputSchema | null> =>
  outputSchemaFile === undefined
    ? null
    : (await import("./output-schema/load.ts")).loadOutputSchema(outputSchemaFile, directory);

/** An existing thread keeps what it began with. */
const nothingNew = { rules: [], catalogues: [], warnings: [] };

/** Drives the thread to rest and answers with the exit code. */
export async function carryOut(given: Log, run: Run): Promise<number> {
  const { reporter } = run.program;
  const signal = withTimedEnds(run.program.signal, run.limits.ends);
  const log = lastTurn(given, run.dependencies, { signal, patienceMs: hookPatienceMs });
  await log.write(...run.notes, ...run.warnings.map(warningNote));
  const end = await driveToEnd(log, run, signal);
  if (end.status === "failed" && end.code === "budget") {
    const { keepPartialPatch } = await import("./partial-patch.ts");
    await keepPartialPatch(log.state, run);
  }
  if (end.status === "completed") {
    if (run.options.outputFile) keepMessage(run.options.outputFile, end.message, reporter.say);
    await reporter.finish(end.message);
  }
  return exitCode(end);
}

const hookPatienceMs = 3_000;

const warningNote = (message: string): ThreadRecord => ({ type: "noted", kind: "warning", data: { message } });

/** Whatever happens in the middle, a turn that was shown to begin is shown to end. */
async function driveToEnd(log: Log, run: Run, signal: AbortSignal): Promise<TurnEnd> {
  try {
    const { end } = await drive(log, run.dependencies, signal);
    if (end) return end;
    throw new Error(`thread ${log.state.threadId} rests without an end`);
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
    const end: TurnEnd = { status: "failed", code: name === "SandboxUnavailable" ? "sandbox" : "internal", message };
    await closeTurn(log, end, run);
    return end;
  }
}

async function closeTurn(log: Log, end: Exclude<TurnEnd, { status: "completed" }>, run: Run): Promise<void> {
  const records = abandonTurn(log.state, end);
  try {
    await log.write(...records);
  } catch {
    // The session cannot be written (a full disk, another writer): the turn stays open there and can be resumed.
    const at = new Date().toISOString();
    for (const record of records) await run.program.reporter.show({ seq: log.state.seq, at, record });
  }
}

function exitCode(end: TurnEnd): number {
  if (end.status === "completed") return exitCodes.completed.code;
  if (end.status === "failed" && end.code === "hook" && end.hook !== "managed") return exitCodes.failed.code;
  return exitCodes[end.status === "failed" ? exitOf[end.code] : "failed"].code;
}

function withTimedEnds(signal: AbortSignal, ends: TimedEnd[]): AbortSignal {
  const stop = new AbortController();
  for (const { afterMs, code, limit } of ends) {
    if (afterMs === null) continue;
    const message = `The run reached its ${limit} ${code} of ${afterMs} ms.`;
    setTimeout(() => stop.abort({ end: { status: "failed", code, message, limit } }), afterMs).unref();
  }
  if (signal.aborted) stop.abort(signal.reason);
  signal.addEventListener("abort", () => stop.abort(signal.reason), { once: true });
  return stop.signal;
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, longestTimerMs));
    signal.addEventListener("abort", done);
  });
}

/** The message is on standard output as well: a file that cannot be written is a pity, not a failure of the run. */
export function keepMessage(path: string, message: string, say: (line: string) => void): void {
  try {
    writeFileSync(path, message);
  } catch (error) {
    say(`warning: the final message could not be written to ${path}: ${(error as Error).message}`);
  }
}

function today(): { date: string; timezone: string } {
  const now = new Date();
  const two = (number: number) => String(number).padStart(2, "0");
  const offset = -now.getTimezoneOffset();
  const timezone = `UTC${offset < 0 ? "-" : "+"}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
  return { date: `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`, timezone };
}

const notARepository = (cwd: string): Problem =>
  new Problem(
    "usage",
    `${cwd} is not inside a git repository, so changes could not be undone. Use --skip-git-repo-check to run here anyway.`,
  );
