// A login to one configured server; the caller shows its address.
import { CommandError } from "@agentcli/command-line";
import type { HttpTransport, LoginResult, ServerSettings } from "@agentcli/mcp";
import type { Config } from "@agentcli/protocol";
import type { Program } from "../program.ts";
import { serverNamed } from "./configured.ts";
import { openCredentials } from "./credentials.ts";
import { clientHost, readServer } from "./source.ts";

export interface ServerLogin {
  name: string;
  config: Config;
  /** Replaces the configured ones. */
  scopes: string[] | undefined;
  show(url: URL): void;
  /** Timeout for the user's consent. */
  limitMs: number;
  program: Program;
}

export const defaultLoginTimeoutMs = 300_000;

export async function logInTo(login: ServerLogin, signal: AbortSignal): Promise<LoginResult> {
  const settings = await settingsOf(login);
  const { show, limitMs, program } = login;
  const { logIn } = await import("@agentcli/mcp");
  const host = {
    ...clientHost(program.environment.cwd, program),
    workspaceFor: () => Promise.reject(new Error("a login starts no process")),
  };
  return logIn(
    { settings, store: openCredentials(program.environment.agentHome), host, show, timeoutMs: limitMs },
    signal,
  );
}

async function settingsOf({
  name,
  config,
  scopes,
}: ServerLogin): Promise<ServerSettings & { transport: HttpTransport }> {
  const settings = await readServer(name, serverNamed(name, config), config);
  const { transport } = settings;
  if (transport.kind !== "http")
    throw new CommandError(
      "usage",
      `MCP server '${name}' is a local program (stdio); login applies only to servers with a url.`,
    );
  return { ...settings, transport: scopes ? { ...transport, login: { ...transport.login, scopes } } : transport };
}
