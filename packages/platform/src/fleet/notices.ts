// What the notifications of new and waiting runs say, and which servers act on one: each costs the database a statement for
// every server that does.
import { createHash } from "node:crypto";

const withoutWorker = "host:";
const forServer = "at:";

/** Names the run: of equal notifications of one transaction the database sends one. */
export const noticeOfRun = ({ id, needsWorker }: { id: string; needsWorker: boolean }): string =>
  needsWorker ? id : `${withoutWorker}${id}`;

/** Runs wait whose workers are connected to this server: no other one can drive them. */
export const noticeOfAssigned = (nodeId: string): string => `${forServer}${nodeId}`;

/** How many runs it announces. Those that say no run announce any number: of runs whose workers have been assigned. */
export const runsIn = (notice: string): number =>
  notice === "" || notice.startsWith(forServer) ? Number.POSITIVE_INFINITY : 1;

/** Whether a worker may have to be assigned. */
export const concernsWorkers = (notice: string): boolean =>
  notice !== "" && !notice.startsWith(withoutWorker) && !notice.startsWith(forServer);

/** That all of them are busy, or none of them acts, is rare enough; the others look within a second anyway. */
const actingServers = 8;

/** `servers`: how many could act. A notice that names a server is for that one, any other for about eight of them. */
export function isFor(notice: string, { nodeId, servers }: { nodeId: string; servers: number }): boolean {
  if (notice.startsWith(forServer)) return notice === noticeOfAssigned(nodeId);
  if (notice === "" || servers <= actingServers) return true;
  const fraction = createHash("sha256").update(`${nodeId} ${notice}`).digest().readUInt32BE(0) / 2 ** 32;
  return fraction < actingServers / servers;
}
