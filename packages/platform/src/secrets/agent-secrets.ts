// The secrets of an agent: chosen when its first run starts, sealed with its own key, and the same for all its runs.
import { type SecretType, secretRepository } from "@agentcli/protocol/api";
import { sql } from "kysely";
import type { DataKey, Queries } from "../foundation/index.ts";
import type { AgentOwner, SecretHost } from "./host.ts";
import { ofEnvironment, ofTeam, ofUser, type SecretOwnerId } from "./owner.ts";
import { listSecrets, readValue, type SecretRow, teamKeyOf } from "./store.ts";

export interface AgentSecret {
  name: string;
  value: string;
  type: SecretType;
}

export interface SecretAgent extends AgentOwner {
  id: string;
}

/** What the agent started with; if it starts now, that is chosen here. */
export async function secretsOfAgent(host: SecretHost, agent: SecretAgent, key: DataKey): Promise<AgentSecret[]> {
  const recorded = await read(host.db, agent.id, key);
  if (recorded !== null) return recorded;
  const chosen = await chooseSecrets(host, agent);
  // A run that was claimed by another server meanwhile has chosen already: the first choice counts.
  await sql`
    insert into agent_secrets (agent_id, sealed)
    select id, ${key.seal(JSON.stringify(chosen), aad(agent.id))} from agents where id = ${agent.id}
    on conflict do nothing
  `.execute(host.db);
  return (await read(host.db, agent.id, key)) ?? chosen;
}

async function read(db: Queries, agentId: string, key: DataKey): Promise<AgentSecret[] | null> {
  const row = await db.selectFrom("agent_secrets").select("sealed").where("agent_id", "=", agentId).executeTakeFirst();
  return row ? JSON.parse(key.openText(row.sealed, aad(agentId))) : null;
}

const aad = (agentId: string): string => `agent-secrets:${agentId}`;

/** Of one name that of the environment wins over the user's, and that over the team's. */
async function chooseSecrets(host: SecretHost, agent: SecretAgent): Promise<AgentSecret[]> {
  const { teamId, userId, settings } = agent;
  const environmentId = await host.environments.ofAgent(agent);
  const owners: SecretOwnerId[] = [
    ...(environmentId === null ? [] : [ofEnvironment(teamId, environmentId)]),
    ...(userId === null ? [] : [ofUser(teamId, userId)]),
    ofTeam(teamId),
  ];
  const repositories = settings.repos.flatMap(({ url }) => secretRepository(url) ?? []);
  const chosen = new Map<string, SecretRow>();
  for (const owner of owners)
    for (const row of forRepositories(await listSecrets(host.db, owner), repositories))
      if (row.phase !== "build" && !chosen.has(row.name)) chosen.set(row.name, row);
  if (chosen.size === 0) return [];
  const key = await teamKeyOf(host, teamId);
  return [...chosen.values()].map((row) => ({ name: row.name, value: readValue(key, row), type: row.type }));
}

/** Of several versions of a name, that of the repository which the agent names first. */
const forRepositories = (rows: SecretRow[], repositories: string[]): SecretRow[] => [
  ...repositories.flatMap((repository) => rows.filter(({ repos }) => repos.includes(repository))),
  ...rows.filter(({ repos }) => repos.length === 0),
];
