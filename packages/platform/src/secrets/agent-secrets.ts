// The secrets of an agent: chosen when its first run starts, sealed with its own key, and the same for all its runs.
import { placeholderFor } from "@agentcli/workspace";
import { type Kysely, sql } from "kysely";
import { type DataKey, prepared, type Queries, type Tables } from "../foundation/index.ts";
import { isFormerUser } from "../identity/index.ts";
import { type ChosenSecret, choose } from "./choose.ts";
import type { AgentOwner, SecretHost } from "./host.ts";
import { ofEnvironment, ofTeam, ofUser, type SecretOwnerId } from "./owner.ts";

export interface AgentSecret extends ChosenSecret {
  /** Only recognized, not given to commands: a token that an earlier run got for its time, or a former owner's. */
  isMinted?: true;
  /** What commands get in its place, where it is bound to hosts: the same for all runs. */
  placeholder?: string;
}

export interface SecretAgent extends AgentOwner {
  id: string;
}

/** What the agent started with, and the tokens of its earlier runs; if it starts now, that is chosen here. */
export async function secretsOfAgent(host: SecretHost, agent: SecretAgent, key: DataKey): Promise<AgentSecret[]> {
  return withoutFormerOwner(host.db, agent, await readOrChoose(host, agent, key));
}

async function readOrChoose(host: SecretHost, agent: SecretAgent, key: DataKey): Promise<AgentSecret[]> {
  const recorded = await readOrRecordNone(host.db, agent, key);
  if (recorded !== null) return recorded;
  const chosen = await chooseSecrets(host, agent);
  // A run that was claimed by another server meanwhile has chosen already: the first choice counts.
  const added = await sql`
    insert into agent_secrets (agent_id, sealed)
    select id, ${key.seal(JSON.stringify(chosen), aad(agent.id))} from agents where id = ${agent.id}
    on conflict do nothing returning agent_id
  `.execute(host.db);
  return added.rows.length > 0 ? chosen : ((await read(host.db, agent.id, key)) ?? chosen);
}

/** Runs of other users on the agent of one who was removed only recognize what was the user's own. */
async function withoutFormerOwner(
  db: Queries,
  { userId }: SecretAgent,
  secrets: AgentSecret[],
): Promise<AgentSecret[]> {
  if (!secrets.some(({ isPersonal }) => isPersonal) || !(await isFormerUser(db, { userId, since: new Date() })))
    return secrets;
  return secrets.map((secret) =>
    secret.isPersonal ? { name: secret.name, value: secret.value, type: secret.type, isMinted: true as const } : secret,
  );
}

/**
 * Null: the team has secrets, and it is still to be chosen which of them the agent gets. Where the team has none, that is
 * recorded in the same statement: it is part of the start of most agents. It does not wait for the disk: the records of
 * the run that follow do, before the model is asked, and what was written earlier is on the disk with them.
 */
async function readOrRecordNone(db: Queries, agent: SecretAgent, key: DataKey): Promise<AgentSecret[] | null> {
  const { rows } = await sql<{ sealed: Buffer | null; isNone: boolean }>`${prepared}
    with recorded as (
      select sealed from agent_secrets where agent_id = ${agent.id}
    ), added as (
      insert into agent_secrets (agent_id, sealed)
      select id, ${key.seal("[]", aad(agent.id))} from agents
      cross join set_config('synchronous_commit', 'off', true)
      where id = ${agent.id} and not exists (select from recorded)
        and not exists (select from secrets where team_id = ${agent.teamId})
      on conflict do nothing returning agent_id
    )
    select (select sealed from recorded), exists (select from added) as "isNone"
  `.execute(db);
  const [found] = rows;
  if (found?.sealed) return open(found.sealed, agent.id, key);
  return found?.isNone ? [] : null;
}

async function read(db: Queries, agentId: string, key: DataKey): Promise<AgentSecret[] | null> {
  const row = await db.selectFrom("agent_secrets").select("sealed").where("agent_id", "=", agentId).executeTakeFirst();
  return row ? open(row.sealed, agentId, key) : null;
}

const open = (sealed: Buffer, agentId: string, key: DataKey): AgentSecret[] =>
  JSON.parse(key.openText(sealed, aad(agentId)));

/** What it started with, nothing if it has not, and the tokens of its runs. */
export const recordedSecrets = async (
  db: Queries,
  { agent, key }: { agent: { id: string }; key: DataKey },
): Promise<AgentSecret[]> => (await read(db, agent.id, key)) ?? [];

/** Of those recorded; earlier ones have expired long ago. */
const maxMinted = 20;

/** Before a run gets the token: the server that resumes the run, or keeps its files, has to recognize it. Throws if it fails. */
export const recordToken = (
  db: Kysely<Tables>,
  { agent: { id }, key }: { agent: { id: string }; key: DataKey },
  { name, value }: { name: string; value: string },
): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const rows = tx.selectFrom("agent_secrets").select("sealed").where("agent_id", "=", id).forUpdate();
    const recorded = open((await rows.executeTakeFirstOrThrow()).sealed, id, key);
    const minted: AgentSecret[] = recorded.filter(({ isMinted }) => isMinted).slice(1 - maxMinted);
    minted.push({ name, value, type: "runtime_secret", isMinted: true });
    const all = [...recorded.filter(({ isMinted }) => !isMinted), ...minted];
    const sealed = key.seal(JSON.stringify(all), aad(id));
    await tx.updateTable("agent_secrets").set({ sealed }).where("agent_id", "=", id).execute();
  });

const aad = (agentId: string): string => `agent-secrets:${agentId}`;

async function chooseSecrets(host: SecretHost, agent: SecretAgent): Promise<AgentSecret[]> {
  const { teamId, userId, settings } = agent;
  const environmentId = await host.environments.ofAgent(agent);
  const owners: SecretOwnerId[] = [
    ...(environmentId === null ? [] : [ofEnvironment(teamId, environmentId)]),
    ...(userId === null ? [] : [ofUser(teamId, userId)]),
    ofTeam(teamId),
  ];
  return Promise.all((await choose(host, { owners, repos: settings.repos, phase: "run" })).map(withPlaceholder));
}

/** It was looked at when the secret was set: there is one. */
async function withPlaceholder(secret: ChosenSecret): Promise<AgentSecret> {
  if (!secret.binding) return secret;
  const placeholder = await placeholderFor(secret.value);
  if (placeholder === null) throw new Error(`no placeholder can be made for the secret ${secret.name}`);
  return { ...secret, placeholder };
}
