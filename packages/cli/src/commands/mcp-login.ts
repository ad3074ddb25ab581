// `agentcli mcp login`: lets a person consent in a browser and keeps what the server grants.
import { spawn } from "node:child_process";
import type { HttpTransport, ServerSettings } from "@agentcli/mcp";
import type { Invocation } from "../args.ts";
import { clientHost, readServer } from "../mcp/compose.ts";
import { nameOf, readConfigured, serverNamed } from "../mcp/configured.ts";
import { openCredentials } from "../mcp/credentials.ts";
import { Problem } from "../problem.ts";
import type { Program } from "../program.ts";

const limitMs = 300_000;

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = nameOf(invocation);
  const settings = await settingsOf(name, invocation, program);
  const { logIn } = await import("@agentcli/mcp");
  const result = await logIn(
    {
      settings,
      store: openCredentials(program.environment.agentHome),
      host: {
        ...clientHost(program.environment.cwd, program),
        workspaceFor: () => Promise.reject(new Error("a login starts no process")),
      },
      show: (url) => showAddress(url, program),
      limitMs,
    },
    program.signal,
  );
  if (result.kind === "failed") throw new Problem("auth", `MCP server ${name}: ${result.message}`);
  await program.print(
    result.kind === "logged-in"
      ? `Successfully logged in to MCP server '${name}'.\n`
      : `MCP server '${name}' wants no login.\n`,
  );
  return 0;
}

async function settingsOf(
  name: string,
  invocation: Invocation,
  program: Program,
): Promise<ServerSettings & { transport: HttpTransport }> {
  const config = await readConfigured(invocation, program);
  const settings = await readServer(name, serverNamed(name, config), config);
  const { transport } = settings;
  if (transport.kind !== "http")
    throw new Problem("usage", `MCP server '${name}' is a program; only a server with a url has a login.`);
  const scopes = invocation.text("scopes")?.split(",").filter(Boolean);
  return { ...settings, transport: scopes ? { ...transport, login: { ...transport.login, scopes } } : transport };
}

function showAddress(url: URL, { reporter, environment }: Program): void {
  reporter.say(`Open this address to log in:\n\n  ${url}\n`);
  const hasScreen =
    process.platform === "darwin" || environment.variables.DISPLAY || environment.variables.WAYLAND_DISPLAY;
  if (!hasScreen || !process.stderr.isTTY) return;
  const opener = spawn(process.platform === "darwin" ? "open" : "xdg-open", [url.href], {
    stdio: "ignore",
    detached: true,
  });
  // The address is on the screen: without a browser that starts by itself, a person starts one.
  opener.on("error", () => {});
  opener.unref();
}
