// The hooks of one run: what is written down, what of it is trusted, and somebody to run it.
import type { HookGate } from "@agentcli/engine";
import { openHooks, type ServerPlace } from "@agentcli/engine/hooks";
import { hostRunner } from "@agentcli/local/hook-runner";
import { durationMs, type HookFile, type LoadedConfig, readHookStates } from "@agentcli/project";
import { isUnchanged, readHookFiles, type TrustGiven, whySkipped } from "@agentcli/project/hooks";
import type { Config, HookDefinition, McpServer, TurnSettings } from "@agentcli/protocol";
import { credentialVariables } from "../credentials/variables.ts";
import type { Program } from "../program.ts";
import type { RunOptions } from "../run-options.ts";
import { newId } from "../sessions/thread-id.ts";

export interface HooksRequest {
  files: HookFile[];
  /** Of a thread that goes on: what it began with. */
  frozen: HookDefinition[] | null;
  settings: TurnSettings;
  loaded: LoadedConfig;
  options: RunOptions;
  program: Program;
  transcriptPath(threadId: string): string | null;
}

export interface ComposedHooks {
  gate: HookGate | undefined;
  /** To be kept with the thread. */
  frozen: HookDefinition[];
  warnings: string[];
  /** Ends what hooks have left running. */
  close(): Promise<void>;
}

export function composeHooks(request: HooksRequest): ComposedHooks {
  const { files, settings, loaded, options, program } = request;
  const { root } = loaded.project;
  const { definitions: written, warnings } = readHookFiles(files, {
    directories: [settings.cwd, root],
    repository: root,
  });
  const { definitions, skipped } = choose(written, request.frozen, trustGiven(loaded, options));
  const frozen = definitions.filter(({ source }) => source.kind !== "managed");
  if (definitions.length === 0 && skipped.length === 0) return { gate: undefined, frozen, warnings, async close() {} };
  const { variables } = program.environment;
  const runner = hostRunner({
    environment: withoutCredentials(variables, loaded),
    shell: settings.shell,
    projectRoot: root,
    version: program.version,
    incarnation: newId(Date.now()),
  });
  const gate = openHooks({
    definitions,
    skipped,
    runner,
    isUnchanged,
    limitMs: durationMs(loaded.config.limits.hook),
    projectRoot: root,
    version: program.version,
    servers: serverPlaces(loaded.config),
    transcriptPath: request.transcriptPath,
  });
  return { gate, frozen, warnings, close: runner.close };
}

export const trustGiven = (
  loaded: LoadedConfig,
  options: Pick<RunOptions, "trustHooks" | "bypassHookTrust">,
): TrustGiven => ({
  states: readHookStates(loaded),
  hashes: options.trustHooks,
  bypass: options.bypassHookTrust ? "all" : "none",
});

type Skipped = { definition: HookDefinition; reason: string }[];

/** A thread keeps the hooks it began with; only what an administrator wants is always as it is now. */
function choose(written: HookDefinition[], frozen: HookDefinition[] | null, given: TrustGiven) {
  const judged = written.map((definition) => ({ definition, reason: whySkipped(definition, given) }));
  if (frozen === null) return split(judged);
  const isManaged = ({ definition }: { definition: HookDefinition }) => definition.source.kind === "managed";
  const isNew = ({ definition }: { definition: HookDefinition }) => !frozen.some(({ key }) => key === definition.key);
  const off = (definition: HookDefinition) => given.states.get(definition.key)?.enabled === false;
  const kept = frozen.map((definition) => ({
    definition,
    reason: off(definition) ? "switched off in hooks.state" : null,
  }));
  const late = judged
    .filter((one) => !isManaged(one) && isNew(one))
    .map(({ definition, reason }) => ({ definition, reason: reason ?? "the thread began without it" }));
  return split([...judged.filter(isManaged), ...kept, ...late]);
}

function split(judged: { definition: HookDefinition; reason: string | null }[]) {
  const definitions = judged.filter(({ reason }) => reason === null).map(({ definition }) => definition);
  const skipped: Skipped = judged.flatMap(({ definition, reason }) =>
    reason === null ? [] : [{ definition, reason }],
  );
  return { definitions, skipped };
}

function serverPlaces({ mcp_servers: servers = {} }: Config): Record<string, ServerPlace> {
  const placeOf = ({ url, command = "", args = [] }: McpServer): ServerPlace =>
    url === undefined ? { command: [command, ...args].join(" ") } : { url };
  return Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, placeOf(server)]));
}

/** A hook is the user's own program, but the key of the model is nobody's but the model's. */
function withoutCredentials(variables: NodeJS.ProcessEnv, { config }: LoadedConfig): NodeJS.ProcessEnv {
  const denied = new Set(["AGENT_API_KEY", "OPENAI_API_KEY", ...credentialVariables(config)]);
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !denied.has(name)));
}
