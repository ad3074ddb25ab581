// The configured MCP servers: how they are authorized, and the sandboxes their processes run in.
import { statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { type RunningServers, resourceLimits, type ServerSource } from "@agentcli/host";
import { newId } from "@agentcli/host/sessions";
import type { HttpTransport, McpHost, ServerSettings } from "@agentcli/mcp";
import { sanitize } from "@agentcli/project/sanitize";
import type { Config, McpServer, SandboxMode } from "@agentcli/protocol";
import {
  hiddenByDefault,
  hiddenByVariables,
  type LazyWorkspace,
  lazyWorkspace,
  openWorkspace,
  sandboxPolicy,
  toolEnvironment,
} from "@agentcli/workspace";
import type { Program } from "../program.ts";
import { backEndOf, chooseSandbox } from "../sandbox/choice.ts";
import { networkOf } from "../sandbox/network-policy.ts";
import { serverProgramIn } from "../sandbox/probe.ts";
import { unfinishedRuns } from "../sandbox/unfinished-runs.ts";
import { openCredentials } from "./credentials.ts";
import { headersFrom } from "./printed-headers.ts";

type Elicit = McpHost["elicit"] | undefined;

export async function serverSource(
  config: Config,
  cwd: string,
  { program, elicit }: { program: Program; elicit: Elicit },
): Promise<ServerSource> {
  const { noAuthorization, oauthAuthorization } = await import("@agentcli/mcp");
  const store = openCredentials(program.environment.agentHome);
  const enabled = enabledServers(config);
  const { root, variables, headersFrom } = clientHost(cwd, program);
  return {
    ...{ root, variables, headersFrom },
    ...(elicit && { elicit }),
    servers: enabled,
    required: enabled.filter(([, server]) => server.required).map(([name]) => name),
    startLimit: config.limits?.["mcp-start"],
    refuse: (message) => new CommandError("usage", message),
    sandboxOf: (_name, { sandbox }) => sandbox ?? "danger-full-access",
    openSandbox: async (mode) => openServerSandbox(mode, cwd, { config, program }),
    authorize(server, transport) {
      const advice = `log in with: agentcli mcp login ${server}`;
      if (hasOwnCredentials(transport)) return noAuthorization("check its http_headers and env_http_headers");
      return oauthAuthorization({ server, transport, store, clientName: "agentcli", consent: null, advice });
    },
  };
}

/** The configured servers outside of a run. Null where none is enabled. */
export async function startServers(config: Config, cwd: string, program: Program): Promise<RunningServers | null> {
  if (enabledServers(config).length === 0) return null;
  const { openServers } = await import("@agentcli/host/servers");
  const source = await serverSource(config, cwd, { program, elicit: undefined });
  const openSandbox = async () => openServerSandbox("danger-full-access", cwd, { config, program });
  return openServers(source, { client: { name: "agentcli", version: program.version }, openSandbox });
}

const enabledServers = ({ mcp_servers: servers = {} }: Config): [string, McpServer][] =>
  Object.entries(servers).filter(([, server]) => server.enabled !== false);

export const clientHost = (
  root: string,
  program: Program,
): Pick<McpHost, "client" | "root" | "variables" | "sanitize" | "headersFrom"> => {
  const { variables, programs } = program.environment;
  // A program of the repository must not take the place of the one that the user means.
  programs.distrust([root]);
  return {
    client: { name: "agentcli", version: program.version },
    root,
    variables: programs.environment(variables),
    sanitize: (text) => sanitize(text).text,
    headersFrom: (command) => headersFrom(command, program.environment),
  };
};

export async function readServer(name: string, server: McpServer, config: Config): Promise<ServerSettings> {
  const { readSettings } = await import("@agentcli/mcp");
  const { startLimitMs } = await import("@agentcli/host/servers");
  const read = readSettings(name, server, { startTimeoutMs: startLimitMs(config.limits?.["mcp-start"]) });
  if (read.kind === "problem") throw new CommandError("usage", read.message);
  return read.settings;
}

/** A configured Authorization header replaces a login. */
export const hasOwnCredentials = ({ headers, envHeaders }: HttpTransport): boolean =>
  [...Object.keys(headers), ...Object.keys(envHeaders)].some((header) => header.toLowerCase() === "authorization");

/** With PATH and HOME alone, and without what tools are shown. */
function openServerSandbox(
  mode: SandboxMode,
  root: string,
  { config, program }: { config: Config; program: Program },
): LazyWorkspace {
  const { variables, userHome, agentHome, programs, ownFiles = [] } = program.environment;
  const { HOME = userHome } = toolEnvironment(variables, { home: userHome });
  const policy = sandboxPolicy({
    mode,
    root,
    ownDirectories: [agentHome],
    ...networkOf(mode, config.sandbox_workspace_write ?? {}),
    hidden: [
      ...hiddenByDefault(userHome, agentHome),
      ...hiddenByVariables(variables, { home: userHome, roots: [root] }),
      ...ownFiles,
    ],
    shown: programDirectories(config),
  });
  const open = async (incarnation: string) =>
    openWorkspace(policy, {
      serverProgram: serverProgramIn(program.directory),
      ...backEndOf(await chooseSandbox(policy, undefined, program)),
      env: { PATH: programs.path(), HOME },
      incarnation,
      userVariables: program.environment.variables,
      unfinishedRuns: unfinishedRuns(program.environment),
      limits: resourceLimits(config.limits),
    });
  return lazyWorkspace({ root, newIncarnation: () => newId(Date.now()), open });
}

/** A server named by its path can be started also where the directory around it is private, as /tmp is. */
function programDirectories({ mcp_servers: servers = {} }: Config): string[] {
  const words = Object.values(servers).flatMap(({ command = "", args = [] }) => [command, ...args]);
  const files = words.filter((word) => isAbsolute(word) && statSync(word, { throwIfNoEntry: false })?.isFile());
  return [...new Set(files.map(installDirectory))];
}

/** With what it is installed beside. */
function installDirectory(file: string): string {
  const modules = file.indexOf("/node_modules/");
  return modules === -1 ? dirname(file) : file.slice(0, modules + "/node_modules".length);
}
