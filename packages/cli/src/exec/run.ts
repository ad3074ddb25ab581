// The composition root of a run: chooses values from flags, configuration and environment; `assemble` connects them.
import { join } from "node:path";
import { CommandError } from "@agentcli/command-line";
import {
  type Assembly,
  type AssemblyRequest,
  assemble,
  type Environment,
  localToday,
  type OtherModels,
  type Run,
  type RunContext,
  type RunOptions,
} from "@agentcli/host";
import { newId } from "@agentcli/host/sessions";
import { isKnownModel, locateModel, type ModelFacts, priceBook } from "@agentcli/models";
import { durationMs, type LoadedConfig, type ModelConfig } from "@agentcli/project";
import type { Config, SandboxMode, TurnSettings, WireApi } from "@agentcli/protocol";
import { findRepositoryRoot } from "@agentcli/workspace";
import { openContext } from "../config/context.ts";
import { compactAt, settle } from "../config/settings.ts";
import type { EffortWire } from "../model/effort.ts";
import { chooseModels, describeModel, otherModels } from "../model/model.ts";
import type { OutputSchema } from "../output-schema/load.ts";
import type { Program } from "../program.ts";
import { findUnreportedChanges } from "../sandbox/unfinished-runs.ts";
import { composeWorkspace, type SandboxSettings } from "../sandbox/workspace.ts";
import { checkPrice, resolveBudget } from "./budget.ts";
import { composeGuard } from "./guard.ts";
import { chooseHooks, chooseServers, type InProgram } from "./sources.ts";
import { configuredSubagents } from "./sub-agents.ts";
import { configuredWebTools, hostedSearch, webWarnings } from "./web.ts";

/** A run of this program, with what the command line asked for. */
export interface ProgramRun extends Run {
  program: Program;
  options: RunOptions;
}

export async function openRun(options: RunOptions, program: Program, given: RunContext): Promise<ProgramRun> {
  const taped = await withTape(given, options, program);
  if (options.outputFile !== undefined) await prepareOutput(options.outputFile, program);
  const schema = await loadSchema(options, program);
  const chosen = await chooseValues(options, program, taped);
  const { settings, loaded, facts } = chosen;
  const { config, project } = loaded;
  const telemetry = await openTraces(config, program);
  const context = telemetry ? { ...taped, store: telemetry.store(taped.store) } : taped;
  const { cwd } = settings;
  const contextWindow = config.model_context_window ?? facts.contextWindow;
  const { environment } = program;
  const instructions = openContext({ root: project.root, cwd, config, environment, contextWindow });
  // A review looks at a change with the built-in tools alone.
  const isReview = options.purpose === "review";
  const { subagents, warnings } = isReview ? noSubagents : await configuredSubagents(loaded, cwd, environment);
  const hiding = config.hide_agent_reasoning ? await import("./hide-reasoning.ts") : null;
  const callbacks = hiding?.withoutReasoning(context.callbacks) ?? context.callbacks;
  const traced = telemetry?.context;
  const assembly = await assemble({
    program: { name: "agentcli", version: program.version },
    settings,
    thread: context.recorded ? "existing" : "new",
    model: chosen.model,
    models: withRecordings(otherModels(settings, config, program), context),
    costOf: chosen.price,
    requestOptions: requestOptions(chosen, schema, isReview ? "review" : "work"),
    compactionPrompt: config.compact_prompt,
    programTools: isReview ? [] : await configuredWebTools(config, chosen.wireApi),
    finalMessageCheck: schema?.answer,
    openSandbox: (sandbox, protectedPaths) =>
      composeWorkspace({ ...withMode(sandbox, settings, options), protectedPaths, ...traced }, config, program),
    instructions,
    guard: chosen.guard,
    subagents,
    hooks: chooseHooks(chosen, options, { program, context }),
    servers: isReview ? null : chooseServers(chosen, program, context),
    limits: { toolTimeoutMs: durationMs(config.limits.tool), toolOutputTokens: config.tool_output_token_limit },
    today: context.tape?.today ?? localToday(),
    store: context.store,
    scrub: program.scrub,
    newId: () => newId(Date.now()),
    callbacks,
    warnings: [...chosen.warnings, ...warnings, ...(await findUnreportedChanges(environment))],
  });
  // The same object: sub-agents and MCP servers change and read what `assemble` has made.
  return Object.assign(assembly, hiding?.openingLogs(assembly), telemetry?.closing(assembly), {
    program,
    options,
    settings,
    context: instructions,
    traits: { freeformTools: facts.freeform, stringEdits: !facts.patches },
    contextWindow,
    stdinLimitMs: durationMs(config.limits.stdin),
    timeLimits: timeLimits(chosen),
    ...notification(config.notify, program),
    sessionPath: context.store.path,
  } satisfies Omit<ProgramRun, keyof Assembly>);
}

const timeLimits = ({ loaded: { config }, settings }: Values): Run["timeLimits"] => [
  { afterMs: durationMs(config.limits.wall), code: "limit", limit: "wall" },
  { afterMs: settings.budget?.wallMs ?? null, code: "budget", limit: "wall" },
];

/** A review does not search the web. */
const requestOptions = (
  { loaded: { config }, wireApi }: Values,
  schema: OutputSchema | null,
  purpose: "review" | "work",
): AssemblyRequest["requestOptions"] => ({
  reasoningSummary: config.model_reasoning_summary,
  verbosity: config.model_verbosity,
  // The name of codex for what the provider calls priority.
  serviceTier: config.service_tier === "fast" ? "priority" : config.service_tier,
  outputSchema: schema?.strict,
  ...(purpose === "work" && hostedSearch(config, wireApi)),
});

interface Values {
  settings: TurnSettings;
  loaded: LoadedConfig;
  guard: AssemblyRequest["guard"];
  model: AssemblyRequest["model"];
  facts: ModelFacts;
  wireApi: WireApi;
  price: AssemblyRequest["costOf"];
  warnings: string[];
}

/** Everything that can be refused without starting anything, in the order it is reported. */
async function chooseValues(options: RunOptions, program: Program, context: RunContext): Promise<Values> {
  const { recorded } = context;
  const { environment } = program;
  const settled = await settle(options, environment, recorded?.settings ?? null);
  const { loaded, warnings } = settled;
  const { config } = loaded;
  const base = options.local
    ? { ...settled.settings, ...(await localModel(options, loaded, environment)) }
    : settled.settings;
  if (!options.skipGitCheck && !findRepositoryRoot(base.cwd)) throw notARepository(base.cwd);
  const trust = loaded.project.trusted ? "trusted" : "untrusted";
  const guard = await composeGuard({ cwd: base.cwd, ignoreRules: options.ignoreRules, trust: () => trust, program });
  const { model, facts, wireApi } = await openModel(base, config, { program, context });
  reportUnknownModel(base, config, program);
  const inert = [...(await findInert(base, config, { api: wireApi, facts })), ...webWarnings(config, wireApi)];
  if (options.strictConfig && inert[0]) throw new CommandError("usage", `${inert[0]} Fix or remove it.`);
  const price = priceBook(config.prices, config.catalogue);
  const budget = resolveBudget(options.budget, config.budget, recorded?.settings?.budget);
  for (const model of [base.model, ...fallbackNames(base, config)]) checkPrice(budget, model, price);
  const onLimit = options.onLimit ?? recorded?.settings?.onLimit;
  const settings = { ...base, budget, onLimit, compactAt: compactAt(config, facts.contextWindow) };
  return { settings, loaded, guard, model, facts, wireApi, price, warnings: [...warnings, ...inert] };
}

/** For people: programs that read events can look a model up. */
function reportUnknownModel({ model }: TurnSettings, config: ModelConfig, { reporter, environment }: Program): void {
  if (config.model_context_window !== undefined || isKnownModel(model, config.catalogue)) return;
  reporter.log(
    `warning: the model ${model} is not in the catalogue: a context window of 128,000 tokens is assumed. Describe it in ${join(environment.agentHome, "models.toml")}.`,
  );
}

const fallbackNames = ({ provider }: TurnSettings, config: Config): string[] =>
  (config.model_fallback ?? []).map((label) => locateModel(label, { ...config, model_provider: provider }).model);

/** Loaded only where a collector or a file is configured. */
const openTraces = async ({ otel }: Config, program: Program) =>
  otel ? (await import("./telemetry.ts")).openRunTelemetry(otel, program) : null;

/** Loaded only where a run is recorded or replayed. */
async function withTape(context: RunContext, options: RunOptions, program: Program): Promise<RunContext> {
  const isRecorded = options.recordFile !== undefined || Boolean(program.environment.variables.AGENT_REPLAY);
  if (!context.tape && !isRecorded) return context;
  const tape = context.tape ?? (await (await import("./tape.ts")).openTape(options, program));
  return { ...context, tape, store: tape.store(context.store) };
}

async function openModel(settings: TurnSettings, config: ModelConfig, { program, context: { tape } }: InProgram) {
  if (!tape) return chooseModels(settings, config, program);
  const model = await tape.openModel(async () => (await chooseModels(settings, config, program)).model);
  return { model, ...describeModel(settings, config, program.environment) };
}

const withRecordings = (models: OtherModels, { tape }: RunContext): OtherModels =>
  tape ? { ...models, open: (settings) => tape.openModel(() => models.open(settings)) } : models;

/** Loaded only where one of the settings is chosen. */
async function findInert(settings: TurnSettings, config: Config, wire: EffortWire): Promise<string[]> {
  const { model_verbosity, model_reasoning_summary, service_tier, agents } = config;
  const hasEffort = settings.effort !== undefined || agents?.default_subagent_reasoning_effort !== undefined;
  const effort = hasEffort ? (await import("../model/effort.ts")).checkEffort(settings, config, wire) : [];
  if (!model_verbosity && !model_reasoning_summary && !service_tier) return effort;
  return [...effort, ...(await import("../model/inert-settings.ts")).findInert(config, wire)];
}

const noSubagents = { subagents: null, warnings: [] };

/** --sandbox-min is about the sandbox of the run itself. */
const withMode = (sandbox: SandboxMode, settings: TurnSettings, { sandboxMin }: RunOptions): SandboxSettings => ({
  ...settings,
  sandbox,
  ...(sandbox === settings.sandbox ? { sandboxMin } : sandbox === "danger-full-access" && { path: "trusted" as const }),
});

/** The model server on this machine and the model it has. */
async function localModel(options: RunOptions, loaded: LoadedConfig, environment: Environment) {
  const { withLocalModel } = await import("../model/local-provider.ts");
  const { model = "", provider = "" } = await withLocalModel(options, loaded, environment);
  return { model, provider };
}

const prepareOutput = async (file: string, { environment }: Program): Promise<void> =>
  (await import("./output-file.ts")).prepareOutputFile(file, environment);

/** Loaded only when a turn ends and a program is configured. */
const notification = (argv: string[] | undefined, program: Program): Pick<Run, "notify"> =>
  argv?.length ? { notify: async (turn) => (await import("./notify.ts")).notifyProgram(argv, turn, program) } : {};

/** Loaded only when asked for: the checker of schemas is larger than the rest of the program. */
const loadSchema = async ({ outputSchemaFile }: RunOptions, { environment }: Program): Promise<OutputSchema | null> =>
  outputSchemaFile === undefined
    ? null
    : (await import("../output-schema/load.ts")).loadOutputSchema(outputSchemaFile, environment.cwd);

const notARepository = (cwd: string): CommandError =>
  new CommandError(
    "usage",
    `${cwd} is not inside a git repository, so changes could not be undone. Use --skip-git-repo-check to run here anyway.`,
  );
