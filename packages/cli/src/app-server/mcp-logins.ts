// mcpServer/oauth/login: the address is the answer; how the person decided is told later, unless the client leaves first.
import type { LoggedIn } from "@agentcli/mcp";
import type { ParamsOf, ResultOf } from "@agentcli/protocol/app-server";
import { logInTo, usualLoginLimitMs } from "../mcp/login.ts";
import { configuredIn } from "./configured.ts";
import { type Client, type Host, invalidRequest } from "./method.ts";

export interface Logins {
  begin(params: ParamsOf<"mcpServer/oauth/login">, client: Client): Promise<ResultOf<"mcpServer/oauth/login">>;
  close(): Promise<void>;
}

export function openLogins(host: Host): Logins {
  const underWay = new Map<AbortController, Promise<unknown>>();
  return {
    async begin({ name, scopes, timeoutSecs }, client) {
      const { config } = (await configuredIn(null, host)).loaded;
      const stop = new AbortController();
      const leave = () => stop.abort();
      client.closed.addEventListener("abort", leave);
      const limitMs = timeoutSecs ? timeoutSecs * 1000 : usualLoginLimitMs;
      const login = { name, config, scopes: scopes ?? undefined, limitMs, program: host.program };
      const { address, result } = start(login, stop.signal);
      const settled = result.finally(() => {
        client.closed.removeEventListener("abort", leave);
        underWay.delete(stop);
      });
      underWay.set(stop, settled);
      const first = await Promise.race([address, settled]);
      if (!(first instanceof URL)) throw invalidRequest(`MCP server ${name}: ${whyNoAddress(first)}`);
      void settled.then(
        (end) => tell(name, end, host),
        (error) => tell(name, failed(error), host),
      );
      return { authorizationUrl: first.href };
    },
    async close() {
      for (const stop of underWay.keys()) stop.abort();
      await Promise.allSettled(underWay.values());
    },
  };
}

type Login = Omit<Parameters<typeof logInTo>[0], "show">;

function start(login: Login, signal: AbortSignal): { address: Promise<URL>; result: Promise<LoggedIn> } {
  let show: (url: URL) => void = () => {};
  const address = new Promise<URL>((resolve) => {
    show = resolve;
  });
  return { address, result: logInTo({ ...login, show }, signal) };
}

const whyNoAddress = (end: LoggedIn): string => (end.kind === "failed" ? end.message : "it wants no login.");

const failed = (error: unknown): LoggedIn => ({ kind: "failed", message: String((error as Error).message) });

function tell(name: string, end: LoggedIn, host: Host): void {
  const error = end.kind === "failed" ? end.message : null;
  host.broadcast("mcpServer/oauthLogin/completed", { name, success: error === null, error });
}
