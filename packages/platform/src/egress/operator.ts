// Why an agent can or cannot reach a host, for the operator's command: by the policy of its last run, and what that run met.
import type { EgressEntry, EgressPolicy } from "@agentcli/protocol/api";
import { loadMachineParts } from "@agentcli/workspace";
import type { Kysely } from "kysely";
import type { Tables, Vault } from "../foundation/index.ts";
import { policyName } from "./policy.ts";
import { readPolicy } from "./read.ts";
import { readEgress } from "./record.ts";

export interface HostExplanation {
  decision: "allowed" | "denied";
  /** For people: the rule. */
  reason: string;
  policy: EgressPolicy;
  /** Null: the agent has not run yet, and its environment is not known. */
  runId: string | null;
  /** What this run met at the host. */
  met: EgressEntry[];
}

export type ExplainResult =
  | { kind: "explained"; explanation: HostExplanation }
  | { kind: "unknown-agent" }
  | { kind: "invalid-host" };

export async function explainHost(
  { db, vault, publicUrl }: { db: Kysely<Tables>; vault: Vault; publicUrl: string },
  { agentId, host }: { agentId: string; host: string },
): Promise<ExplainResult> {
  const agent = await db.selectFrom("agents").selectAll().where("id", "=", agentId).executeTakeFirst();
  if (!agent) return { kind: "unknown-agent" };
  const run = await db
    .selectFrom("runs")
    .select(["id", "egress"])
    .where("agent_id", "=", agentId)
    .where("egress", "is not", null)
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  const recorded = run && readEgress(run, await vault.unwrap(agent.data_key));
  const owner = { teamId: agent.team_id, userId: agent.user_id, settings: agent.settings };
  const policy = recorded?.policy ?? (await readPolicy(db, { agent: owner, environment: undefined, publicUrl }));
  const { readRules, explainTarget } = await loadMachineParts();
  const found = await explainTarget(await readRules(policy.allowed, [], policyName(policy)), host);
  if (found.kind === "invalid") return { kind: "invalid-host" };
  const [name] = host.toLowerCase().split(/:\d+$/);
  const met = recorded?.items.filter((entry) => entry.host === name) ?? [];
  const reason =
    found.kind === "denied"
      ? found.reason
      : `"${found.rule}" allows it, in ${policyName(policy)}. Private addresses are refused unless they are listed themselves.`;
  return { kind: "explained", explanation: { decision: found.kind, reason, policy, runId: run?.id ?? null, met } };
}
