// Why a worker is not connected any more, as far as the server that held its connection can tell.
import type { WorkerHealth } from "@agentcli/protocol/worker-link";
import { workerHealths } from "@agentcli/protocol/worker-link-names";
import { type Kysely, sql } from "kysely";
import type { Tables, WorkerLoss } from "../foundation/index.ts";

const lossText: Record<WorkerLoss, string> = {
  process: "its process has ended, or its machine has closed the connection",
  memory: "its machine was almost out of memory when the connection ended",
  starved: "its machine was so busy that the worker hardly ran when the connection ended",
  network: "nothing came from it any more: the network between, or the machine, is down",
  version: "its version does not fit that of the platform",
};

/** For people. */
export const awayText = ({ name, lost_reason: reason }: { name: string; lost_reason: WorkerLoss | null }): string =>
  `The worker ${name} is not connected${reason === null ? "" : `: ${lossText[reason]}`}.`;

/** What ended the connection, and what the worker had reported last. */
export function lossOf({ health, isSilent }: { health: WorkerHealth; isSilent: boolean }): WorkerLoss {
  if (health !== "well") return health;
  return isSilent ? "network" : "process";
}

/** A report that is not one says nothing. */
export function readHealth(body: unknown): WorkerHealth {
  const { state } = Object(body) as { state?: unknown };
  return workerHealths.find((health) => health === state) ?? "well";
}

/** A worker that was known, and that is too old or too new since. */
export async function noteWrongVersion(db: Kysely<Tables>, teamId: number, body: unknown): Promise<void> {
  const { workerId } = Object(body) as { workerId?: unknown };
  if (typeof workerId !== "string") return;
  await sql`
    update workers set lost_reason = 'version' where team_id = ${teamId} and id = ${workerId} and node_id is null
  `.execute(db);
}
