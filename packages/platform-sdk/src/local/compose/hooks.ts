// The hooks of a local run: files of project, user and administrator, as they were when the conversation began.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type HookSource, serverLocations } from "@agentcli/host/hooks";
import { type HookFile, repositoryHookFiles } from "@agentcli/project";
import { readHookFiles } from "@agentcli/project/hooks";
import type { HookDefinition } from "@agentcli/protocol";
import type { Machine } from "../machine.ts";
import type { ResolvedOptions } from "../options.ts";
import type { NamedServer } from "./servers.ts";

export interface HooksRequest {
  /** The hooks that the conversation began with; null where they are read now. */
  frozen: HookDefinition[] | null;
  sources: ResolvedOptions["sources"];
  /** Of the project. */
  root: string;
  cwd: string;
  servers: NamedServer[];
  machine: Machine;
  /** Values removed from the environment of hooks. */
  secrets: string[];
}

export function hookSource(request: HooksRequest): HookSource {
  const { frozen, root, servers, machine } = request;
  const { definitions, warnings } = frozen === null ? readNow(request) : { definitions: frozen, warnings: [] };
  return {
    definitions,
    skipped: [],
    frozen: definitions,
    warnings,
    runner: {
      in: "host",
      environment: withoutSecrets(machine.variables, request.secrets),
      shell: machine.shell,
    },
    limitMs: 600_000,
    projectRoot: root,
    servers: serverLocations(servers.map(({ name, config }) => [name, config])),
    transcriptPath: () => null,
  };
}

const readNow = ({ sources, root, cwd, machine }: HooksRequest) =>
  readHookFiles(filesOf(sources, root, machine), { directories: [cwd, root], repository: root });

/** All of them count, the nearest last. */
function filesOf(
  sources: ResolvedOptions["sources"],
  root: string,
  { settingsHome, systemDirectory }: Machine,
): HookFile[] {
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

const withoutSecrets = (variables: Machine["variables"], secrets: string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(variables).filter(([name, value]) => name !== "PLATFORM_API_KEY" && !secrets.includes(value ?? "")),
  );
