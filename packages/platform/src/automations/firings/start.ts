// Starts the run of a firing. Safe to call again, also after a crash: the agent has an id of its own before it exists.
import { createHash } from "node:crypto";
import type { CreateAgentRequest } from "../../agents/index.ts";
import { ApiError, type DataKey, teamKey } from "../../foundation/index.ts";
import { raiseAlert } from "../alerts.ts";
import { type Definition, limitsOf, openDefinition } from "../definition.ts";
import type { AutomationHost } from "../host.ts";
import { principalOf } from "../identity.ts";
import { isolatedLocation, locationOf } from "../location.ts";
import { openMemories } from "../memories/store.ts";
import { type AutomationRow, disableAutomation } from "../store.ts";
import { admit } from "./admit.ts";
import { openPayload } from "./payload.ts";
import { promptOf, withMemories } from "./prompt.ts";
import { type Decision, decideFiring, type FiringRow } from "./store.ts";
import { holdFiring, isUpgrading } from "./upgrade.ts";

/** Throws only where trying again can help: the database is away, the server is overloaded. */
export async function startFiring(
  host: AutomationHost,
  firing: FiringRow,
  automation: AutomationRow,
): Promise<FiringRow> {
  const { db, vault } = host.platform;
  const runId = await findRun(host, firing);
  if (runId !== null) return decideFiring(db, firing.id, { status: "started", runId });
  const isLive = firing.backtest_id === null;
  if (!automation.enabled && isLive)
    return skip(host, firing, `The automation is disabled: ${automation.disabled_reason}`);
  const principal = await principalOf(db, automation);
  if (principal === null) return skipWithoutUser(host, firing);
  const key = await teamKey(db, vault, automation.team_id);
  const definition = openDefinition(key, automation);
  if ((firing.effects !== null || definition.shadow) && (await isUpgrading(db))) return holdFiring(host, firing);
  const admitted = await admit(host, firing, limitsOf(definition));
  if (admitted.kind === "decided") return admitted.firing;
  const memories = await listMemories(host, { automation, definition, key });
  const effects = await recordEffects(host, firing, definition);
  const start = { firing: { ...firing, effects }, automation, definition, key, memories };
  const request = requestOf(start, host.isHosted);
  try {
    const submission = {
      principal,
      requestId: firing.id,
      source: "AUTOMATION",
      idempotencyKey: idempotencyKeyOf(firing),
      budgetUsd: admitted.budgetUsd,
    };
    const created = await host.submit.createAgent(request, submission);
    return await decideFiring(db, firing.id, { status: "started", runId: created.runId });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 429 || error.status >= 500) throw error;
    return decideRefused(host, firing, error);
  }
}

/** Before the agent exists: what a run may do does not change with the automation after that. */
async function recordEffects(
  { platform: { db } }: AutomationHost,
  { id, effects }: FiringRow,
  { shadow }: Definition,
): Promise<FiringRow["effects"]> {
  if (effects !== null || !shadow) return effects;
  await db.updateTable("automation_firings").set({ effects: "shadow" }).where("id", "=", id).execute();
  return "shadow";
}

/** Another server may have created the agent in the meantime. */
async function decideRefused(host: AutomationHost, firing: FiringRow, error: ApiError): Promise<FiringRow> {
  const runId = await findRun(host, firing);
  if (runId !== null) return decideFiring(host.platform.db, firing.id, { status: "started", runId });
  return failFiring(host, firing, error.message);
}

export function failFiring(host: AutomationHost, firing: FiringRow, reason: string): Promise<FiringRow> {
  return host.platform.db.transaction().execute(async (tx) => {
    const alert = { automationId: firing.automation_id, firingId: firing.id, kind: "failed_to_start" } as const;
    if (firing.backtest_id === null) await raiseAlert(tx, { ...alert, message: `The run could not start. ${reason}` });
    return decideFiring(tx, firing.id, { status: "failed", reason });
  });
}

const skip = ({ platform }: AutomationHost, { id }: FiringRow, reason: string): Promise<FiringRow> =>
  decideFiring(platform.db, id, { status: "skipped", reason } satisfies Decision);

/** It would be skipped again and again: it is disabled, and says why. */
function skipWithoutUser({ platform, now }: AutomationHost, firing: FiringRow): Promise<FiringRow> {
  const reason = "Its user was removed from the team, or has proved their address since it was created.";
  return platform.db.transaction().execute(async (tx) => {
    const { automation_id: automationId } = firing;
    const decided = await decideFiring(tx, firing.id, { status: "skipped", reason });
    await disableAutomation(tx, { id: automationId, reason, now: now() });
    await raiseAlert(tx, { automationId, firingId: firing.id, kind: "disabled", message: `Disabled. ${reason}` });
    return decided;
  });
}

/** The first run of its agent, if a server got that far. */
async function findRun({ platform: { db } }: AutomationHost, { agent_id }: FiringRow): Promise<string | null> {
  const run = await db
    .selectFrom("runs")
    .select("id")
    .where("agent_id", "=", agent_id)
    .where("number", "=", 1)
    .executeTakeFirst();
  return run?.id ?? null;
}

/** Also where the agent has been deleted since: its id alone would be free again. */
const idempotencyKeyOf = ({ id }: FiringRow) => ({ key: id, hash: createHash("sha256").update(id).digest() });

interface Start {
  firing: FiringRow;
  automation: AutomationRow;
  definition: Definition;
  key: DataKey;
  /** Names and sizes. */
  memories: string[];
}

async function listMemories(
  { platform: { db } }: AutomationHost,
  { automation, definition, key }: Pick<Start, "automation" | "definition" | "key">,
): Promise<string[]> {
  if (definition.tools.memories === false) return [];
  const entries = await openMemories({ db, key, automationId: automation.id }).list();
  return entries.map(({ name, bytes }) => `${name} (${bytes} bytes)`);
}

function requestOf(
  { firing, automation, definition, key, memories }: Start,
  isHosted: AutomationHost["isHosted"],
): CreateAgentRequest {
  const { prompt, model, target, tools } = definition;
  const { effects } = firing;
  const payload = firing.payload && openPayload(key, firing.id, firing.payload);
  const location = effects === "backtest" ? isolatedLocation(target, isHosted) : locationOf(target);
  return {
    agentId: firing.agent_id,
    name: automation.name,
    prompt: { text: promptOf(withMemories(prompt.text, memories), payload) },
    ...(model && { model }),
    ...location,
    ...(target.type !== "none" && { autoCreatePR: tools.createPullRequest }),
    ...(tools.mcpServers && { mcpServers: tools.mcpServers }),
    ...(effects && { effects }),
    metadata: { automationId: automation.id, firingId: firing.id },
  };
}
