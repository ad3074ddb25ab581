// What runs of automations would have written: recorded once per call, sealed with the key of the team.
import type { Proposal } from "@agentcli/protocol/api";
import { type PlatformContext, type Queries, teamKey } from "../../foundation/index.ts";

export interface NewProposal {
  agentId: string;
  teamId: number;
  /** The same when the call is repeated after a crash. */
  callId: string;
  tool: string;
  /** Without secrets. */
  arguments: Record<string, unknown>;
}

type Store = Pick<PlatformContext, "db" | "vault">;

const proposalAad = (agentId: string, callId: string): string => `proposal:${agentId}:${callId}`;

export async function recordProposal({ db, vault }: Store, proposal: NewProposal): Promise<void> {
  const { agentId, teamId, callId, tool } = proposal;
  const key = await teamKey(db, vault, teamId);
  const { latest_run_id } = await db
    .selectFrom("agents")
    .select("latest_run_id")
    .where("id", "=", agentId)
    .executeTakeFirstOrThrow();
  await db
    .insertInto("automation_proposals")
    .values({
      ...{ agent_id: agentId, call_id: callId, run_id: latest_run_id ?? "", tool, created_at: new Date() },
      arguments: key.seal(JSON.stringify(proposal.arguments), proposalAad(agentId, callId)),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** By agent, each in the order of the calls. */
export async function listProposals(
  { db, vault }: Store,
  { teamId, agentIds }: { teamId: number; agentIds: string[] },
): Promise<Map<string, Proposal[]>> {
  const found = new Map<string, Proposal[]>();
  if (agentIds.length === 0) return found;
  const key = await teamKey(db, vault, teamId);
  for (const row of await readRows(db, agentIds)) {
    const text = key.openText(row.arguments, proposalAad(row.agent_id, row.call_id));
    const proposal = {
      id: row.call_id,
      tool: row.tool,
      arguments: JSON.parse(text) as Record<string, unknown>,
      runId: row.run_id,
      createdAt: row.created_at.toISOString(),
    };
    found.set(row.agent_id, [...(found.get(row.agent_id) ?? []), proposal]);
  }
  return found;
}

/** An agent has the id of one that was deleted only after its proposals are gone. */
const readRows = (db: Queries, agentIds: string[]) =>
  db.selectFrom("automation_proposals").selectAll().where("agent_id", "in", agentIds).orderBy("position").execute();
