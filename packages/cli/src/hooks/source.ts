// The hooks of one run: what is configured, what of it is trusted, and how it runs.
import { tmpdir } from "node:os";
import type { RunOptions } from "@agentcli/host";
import { type HookSource, serverLocations } from "@agentcli/host/hooks";
import { durationMs, type HookFile, type LoadedConfig, readHookStates } from "@agentcli/project";
import {
  type JudgedHook,
  readHookFiles,
  type ScriptSearch,
  selectHooks,
  type TrustOptions,
  whyOutdated,
  whySkipped,
} from "@agentcli/project/hooks";
import type { HookDefinition, TurnSettings } from "@agentcli/protocol";
import { credentialVariables } from "../credentials/variables.ts";
import type { Program } from "../program.ts";
import { scriptSearch } from "./script-search.ts";

export interface HooksRequest {
  files: HookFile[];
  /** The hooks a continued thread began with. */
  frozen: HookDefinition[] | null;
  settings: TurnSettings;
  loaded: LoadedConfig;
  options: RunOptions;
  program: Program;
  transcriptPath(threadId: string): string | null;
  /** Inside the sandbox of the run a hook can do what any command can: it needs no trust. */
  runIn: "host" | "sandbox";
}

export function hookSource(request: HooksRequest): HookSource {
  const { files, settings, loaded, options, transcriptPath } = request;
  const { config, project } = loaded;
  const { root } = project;
  const search = scriptSearch(settings.cwd, loaded);
  const { definitions: written, warnings } = readHookFiles(files, search);
  const given = trustGiven(loaded, request.runIn === "sandbox" ? { ...options, bypassHookTrust: true } : options);
  const recorded = request.frozen?.filter(({ source }) => source.kind !== "managed") ?? null;
  const kept = recorded && keepHooks(recorded, written, given);
  const { definitions, skipped } = choose(written, kept, { ...given, search });
  const unwritten = kept?.filter(({ now }) => now === null).map(({ definition }) => definition) ?? [];
  const gone = unwritten.filter((hook) => definitions.includes(hook) && !written.some(({ key }) => key === hook.key));
  return {
    definitions,
    skipped: [...skipped, ...gone.map(describeGone)],
    unwritten: unwritten.map(({ key }) => key),
    recordedHooks: definitions.filter(({ source }) => source.kind !== "managed"),
    warnings,
    runner: request.runIn === "sandbox" ? { in: "sandbox", shell: settings.shell } : hostRunner(request, search),
    limitMs: durationMs(config.limits.hook),
    projectRoot: root,
    servers: serverLocations(Object.entries(config.mcp_servers ?? {})),
    transcriptPath,
  };
}

const hostRunner = ({ settings, loaded, program }: HooksRequest, search: ScriptSearch): HookSource["runner"] => ({
  in: "host",
  environment: withoutCredentials(program.environment.variables, loaded),
  programs: program.environment.programs,
  shell: settings.shell,
  search,
  locations: [program.environment.agentHome, tmpdir()],
});

export const trustGiven = (
  loaded: LoadedConfig,
  options: Pick<RunOptions, "trustHooks" | "bypassHookTrust">,
): TrustOptions => ({
  states: readHookStates(loaded),
  hashes: options.trustHooks,
  bypass: options.bypassHookTrust ? "all" : "none",
});

interface ChoiceOptions extends TrustOptions {
  search: ScriptSearch;
}

/** A thread keeps the hooks it began with; only what an administrator wants is always as it is now. */
function choose(written: HookDefinition[], kept: KeptHook[] | null, given: ChoiceOptions) {
  const judged: JudgedHook[] = written.map((definition) => ({ definition, reason: whySkipped(definition, given) }));
  if (kept === null) return selectHooks(judged);
  const isManaged = ({ definition }: JudgedHook) => definition.source.kind === "managed";
  const isNew = ({ definition }: JudgedHook) =>
    !kept.some(({ definition: { key }, now }) => now === definition || (now === null && key === definition.key));
  const isOff = ({ definition, now }: KeptHook) => given.states.get((now ?? definition).key)?.enabled === false;
  const initial = kept.map((one) => ({
    definition: one.definition,
    reason: isOff(one) ? "switched off in hooks.state" : outdated(one.definition, given),
  }));
  const late = judged
    .filter((one) => !isManaged(one) && isNew(one))
    .map(({ definition, reason }) => ({ definition, reason: reason ?? "the thread began without it" }));
  return selectHooks([...judged.filter(isManaged), ...initial, ...late]);
}

/** A hook that a continued thread began with. */
interface KeptHook {
  definition: HookDefinition;
  /** As a file has it now; null if none has. */
  now: HookDefinition | null;
}

/** As they are written now, with the files and under the key that the thread began with. Each one written is one kept. */
function keepHooks(recorded: HookDefinition[], written: HookDefinition[], given: TrustOptions): KeptHook[] {
  const free = new Set(written.filter(({ source }) => source.kind !== "managed"));
  return recorded.map((definition) => {
    const now = findWritten(definition, [...free], given);
    if (now === null) return { definition, now };
    free.delete(now);
    const { script, files, unpinned, key } = definition;
    const { script: _, files: __, unpinned: ___, ...rest } = now;
    const pins = { ...(script && { script }), ...(files && { files }), ...(unpinned !== undefined && { unpinned }) };
    return { definition: { ...rest, ...pins, key }, now };
  });
}

/**
 * A session file alone makes nothing run: the same hook must be in force now. It may be elsewhere in its file, or in another
 * one; whether its files are those of then is judged when it runs.
 */
function findWritten(recorded: HookDefinition, written: HookDefinition[], given: TrustOptions): HookDefinition | null {
  const identity = JSON.stringify(identityOf(recorded));
  const alike = written.filter((definition) => JSON.stringify(identityOf(definition)) === identity);
  const now = alike.find(({ key }) => key === recorded.key) ?? alike[0] ?? null;
  if (now === null || recorded.unpinned === undefined || now.unpinned !== undefined) return now;
  // Only the user can let it run without a look at its files.
  return given.bypass === "all" || given.states.get(now.key)?.unpinned === true ? now : null;
}

const identityOf = (definition: HookDefinition): unknown[] => [
  ...[definition.dialect, definition.event, definition.matcher, definition.hash],
  ...("command" in definition ? [definition.command] : []),
  ...("prompt" in definition ? [definition.prompt] : []),
  ...("server" in definition ? [definition.server, definition.tool, definition.input] : []),
];

/** It still denies what it guards: removing a guard from its file does not open a thread that began with it. */
const describeGone = (definition: HookDefinition) => ({
  definition,
  reason: `no longer in ${definition.source.path}: switch it off in hooks.state or begin a new thread`,
});

/** A thread from before hooks were pinned. */
function outdated(definition: HookDefinition, { search, bypass }: ChoiceOptions): string | null {
  const why = bypass === "all" ? null : whyOutdated(definition, search);
  return why === null ? null : `${why}; trust it again with agentcli hooks trust, and begin a new thread`;
}

/** A hook is the user's own program, but the model's key is for the model alone. */
function withoutCredentials(variables: NodeJS.ProcessEnv, { config }: LoadedConfig): NodeJS.ProcessEnv {
  const denied = new Set(["AGENT_API_KEY", "OPENAI_API_KEY", ...credentialVariables(config)]);
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !denied.has(name)));
}
