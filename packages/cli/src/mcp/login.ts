// A login to one configured server, whoever shows its address to a person.
import type { HttpTransport, LoggedIn, ServerSettings } from "@agentcli/mcp";
import type { Config } from "@agentcli/protocol";
import { Problem } from "../problem.ts";
import type { Program } from "../program.ts";
import { clientHost, readServer } from "./compose.ts";
import { serverNamed } from "./configured.ts";
import { openCredentials } from "./credentials.ts";

export interface ServerLogin {
  name: string;
  config: Config;
  /** In place of those that are configured. */
  scopes: string[] | undefined;
  show(url: URL): void;
  /** Longest wait for the person. */
  limitMs: number;
  program: Program;
}

export const usualLoginLimitMs = 300_000;

export async function logInTo(login: ServerLogin, signal: AbortSignal): Promise<LoggedIn> {
  const settings = await settingsOf(login);
  const { show, limitMs, program } = login;
  const { logIn } = await import("@agentcli/mcp");
  const host = {
    ...clientHost(program.environment.cwd, program),
    workspaceFor: () => Promise.reject(new Error("a login starts no process")),
  };
  return logIn({ settings, store: openCredentials(program.environment.agentHome), host, show, limitMs }, signal);
}

async function settingsOf({
  name,
  config,
  scopes,
}: ServerLogin): Promise<ServerSettings & { transport: HttpTransport }> {
  const settings = await readServer(name, serverNamed(name, config), config);
  const { transport } = settings;
  if (transport.kind !== "http")
    throw new Problem("usage", `MCP server '${name}' is a program; only a server with a url has a login.`);
  return { ...settings, transport: scopes ? { ...transport, login: { ...transport.login, scopes } } : transport };
}
