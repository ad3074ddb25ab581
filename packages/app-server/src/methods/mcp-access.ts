// Access to MCP servers: those of a loaded thread where they run, others started for one request and ended with it.
import type { DirectAccess } from "@agentcli/mcp";
import type { Config } from "@agentcli/protocol";
import { type Host, invalidRequest } from "../method.ts";

/** What the threads of the server have. */
export interface ThreadServers {
  /** Null for a thread without servers, or one that is not loaded. */
  of(threadId: string): DirectAccess | null;
  /** Loaded threads begin their next turn with what is configured then. */
  reload(): void;
}

export type ConfiguredServers = NonNullable<Config["mcp_servers"]>;
type Answer = Awaited<ReturnType<DirectAccess["readResource"]>>;

export interface AccessScope {
  threadId: string | null | undefined;
  signal: AbortSignal;
}

export interface McpAccess {
  /** Null where none of the servers is enabled. */
  ask<Result>(
    servers: ConfiguredServers,
    scope: AccessScope,
    act: (direct: DirectAccess) => Promise<Result>,
  ): Promise<Result | null>;
  /** What one server answers; its faults are refusals. */
  answer(
    server: string,
    scope: AccessScope,
    act: (direct: DirectAccess) => Promise<Answer>,
  ): Promise<Extract<Answer, { kind: "result" }>["result"]>;
}

export function openMcpAccess(threads: ThreadServers, host: Host): McpAccess {
  const access: McpAccess = {
    async ask(servers, { threadId, signal }, act) {
      const running = threadId ? threads.of(threadId) : null;
      return running ? act(running) : withTemporaryServers({ servers, signal }, host, act);
    },
    async answer(server, scope, act) {
      const answer = await access.ask(await onlyServer(server, host), scope, act);
      if (answer === null) throw invalidRequest(`MCP server ${server} is switched off: mcp_servers.${server}.enabled.`);
      if (answer.kind === "fault") throw invalidRequest(`MCP server ${server}: ${answer.fault.message}`);
      return answer.result;
    },
  };
  return access;
}

async function withTemporaryServers<Result>(
  { servers, signal }: { servers: ConfiguredServers; signal: AbortSignal },
  host: Host,
  act: (direct: DirectAccess) => Promise<Result>,
): Promise<Result | null> {
  const { configuration, servers: mcp } = host.agent;
  const { settings, loaded } = await configuration.settle(await configuration.load(null));
  const config = { ...loaded.config, mcp_servers: servers };
  const running = await mcp.start(config, settings.cwd);
  if (!running) return null;
  const stopped = stopOf(signal);
  try {
    return await Promise.race([act(running.direct), stopped.reached]);
  } finally {
    stopped.forget();
    await running.close();
  }
}

/** A server that is slow to start must not outlive the request. */
function stopOf(signal: AbortSignal): { reached: Promise<never>; forget(): void } {
  let stop = () => {};
  const reached = new Promise<never>((_, reject) => {
    stop = () => reject(invalidRequest("The client has disconnected."));
  });
  // It may not be awaited any more.
  reached.catch(() => {});
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  return { reached, forget: () => signal.removeEventListener("abort", stop) };
}

async function onlyServer(name: string, host: Host): Promise<ConfiguredServers> {
  const { mcp_servers: servers = {} } = (await host.agent.configuration.load(null)).loaded.config;
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server) return { [name]: server };
  const configured = Object.keys(servers).sort().join(", ") || "none";
  throw invalidRequest(`There is no MCP server ${JSON.stringify(name)}. Configured: ${configured}.`);
}
