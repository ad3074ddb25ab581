// The hooks of one run: what is configured, what of it is trusted, and how it runs.
import { tmpdir } from "node:os";
import { isDeepStrictEqual } from "node:util";
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
  const frozen = request.frozen?.filter(({ source }) => source.kind !== "managed") ?? null;
  const { definitions, skipped } = choose(written, frozen, { ...given, search });
  return {
    definitions,
    skipped,
    unwritten: (frozen ?? []).filter((definition) => !isWritten(definition, written)).map(({ key }) => key),
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
function choose(written: HookDefinition[], frozen: HookDefinition[] | null, given: ChoiceOptions) {
  const judged: JudgedHook[] = written.map((definition) => ({ definition, reason: whySkipped(definition, given) }));
  if (frozen === null) return selectHooks(judged);
  const isManaged = ({ definition }: JudgedHook) => definition.source.kind === "managed";
  const isNew = ({ definition }: JudgedHook) => !frozen.some(({ key }) => key === definition.key);
  const off = (definition: HookDefinition) => given.states.get(definition.key)?.enabled === false;
  const kept = frozen.map((definition) => ({
    definition,
    reason: off(definition) ? "switched off in hooks.state" : outdated(definition, given),
  }));
  const late = judged
    .filter((one) => !isManaged(one) && isNew(one))
    .map(({ definition, reason }) => ({ definition, reason: reason ?? "the thread began without it" }));
  return selectHooks([...judged.filter(isManaged), ...kept, ...late]);
}

/** A session file alone makes nothing run: the same definition, with the same files, must be in force now. */
const isWritten = (recorded: HookDefinition, written: HookDefinition[]): boolean =>
  written.some((definition) => isDeepStrictEqual(asStored(definition), asStored(recorded)));

/** Undefined members are absent in a session file. */
const asStored = (definition: HookDefinition): unknown => JSON.parse(JSON.stringify(definition));

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
