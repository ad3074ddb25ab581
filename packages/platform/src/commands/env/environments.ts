// What the commands about environments share: the database, a server that builds, and the log of a build.
import { setTimeout as delay } from "node:timers/promises";
import { CommandError } from "@agentcli/command-line";
import { type EnvironmentOperator, openEnvironmentOperator } from "../../environments/operator.ts";
import type { Settings } from "../../foundation/config/index.ts";
import { ApiError } from "../../foundation/http/index.ts";
import { listServers } from "../../server-file.ts";
import type { Invocation } from "../command.ts";
import { withVault } from "../principals.ts";
import type { Program } from "../program.ts";

export interface EnvironmentCommand {
  environments: EnvironmentOperator;
  settings: Settings;
  program: Program;
}

export async function withEnvironments<T>(
  invocation: Invocation,
  program: Program,
  use: (command: EnvironmentCommand) => Promise<T>,
): Promise<T> {
  try {
    return await withVault(invocation, program, ({ db, vault, settings }) =>
      use({ environments: openEnvironmentOperator(db, vault), settings, program }),
    );
  } catch (error) {
    if (error instanceof ApiError) throw new CommandError("usage", error.message);
    throw error;
  }
}

export function requirePositional({ positionals }: Invocation, index: number, usage: string): string {
  const value = positionals[index];
  if (value !== undefined) return value;
  throw new CommandError("usage", `Something is missing: ${usage}.`);
}

/** Builds run on servers, not in this command. */
export function requireBuilder({ dataDirectory }: Settings): void {
  if (listServers(dataDirectory).some(({ roles }) => roles.includes("runner"))) return;
  throw new CommandError(
    "failed",
    "No server with the role runner uses this data directory, and builds run there. Start one with: platform serve",
  );
}

const pollMs = 300;

/** Prints its log until it has ended. Returns its status. */
export async function followBuild({ environments, program }: EnvironmentCommand, buildId: string): Promise<string> {
  for (let after = 0; ; ) {
    program.signal.throwIfAborted();
    const build = await environments.findBuild(buildId);
    const pieces = await environments.readLog(build, after);
    for (const { text } of pieces) program.print(text);
    after = pieces.at(-1)?.seq ?? after;
    if (pieces.length > 0) continue;
    if (build.status !== "IN_PROGRESS") return build.status;
    await delay(pollMs, undefined, { signal: program.signal });
  }
}
