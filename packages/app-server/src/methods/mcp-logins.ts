// mcpServer/oauth/login: the address is the answer; the outcome is a later notification, unless the client leaves first.
import type { LoginResult } from "@agentcli/mcp";
import type { ParamsOf, ResultOf } from "@agentcli/protocol/app-server";
import { type Client, type Host, invalidRequest } from "../method.ts";
import type { ServerLogin } from "../program.ts";

export interface Logins {
  begin(params: ParamsOf<"mcpServer/oauth/login">, client: Client): Promise<ResultOf<"mcpServer/oauth/login">>;
  close(): Promise<void>;
}

export function openLogins(host: Host): Logins {
  const underWay = new Map<AbortController, Promise<unknown>>();
  return {
    async begin({ name, scopes, timeoutSecs }, client) {
      const { config } = (await host.agent.configuration.load(null)).loaded;
      const stop = new AbortController();
      const leave = () => stop.abort();
      client.closed.addEventListener("abort", leave);
      const timeoutMs = timeoutSecs ? timeoutSecs * 1000 : undefined;
      const login = { name, config, scopes: scopes ?? undefined, timeoutMs };
      const { address, result } = start(login, host, stop.signal);
      const settled = result.finally(() => {
        client.closed.removeEventListener("abort", leave);
        underWay.delete(stop);
      });
      underWay.set(stop, settled);
      const first = await Promise.race([address, settled]);
      if (!(first instanceof URL)) throw invalidRequest(`MCP server ${name}: ${whyNoAddress(first)}`);
      void settled.then(
        (end) => notify(name, end, host),
        (error) => notify(name, failed(error), host),
      );
      return { authorizationUrl: first.href };
    },
    async close() {
      for (const stop of underWay.keys()) stop.abort();
      await Promise.allSettled(underWay.values());
    },
  };
}

function start(
  login: Omit<ServerLogin, "show">,
  { agent }: Host,
  signal: AbortSignal,
): { address: Promise<URL>; result: Promise<LoginResult> } {
  let show: (url: URL) => void = () => {};
  const address = new Promise<URL>((resolve) => {
    show = resolve;
  });
  return { address, result: agent.servers.logIn({ ...login, show }, signal) };
}

const whyNoAddress = (end: LoginResult): string => (end.kind === "failed" ? end.message : "it wants no login.");

const failed = (error: unknown): LoginResult => ({ kind: "failed", message: String((error as Error).message) });

function notify(name: string, end: LoginResult, host: Host): void {
  const error = end.kind === "failed" ? end.message : null;
  host.broadcast("mcpServer/oauthLogin/completed", { name, success: error === null, error });
}
