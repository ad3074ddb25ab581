// Everything one run needs, put together from settings, and the run itself.
import {
  type Approver,
  builtInTools,
  type Dependencies,
  type Log,
  openLog,
  type Progress,
  placeGuard,
  requestUserInput,
  type StoredRecord,
  type Surroundings,
  type ThreadState,
  type Tool,
  type Watching,
} from "@agentcli/engine";
import type { McpHost } from "@agentcli/mcp";
import { priceBook } from "@agentcli/models";
import { durationMs, findHookFiles, type LoadedConfig, wait } from "@agentcli/project";
import type {
  Config,
  HookDefinition,
  SandboxMode,
  SandboxReport,
  ThreadRecord,
  TurnSettings,
} from "@agentcli/protocol";
import { findRepositoryRoot } from "@agentcli/workspace";
import { composeAgents } from "./agents.ts";
import { checkPrice, resolveBudget } from "./budget.ts";
import { openContext, type ProjectContext } from "./context.ts";
import { noteDenials } from "./denials.ts";
import type { Environment } from "./environment.ts";
import { composeGuard } from "./guard.ts";
import type { ComposedHooks, HooksRequest } from "./hooks/compose.ts";
import type { Mcp } from "./mcp/compose.ts";
import { chooseModel } from "./model.ts";
import type { OutputSchema } from "./output-schema/load.ts";
import { Problem } from "./problem.ts";
import type { Program } from "./program.ts";
import type { RunOptions } from "./run-options.ts";
import type { FileStore } from "./sessions/store.ts";
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
  /** Tokens the model can take in; null where nobody knows. */
  contextWindow: number | null;
  limits: { stdinMs: number | null; ends: TimedEnd[] };
  dependencies: Dependencies;
  /** The session file of a thread; null where none is kept. */
  sessionPath(threadId: string): string | null;
  openLog(state: ThreadState, emit: (stored: StoredRecord) => void | Promise<void>): Log;
  close(): Promise<void>;
}

/** What a thread that goes on began with. */
export interface Recorded {
  settings: TurnSettings | null;
  hooks: HookDefinition[];
}

/** Who is with a run while it works. */
export interface Company {
  /** Absent where nobody can be asked. */
  approver?: Approver;
  /** Puts a question of an MCP server to a person; without it they are declined. */
  elicit?: McpHost["elicit"];
  onProgress(progress: Progress): void;
  /** Told of everything a sub-agent does. */
  watch?(childId: string): Watching;
}

/** A run of the command line: nobody watches, nobody answers. */
export const alone: Company = { onProgress() {} };

/** Where the records of a run go, and what it goes on from. */
export interface Circumstances {
  store: FileStore;
  recorded: Recorded | null;
  company: Company;
}

// Over 60 lines because it is where a run is put together: every part is named once, in the order they need each other.
export async function openRun(options: RunOptions, program: Program, around: Circumstances): Promise<Run> {
  const { environment } = program;
  const { store, recorded, company } = around;
  const shape = await loadShape(options, environment.cwd);
  const { settings: settled, loaded, warnings } = await settle(options, environment, recorded?.settings ?? null);
  const { config } = loaded;
  const chosen = options.local ? { ...settled, ...(await localModel(options, loaded, environment)) } : settled;
  if (!options.skipGitCheck && !findRepositoryRoot(chosen.cwd)) throw notARepository(chosen.cwd);
  const composed = await composeGuard({
    cwd: chosen.cwd,
    ignoreRules: options.ignoreRules,
    trust: () => (loaded.project.trusted ? "trusted" : "untrusted"),
    program,
  });
  const { model, facts } = await chooseModel(chosen, config, program);
  const price = priceBook(config.prices);
  const budget = resolveBudget(options.budget, config.budget, recorded?.settings?.budget);
  checkPrice(budget, chosen.model, price);
  const onLimit = options.onLimit ?? recorded?.settings?.onLimit;
  const settings = { ...chosen, budget, onLimit, compactAt: compactAt(config, facts.contextWindow) };
  const place = await composeWorkspace({ ...settings, sandboxMin: options.sandboxMin }, config, program);
  const outside = await composeOutside(settings, config, program);
  const { limits } = config;
  const contextWindow = config.model_context_window ?? facts.contextWindow;
  const context = openContext({
    root: loaded.project.root,
    cwd: settings.cwd,
    config,
    environment,
    contextWindow,
  });
  const written = recorded ? nothingNew : context.forThread();
  const narrowed = narrowedPlaces((mode) => composeWorkspace({ ...settings, sandbox: mode }, config, program));
  const { family, tools: agents } = await composeAgents(config, {
    purpose: options.purpose,
    root: loaded.project.root,
    cwd: settings.cwd,
    store,
    program,
    warn: (message) => warnings.push(message),
    watch: company.watch,
    dependenciesFor: async ({ sandbox }) =>
      sandbox === settings.sandbox ? null : { ...run.dependencies, workspace: await narrowed.open(sandbox) },
  });
  const tools = [...builtInTools, ...(company.approver ? [requestUserInput] : []), ...agents];
  const mcp = await startServers(options, config, { settings, program, company });
  const hooks = await loadHooks({
    frozen: recorded?.hooks ?? null,
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
    contextWindow,
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
      outside,
      tools,
      family,
      hooks: hooks.gate,
      guard: placeGuard(place.writableRoots, composed),
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
      approver: company.approver,
      onProgress(progress) {
        if (progress.type === "calling") place.workspace.warm();
        company.onProgress(progress);
      },
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
      await outside?.close();
    },
  };
  return run;
}

/** Loaded only where servers are configured. A review looks at a change with what every thread has. */
const startServers = async (
  { purpose }: RunOptions,
  config: Config,
  { settings, program, company }: Pick<Run, "settings" | "program"> & { company: Company },
): Promise<Mcp | null> =>
  config.mcp_servers && purpose !== "review"
    ? (await import("./mcp/compose.ts")).composeMcp(config, settings, { program, elicit: company.elicit })
    : null;

/** Where approved calls act, opened when there is one. Nothing to leave, or nobody to approve: no such place. */
async function composeOutside(settings: TurnSettings, config: Config, program: Program) {
  if (settings.approval === "never" || settings.sandbox === "danger-full-access") return undefined;
  return (await composeWorkspace({ ...settings, sandbox: "danger-full-access" }, config, program)).workspace;
}

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
