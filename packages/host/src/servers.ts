// The MCP servers of a run: settings checked, all started at once. Loaded only if there are servers.
import {
  type HttpTransport,
  type McpHost,
  type McpServers,
  openMcpServers,
  readSettings,
  type ServerReport,
  type ServerSettings,
  type StdioTransport,
} from "@agentcli/mcp";
import { durationMs, maxTimerMs } from "@agentcli/project";
import { sanitize } from "@agentcli/project/sanitize";
import type { McpServer, SandboxMode, Workspace } from "@agentcli/protocol";
import type { LazyWorkspace } from "@agentcli/workspace";
import { changesIn, oncePerMode } from "./sandboxes.ts";

export interface ServerSource
  extends Pick<McpHost, "root" | "variables" | "authorize" | "headersFrom" | "lookupFor" | "elicit"> {
  servers: [name: string, server: McpServer][];
  /** The run does not start without these. */
  required?: string[];
  /** As configured. */
  startLimit: string | undefined;
  /** The mode of the sandbox that the process of a server runs in; absent: the mode of the run. */
  sandboxOf?(name: string, transport: StdioTransport): SandboxMode;
  /** Opens separate sandboxes for servers, if they must differ from those of tools. */
  openSandbox?(mode: SandboxMode): Promise<LazyWorkspace>;
  /** The error for settings that cannot be used. Absent: such a server is reported as failed. */
  refuse?(message: string): Error;
}

export interface RunningServers extends McpServers {
  names: string[];
  required: string[];
  /** Their reports have been noted. */
  joined: boolean;
  /** One sentence for each repository that servers in sandboxes of their own have created or changed, once. */
  findRepositoryChanges(): Promise<string[]>;
}

export interface ServerContext {
  client: McpHost["client"];
  /** Opens the sandbox of a mode; absent: the mode of the run. */
  openSandbox(mode?: SandboxMode): Promise<Workspace>;
}

export function openServers(source: ServerSource, context: ServerContext): RunningServers {
  const { settings, invalid } = readAll(source);
  const nameOf = new Map<StdioTransport | HttpTransport, string>(
    settings.map(({ name, transport }) => [transport, name]),
  );
  const separateSandboxes = source.openSandbox && oncePerMode(source.openSandbox, (workspace) => workspace.close());
  const servers = openMcpServers(settings, {
    ...hostOf(source),
    client: context.client,
    sanitize: (text) => sanitize(text).text,
    workspaceFor: async (transport) => {
      const mode = source.sandboxOf?.(nameOf.get(transport) ?? "", transport);
      return separateSandboxes && mode ? separateSandboxes.open(mode) : context.openSandbox(mode);
    },
  });
  let closing: Promise<void> | undefined;
  const close = async () => {
    await servers.close();
    await separateSandboxes?.close();
  };
  return {
    ...servers,
    started: async () => [...invalid, ...(await servers.started())],
    names: source.servers.map(([name]) => name),
    required: source.required ?? [],
    joined: false,
    async findRepositoryChanges() {
      const opened = await Promise.all(separateSandboxes?.opened() ?? []);
      return changesIn(opened);
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

const hostOf = ({ root, variables, authorize, headersFrom, lookupFor, elicit }: ServerSource) => ({
  root,
  variables,
  authorize,
  ...(headersFrom && { headersFrom }),
  ...(lookupFor && { lookupFor }),
  ...(elicit && { elicit }),
});

/** `off` is the longest a timer can wait. */
export const startLimitMs = (configured = "30s"): number => durationMs(configured) ?? maxTimerMs;

function readAll({ servers, startLimit, refuse }: ServerSource) {
  const settings: ServerSettings[] = [];
  const invalid: ServerReport[] = [];
  for (const [name, server] of servers) {
    const read = readSettings(name, server, { startTimeoutMs: startLimitMs(startLimit) });
    if (read.kind === "settings") settings.push(read.settings);
    else if (refuse) throw refuse(read.message);
    else invalid.push({ name, status: "failed", reason: read.message });
  }
  return { settings, invalid };
}
