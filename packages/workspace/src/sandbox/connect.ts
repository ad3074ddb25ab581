// Connects to the server that starts in a sandbox, without waiting for it.
import type { Workspace } from "@agentcli/protocol";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import { connectStarting } from "../client/index.ts";
import type { ServerConfig } from "../server/index.ts";
import type { ConfinedProcess } from "./confined-process.ts";

const startTimeoutMs = 30_000;

type NamedConfig = ServerConfig & { incarnation: string };

/** Sends the configuration. `greeted` settles with the hello of that server; operations called before wait for it inside. */
export function connectServer(
  confined: ConfinedProcess,
  config: NamedConfig,
): { workspace: Workspace; greeted: Promise<void> } {
  confined.stdin.write(`${JSON.stringify(config)}\n`);
  const connection = { readable: confined.stdout, writable: confined.stdin, describeEnd: confined.describeEnd };
  const { workspace, greeting } = connectStarting(connection, config);
  const greeted = killIfLate(confined, compare(greeting, config));
  // The opening of the sandbox may fail before it waits for this.
  greeted.catch(() => {});
  return { workspace, greeted };
}

async function compare(greeting: Promise<Pick<Workspace, "root" | "incarnation">>, expected: NamedConfig) {
  const { root, incarnation } = await greeting;
  if (root !== expected.root || incarnation !== expected.incarnation)
    throw new Error(
      `The sandbox for ${expected.root} was answered by the process of another one, for ${root}. Run again.`,
    );
}

async function killIfLate(confined: ConfinedProcess, greeted: Promise<void>): Promise<void> {
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    void confined.kill();
  }, startTimeoutMs);
  try {
    await greeted;
  } catch (error) {
    throw isLate ? late() : error;
  } finally {
    clearTimeout(limit);
  }
}

/** Node that gets no more threads can wait for one without an error. */
const late = (): SandboxUnavailable =>
  new SandboxUnavailable(
    `The server inside the sandbox did not answer within ${startTimeoutMs / 1000} seconds.`,
    "Run again when the machine is less busy, or raise the limit of processes: ulimit -u 4096.",
  );
