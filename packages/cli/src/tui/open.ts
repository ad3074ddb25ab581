// The terminal interface with its server: in this process, or the one that --remote names.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { InProcessServer } from "@agentcli/app-server";
import { CommandError } from "@agentcli/command-line";
import { preloadChunk } from "@agentcli/command-line/compiled";
import { type Connect, connectTo, runTui, type ThreadOverrides, type TuiOptions } from "@agentcli/tui";
import type { Invocation } from "../command.ts";
import { readImages } from "../exec/images.ts";
import type { Program } from "../program.ts";

export type Opening = Pick<TuiOptions, "start" | "prompt">;

export async function openTerminalInterface(
  invocation: Invocation,
  program: Program,
  opening: Opening,
): Promise<number> {
  const { environment, version, signal } = program;
  const images = invocation
    .list("image")
    .flatMap((paths) => paths.split(","))
    .map((path) => resolve(environment.cwd, path));
  readImages(images, environment.cwd);
  const server = openConnection(invocation, program);
  try {
    return await runTui({
      ...opening,
      connect: server.connect,
      streams: { input: process.stdin, output: process.stdout },
      variables: environment.variables,
      programVariables: environment.programs.environment,
      programs: environment.programs,
      version,
      agentHome: environment.agentHome,
      overrides: overridesOf(invocation, environment.cwd),
      images,
      trustHooks:
        invocation.text("remote") === undefined
          ? async (keys) => (await import("./in-process.ts")).trustKeys(keys, invocation, program)
          : null,
      signal,
    });
  } finally {
    await server.close();
  }
}

/** With --last the one argument is the prompt; without an id, a list is shown. */
export function openEarlier(invocation: Invocation, program: Program, kind: "resume" | "fork"): Promise<number> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new CommandError("usage", `agentcli ${kind} needs a terminal. Without one: agentcli exec ${kind} ID "…".`);
  const isNewest = invocation.has("last");
  const [first, second] = invocation.positionals;
  const which = isNewest ? "newest" : first === undefined ? "pick" : { id: first };
  const prompt = (isNewest ? first : second) ?? null;
  return openTerminalInterface(invocation, program, {
    start: { kind, which, isEverywhere: invocation.has("all") },
    prompt,
  });
}

/** In this process the flags are the server's own; elsewhere they travel with the request. */
function overridesOf(invocation: Invocation, cwd: string): ThreadOverrides {
  const given = permissionsOf(invocation);
  const directory = invocation.text("cd");
  const isRemote = invocation.text("remote") !== undefined;
  if (!isRemote) return { ...given, cwd: resolve(cwd, directory ?? ".") };
  return { ...given, model: invocation.text("model"), cwd: directory };
}

export function permissionsOf(invocation: Invocation): ThreadOverrides {
  const bypass = invocation.has("dangerously-bypass-approvals-and-sandbox");
  return {
    sandbox: bypass ? "danger-full-access" : (invocation.text("sandbox") as ThreadOverrides["sandbox"]),
    approvalPolicy: bypass ? "never" : (invocation.text("ask-for-approval") as ThreadOverrides["approvalPolicy"]),
  };
}

interface OpenConnection {
  connect: Connect;
  close(): Promise<void>;
}

function openConnection(invocation: Invocation, program: Program): OpenConnection {
  const remote = invocation.text("remote");
  if (remote !== undefined) return { connect: remoteConnection(remote, invocation, program), close: async () => {} };
  const lines: string[] = [];
  const reporter = { ...program.reporter, log: (line: string) => void lines.push(line) };
  const serving = { ...program, reporter };
  let server: InProcessServer | undefined;
  return {
    async connect(events) {
      server ??= (await loadServer()).openServer(invocation, serving);
      return server.connect(events);
    },
    async close() {
      await server?.close();
      // Drawn over the interface they would be lost.
      for (const line of lines) program.reporter.log(line);
    },
  };
}

/** In parts: keys that are typed meanwhile are answered between them. Together they take 40 ms. */
async function loadServer() {
  for (const chunk of ["schemas", "protocol", "serving"]) {
    await setImmediate();
    preloadChunk(chunk);
  }
  await setImmediate();
  return import("./in-process.ts");
}

export function remoteConnection(remote: string, invocation: Invocation, program: Program): Connect {
  const url = remote === "unix://" ? `unix://${join(program.environment.agentHome, socketPath)}` : remote;
  return connectTo({ url, token: tokenOf(invocation, program) });
}

const socketPath = "app-server-control/app-server-control.sock";

function tokenOf(invocation: Invocation, { environment }: Program): string | null {
  const name = invocation.text("remote-auth-token-env");
  const file = invocation.text("remote-auth-token-file");
  if (name !== undefined) {
    const token = environment.variables[name];
    if (!token) throw new CommandError("usage", `--remote-auth-token-env ${name}: this variable is not set.`);
    return token;
  }
  if (file === undefined) return null;
  try {
    return readFileSync(resolve(environment.cwd, file), "utf8").trim();
  } catch (error) {
    throw new CommandError("usage", `--remote-auth-token-file ${file}: ${(error as Error).message}.`);
  }
}
