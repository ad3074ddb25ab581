// The agents that cost most, with what is sealed in them: name, automation and tags. Only those that the caller may read.
import type { Selectable } from "kysely";
import type { AgentAccess } from "../agents/index.ts";
import type { AgentTable, DataKey, PlatformContext } from "../foundation/index.ts";
import { type Principal, relationOf } from "../identity/index.ts";
import { agentNameAad, openPrivateSettings } from "../runs/index.ts";
import type { Row } from "./amounts.ts";

export interface UsageHost {
  platform: PlatformContext;
  access: AgentAccess;
}

export interface DescribedAgent {
  id: string;
  name: string;
  repositories: string[];
  /** What started it; null: a request. */
  automationId: string | null;
  tags: [key: string, value: string][];
}

/** Of `rows`, whose ids are those of agents, by their id. At most so many as may be opened for one answer. */
export async function describeAgents(
  { platform: { db, vault }, access }: UsageHost,
  principal: Principal,
  rows: Row[],
): Promise<Map<string, DescribedAgent>> {
  const costliest = rows.slice(0, maxAgents).map(({ id }) => id);
  if (costliest.length === 0) return new Map();
  const found = await db.selectFrom("agents").selectAll().where("id", "in", costliest).execute();
  const order = new Map(costliest.map((id, index) => [id, index]));
  const agents = found.sort(
    // Those of others may not all be asked about.
    (one, other) =>
      Number(isOwn(principal, other)) - Number(isOwn(principal, one)) ||
      (order.get(one.id) ?? 0) - (order.get(other.id) ?? 0),
  );
  const readable = await access.readable(principal, agents);
  const described = new Map<string, DescribedAgent>();
  const toOpen = agents.filter(({ id }) => readable.has(id));
  for (let start = 0; start < toOpen.length; start += maxConcurrent)
    await Promise.all(
      toOpen.slice(start, start + maxConcurrent).map(async (agent) => {
        described.set(agent.id, describe(agent, await vault.unwrap(agent.data_key)));
      }),
    );
  return described;
}

/** Each is opened with a key of its own, which a key service may have to decrypt. */
const maxAgents = 500;
const maxConcurrent = 50;

const isOwn = (principal: Principal, agent: Selectable<AgentTable>): boolean =>
  relationOf(principal, agent) === "owner";

function describe(agent: Selectable<AgentTable>, key: DataKey): DescribedAgent {
  const { id, name, settings, source } = agent;
  const { metadata } = openPrivateSettings(id, key, agent.private_settings);
  const { automationId, firingId: _, ...others } = metadata;
  const isOfAutomation = source === "AUTOMATION" && automationId !== undefined;
  return {
    id,
    name: key.openText(name, agentNameAad(id)),
    repositories: [...new Set(settings.repos.map(({ url }) => url))],
    automationId: isOfAutomation ? automationId : null,
    // What automations write there names the automation, and each firing differently.
    tags: Object.entries(isOfAutomation ? others : metadata),
  };
}
