// Tells workers which agents need them no more: their claim was released, went to another worker, or they were deleted.
import type { WorkerRequest } from "@agentcli/protocol/worker-link";
import type { Kysely } from "kysely";
import type { Tables } from "../foundation/index.ts";
import type { ConnectedWorker, Gateway, ServedAgent } from "./gateway.ts";

/** Over the connections of this server. A worker that was not connected then ends such an agent at its next claim. */
export async function releaseAgents(db: Kysely<Tables>, gateway: Pick<Gateway, "list">): Promise<void> {
  // As it is now: an agent that comes during the query is not in its answer.
  const serving = gateway
    .list()
    .flatMap((worker) => [...worker.served].map(([agent, served]) => ({ worker, agent, served })));
  if (serving.length === 0) return;
  const agentIds = serving.map(({ served }) => served.agentId);
  const claims = await db.selectFrom("worker_claims").selectAll().where("agent_id", "in", agentIds).execute();
  const holders = new Map(claims.map((claim) => [claim.agent_id, `${claim.team_id}/${claim.worker_id}`]));
  for (const { worker, agent, served } of serving)
    if (holders.get(served.agentId) !== `${worker.teamId}/${worker.workerId}`) release(worker, agent, served);
}

/** Once: a worker that does not answer is not asked again, and what it still runs ends with its connection. */
function release({ served, link }: ConnectedWorker, agent: string, released: ServedAgent): void {
  // A later run may have claimed the worker during the query.
  if (served.get(agent) === released) served.delete(agent);
  const body: WorkerRequest<"agent.release"> = { agent, runId: released.runId };
  void link.request("agent.release", body).then(
    ({ stream }) => void stream.destroy(),
    () => {},
  );
}
