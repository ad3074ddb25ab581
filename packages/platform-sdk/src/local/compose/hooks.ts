// The hooks of a local run: files of project, user and administrator, as they were when the conversation began.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { HookGate } from "@agentcli/engine";
import { openHooks, type ServerPlace } from "@agentcli/engine/hooks";
import { hostRunner } from "@agentcli/local/hook-runner";
import { type HookFile, repositoryHookFiles } from "@agentcli/project";
import { isUnchanged, readHookFiles } from "@agentcli/project/hooks";
import type { HookDefinition } from "@agentcli/protocol";
import { version } from "../../version.ts";
import type { Machine } from "../machine.ts";
import type { Wishes } from "../options.ts";
import type { NamedServer } from "./servers.ts";

export interface HooksRequest {
  /** Of a conversation that goes on: what it began with. */
  frozen: HookDefinition[] | null;
  sources: Wishes["sources"];
  /** Of the project. */
  root: string;
  cwd: string;
  servers: NamedServer[];
  machine: Machine;
  /** Values that hooks have no business with. */
  secrets: string[];
}

export interface ComposedHooks {
  gate: HookGate | undefined;
  /** To be kept with the agent. */
  frozen: HookDefinition[];
  warnings: string[];
  /** Ends what hooks have left running. */
  close(): Promise<void>;
}

const limitMs = 600_000;

export function composeHooks(request: HooksRequest): ComposedHooks {
  const { frozen, root, cwd, servers, machine } = request;
  const read = frozen === null ? readNow(request) : { definitions: frozen, warnings: [] };
  const { definitions, warnings } = read;
  if (definitions.length === 0) return { gate: undefined, frozen: [], warnings, async close() {} };
  const runner = hostRunner({
    environment: withoutSecrets(machine.variables, request.secrets),
    shell: machine.shell,
    projectRoot: root,
    version,
    incarnation: machine.newId(),
  });
  const gate = openHooks({
    definitions,
    skipped: [],
    runner,
    isUnchanged,
    limitMs,
    projectRoot: root,
    version,
    servers: Object.fromEntries(servers.map(({ name, config }) => [name, placeOf(config)])),
    transcriptPath: () => null,
  });
  return { gate, frozen: definitions, warnings, close: runner.close };

  function readNow({ sources }: HooksRequest) {
    return readHookFiles(filesOf(sources, root, machine), { directories: [cwd, root], repository: root });
  }
}

/** What each says is taken together, the nearest last. */
function filesOf(sources: Wishes["sources"], root: string, { settingsHome, systemDirectory }: Machine): HookFile[] {
  const file = (kind: "managed" | "user", directory: string): HookFile[] => {
    const path = join(directory, "hooks.json");
    return existsSync(path) ? [{ kind, dialect: "platform", path, directory }] : [];
  };
  return [
    ...(sources.has("mdm") ? file("managed", systemDirectory) : []),
    ...(sources.has("user") ? file("user", settingsHome) : []),
    ...(sources.has("project") ? repositoryHookFiles(root) : []),
  ];
}

const placeOf = (server: NamedServer["config"]): ServerPlace =>
  "url" in server ? { url: server.url } : { command: [server.command, ...(server.args ?? [])].join(" ") };

const withoutSecrets = (variables: Machine["variables"], secrets: string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(variables).filter(([name, value]) => name !== "PLATFORM_API_KEY" && !secrets.includes(value ?? "")),
  );
