// `agentcli mcp login`: lets the user consent in a browser and stores the granted tokens.
import { spawn } from "node:child_process";
import { CommandError } from "@agentcli/command-line";
import type { Environment } from "@agentcli/host";
import { hostDirectory, ProgramNotFound } from "@agentcli/workspace";
import type { Invocation } from "../../command.ts";
import { nameOf, readConfigured } from "../../mcp/configured.ts";
import { defaultLoginTimeoutMs, logInTo } from "../../mcp/login.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = nameOf(invocation);
  const config = await readConfigured(invocation, program);
  const scopes = invocation.text("scopes")?.split(",").filter(Boolean);
  const show = (url: URL) => showAddress(url, program);
  const result = await logInTo({ name, config, scopes, show, limitMs: defaultLoginTimeoutMs, program }, program.signal);
  if (result.kind === "failed") throw new CommandError("auth", `MCP server ${name}: ${result.message}`);
  await program.print(
    result.kind === "logged-in"
      ? `Successfully logged in to MCP server '${name}'.\n`
      : `MCP server '${name}' does not require a login.\n`,
  );
  return 0;
}

/** The address is printed: if no browser starts, the user can open it. */
function openBrowser(url: URL, { variables, programs }: Environment): void {
  try {
    const program = programs.find(process.platform === "darwin" ? "open" : "xdg-open");
    const env = programs.environment(variables);
    const opener = spawn(program, [url.href], { cwd: hostDirectory, env, stdio: "ignore", detached: true });
    opener.on("error", () => {});
    opener.unref();
  } catch (error) {
    if (!(error instanceof ProgramNotFound)) throw error;
  }
}

function showAddress(url: URL, { reporter, environment }: Program): void {
  reporter.log(`Open this address to log in:\n\n  ${url}\n`);
  const hasScreen =
    process.platform === "darwin" || environment.variables.DISPLAY || environment.variables.WAYLAND_DISPLAY;
  if (!hasScreen || !process.stderr.isTTY) return;
  openBrowser(url, environment);
}
