// The MCP servers of a run: checked, started at once, their processes where their settings say.
import { statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import type { HttpTransport, McpHost, McpServers, ServerSettings, StdioTransport } from "@agentcli/mcp";
import { durationMs } from "@agentcli/project";
import { sanitize } from "@agentcli/project/sanitize";
import type { Config, McpServer, SandboxMode, TurnSettings } from "@agentcli/protocol";
import {
  hiddenByDefault,
  type LazyWorkspace,
  lazyWorkspace,
  openWorkspace,
  sandboxPolicy,
  toolEnvironment,
} from "@agentcli/workspace";
import { networkOf } from "../network-policy.ts";
import { Problem } from "../problem.ts";
import type { Program } from "../program.ts";
import { resourceLimits } from "../resource-limits.ts";
import { backEndOf, chooseSandbox } from "../sandbox-choice.ts";
import { serverProgramIn } from "../sandbox-probe.ts";
import { newId } from "../sessions/thread-id.ts";
import { openCredentials } from "./credentials.ts";
import { headersFrom } from "./printed-headers.ts";

export interface Mcp {
  servers: McpServers;
  names: string[];
  /** Names of servers the run does not start without. */
  required: string[];
  /** Their reports have been taken in. */
  joined: boolean;
}

/** Null where no server is enabled. */
export async function composeMcp(
  config: Config,
  settings: TurnSettings,
  { program, elicit }: { program: Program; elicit: McpHost["elicit"] },
): Promise<Mcp | null> {
  const enabled = Object.entries(config.mcp_servers ?? {}).filter(([, server]) => server.enabled !== false);
  if (enabled.length === 0) return null;
  const { noAuthorization, oauthAuthorization, openMcpServers } = await import("@agentcli/mcp");
  const store = openCredentials(program.environment.agentHome);
  const places = openPlaces(settings.cwd, config, program);
  const servers = openMcpServers(await readAll(enabled, config), {
    ...clientHost(settings.cwd, program),
    workspaceFor: places.workspaceFor,
    ...(elicit && { elicit }),
    authorize(server: string, transport: HttpTransport) {
      const advice = `log in with: agentcli mcp login ${server}`;
      if (hasOwnCredentials(transport)) return noAuthorization("check its http_headers and env_http_headers");
      return oauthAuthorization({ server, transport, store, clientName: "agentcli", consent: null, advice });
    },
  });
  const close = async () => {
    await servers.close();
    await places.close();
  };
  const required = enabled.filter(([, server]) => server.required).map(([name]) => name);
  return { servers: { ...servers, close }, names: enabled.map(([name]) => name), required, joined: false };
}

export const clientHost = (
  root: string,
  program: Program,
): Pick<McpHost, "client" | "root" | "variables" | "clean" | "headersFrom"> => ({
  client: { name: "agentcli", version: program.version },
  root,
  variables: program.environment.variables,
  clean: (text) => sanitize(text).text,
  headersFrom: (command) => headersFrom(command, program.environment.variables),
});

export async function readServer(name: string, server: McpServer, config: Config): Promise<ServerSettings> {
  const { readSettings } = await import("@agentcli/mcp");
  const startLimitMs = durationMs(config.limits?.["mcp-start"] ?? "30s") ?? longestLimitMs;
  const read = readSettings(name, server, { startLimitMs });
  if (read.kind === "problem") throw new Problem("usage", read.message);
  return read.settings;
}

/** `off`, for what must be a number. */
const longestLimitMs = 2 ** 31 - 1;

const readAll = (servers: [string, McpServer][], config: Config): Promise<ServerSettings[]> =>
  Promise.all(servers.map(([name, server]) => readServer(name, server, config)));

/** Somebody who sends a header of their own does not want ours. */
export const hasOwnCredentials = ({ headers, envHeaders }: HttpTransport): boolean =>
  [...Object.keys(headers), ...Object.keys(envHeaders)].some((header) => header.toLowerCase() === "authorization");

interface Places {
  workspaceFor(transport: StdioTransport): Promise<LazyWorkspace>;
  close(): Promise<void>;
}

/** One place per sandbox mode, apart from the one tools act in: what ends there does not end a server. */
function openPlaces(root: string, config: Config, program: Program): Places {
  const places = new Map<SandboxMode, LazyWorkspace>();
  const { variables, userHome, agentHome } = program.environment;
  const { PATH = "", HOME = userHome } = toolEnvironment(variables, { home: userHome });

  function open(mode: SandboxMode): LazyWorkspace {
    const policy = sandboxPolicy({
      mode,
      root,
      ...networkOf(mode, config.sandbox_workspace_write ?? {}),
      hidden: hiddenByDefault(userHome, agentHome),
      shown: programPlaces(config),
    });
    const openNow = async (incarnation: string) =>
      openWorkspace(policy, {
        serverProgram: serverProgramIn(program.directory),
        ...backEndOf(await chooseSandbox(policy, undefined, program)),
        env: { PATH, HOME },
        incarnation,
        limits: resourceLimits(config.limits),
      });
    return lazyWorkspace({ root, newIncarnation: () => newId(Date.now()), open: openNow });
  }

  return {
    async workspaceFor({ sandbox }) {
      const mode: SandboxMode = sandbox ?? "danger-full-access";
      const place = places.get(mode) ?? open(mode);
      places.set(mode, place);
      return place;
    },
    close: async () => void (await Promise.all([...places.values()].map((place) => place.close()))),
  };
}

/** A server named by its path can be started also where the place around it is private, as /tmp is. */
function programPlaces({ mcp_servers: servers = {} }: Config): string[] {
  const words = Object.values(servers).flatMap(({ command = "", args = [] }) => [command, ...args]);
  const files = words.filter((word) => isAbsolute(word) && statSync(word, { throwIfNoEntry: false })?.isFile());
  return [...new Set(files.map(placeOf))];
}

/** With what it is installed beside. */
function placeOf(file: string): string {
  const modules = file.indexOf("/node_modules/");
  return modules === -1 ? dirname(file) : file.slice(0, modules + "/node_modules".length);
}
