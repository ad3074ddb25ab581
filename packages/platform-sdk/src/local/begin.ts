// A prompt on its way to a local agent: one run at a time, over all processes of this machine.
import { existsSync, realpathSync } from "node:fs";
import { AgentBusyError, AgentNotFoundError, ConfigurationError } from "../errors.ts";
import type { LocalAgentRecord, LocalClaim, LocalRunRecord } from "../local-store.ts";
import type { AgentOptions, SendOptions, UserMessage } from "../options.ts";
import { type Intent, intentOf } from "./compose/index.ts";
import { driveRun } from "./drive.ts";
import { type DrivenRun, openDrivenRun } from "./driven.ts";
import type { LocalContext } from "./follow.ts";
import { endLeftRuns } from "./interrupted.ts";
import { invalid, type ResolvedOptions } from "./options.ts";
import { isUnderWay, nameFrom } from "./records.ts";
import { chooseSandbox, policyOf } from "./sandbox.ts";

export interface Prompt {
  agentId: string;
  message: UserMessage;
  options: AgentOptions;
  send: SendOptions;
  resolved: ResolvedOptions;
  /** `new`: the first prompt makes the agent. */
  birth: "new" | "known";
}

/** `again`: this very prompt was given before. */
export type Begun = { kind: "driven"; driven: DrivenRun } | { kind: "again"; run: LocalRunRecord };

export async function beginRun(prompt: Prompt, context: LocalContext): Promise<Begun> {
  const { store, driven: all } = context;
  const repeated = await findRepeated(prompt, context);
  if (repeated) return { kind: "again", run: repeated };
  const claim = await claimAgent(prompt, context);
  try {
    await endLeftRuns(prompt.agentId, store);
    const agent = await agentOf(prompt, context);
    const intent = intentOf({ ...prompt, agent, machine: context.machine });
    await checkSandbox(intent);
    const driven = openDrivenRun(newRun(intent, prompt, context));
    const kept = { ...agent, ...chosenFor(intent), updatedAt: driven.run.createdAt, latestRunId: driven.run.id };
    await store.agents.put(kept);
    await store.runs.put(driven.run);
    all.set(driven.run.id, driven);
    driven.settled = driveRun({ driven, agent: kept, intent, store }).finally(async () => {
      all.delete(driven.run.id);
      await claim.release();
    });
    return { kind: "driven", driven };
  } catch (error) {
    await claim.release();
    throw error;
  }
}

/** What a prompt chose holds for later ones too. */
const chosenFor = ({ selection, mode, sandbox }: Intent): Pick<LocalAgentRecord, "model" | "mode" | "sandbox"> => ({
  model: selection,
  mode,
  sandbox,
});

/** Before anything is written down: a sandbox that was asked for is there, or the prompt is refused. */
async function checkSandbox({ settings, resolved, machine, cwd }: Intent): Promise<void> {
  await chooseSandbox(policyOf(settings.sandbox, { cwd, dirs: resolved.dirs, machine }), machine);
}

async function findRepeated({ agentId, send }: Prompt, { store }: LocalContext): Promise<LocalRunRecord | undefined> {
  if (send.idempotencyKey === undefined) return undefined;
  return (await store.runs.list(agentId)).find(({ idempotencyKey }) => idempotencyKey === send.idempotencyKey);
}

const lookMs = 100;
/** A process that checks whether a run is still driven holds the claim for a moment. */
const busyTimeoutMs = 250;
const forceLimitMs = 10_000;

/** With `force`, the process that drives a run is asked to stop, and waited for. */
async function claimAgent({ agentId, send }: Prompt, context: LocalContext): Promise<LocalClaim & { kind: "held" }> {
  const { store, machine } = context;
  const never = new AbortController().signal;
  const isForced = send.local?.force === true;
  const until = machine.clock.now() + (isForced ? forceLimitMs : busyTimeoutMs);
  for (;;) {
    const claim = await store.claim(agentId);
    if (claim.kind === "held") return claim;
    if (machine.clock.now() >= until) throw busy(agentId, claim.holder);
    if (isForced) await stopRuns(agentId, context);
    await machine.clock.wait(lookMs, never);
  }
}

async function stopRuns(agentId: string, { store, driven }: LocalContext): Promise<void> {
  for (const run of (await store.runs.list(agentId)).filter(isUnderWay)) {
    const own = driven.get(run.id);
    if (own) own.cancel();
    else await store.runs.requestCancel(agentId, run.id);
  }
}

async function agentOf(prompt: Prompt, { store, machine }: LocalContext): Promise<LocalAgentRecord> {
  const { agentId, message, options, resolved, birth } = prompt;
  const known = await store.agents.get(agentId);
  if (known?.isArchived) throw archived(agentId);
  if (known) return { ...known, ...directoryFor(known, resolved) };
  if (birth === "known") throw unknownAgent(agentId, "agent.send");
  const now = new Date().toISOString();
  const cwd = resolved.cwd ?? machine.cwd();
  return {
    agentId,
    name: options.name ?? nameFrom(typeof message === "string" ? message : message.text),
    cwd,
    realCwd: realpathSync(cwd),
    createdAt: now,
    updatedAt: now,
    isArchived: false,
  };
}

/** An agent goes on where it was: a link that is there now leads to what it was never allowed to change. */
function directoryFor(known: LocalAgentRecord, resolved: ResolvedOptions): Pick<LocalAgentRecord, "cwd" | "realCwd"> {
  const cwd = resolved.cwd ?? known.cwd;
  if (!existsSync(cwd)) throw directoryChanged(cwd, "no longer exists");
  const realCwd = realpathSync(cwd);
  if (cwd === known.cwd && known.realCwd !== undefined && realCwd !== known.realCwd)
    throw directoryChanged(cwd, `is now a link to ${realCwd}`);
  return { cwd, realCwd };
}

function newRun({ selection }: Intent, { agentId, send }: Prompt, { machine }: LocalContext): LocalRunRecord {
  const now = new Date().toISOString();
  return {
    id: `run-${machine.newId()}`,
    agentId,
    status: "RUNNING",
    createdAt: now,
    updatedAt: now,
    model: selection,
    ...(send.idempotencyKey !== undefined && { idempotencyKey: send.idempotencyKey }),
  };
}

const busy = (agentId: string, holder: string): AgentBusyError =>
  new AgentBusyError(
    `Agent ${agentId} already has an active run (${holder}). Wait for it, cancel it, or send with local.force.`,
    { code: "agent_busy", operation: "agent.send" },
  );

const directoryChanged = (directory: string, change: string): ConfigurationError =>
  invalid(`The directory of this agent, ${directory}, ${change}. Name another in local.cwd.`, "agent.send");

const archived = (agentId: string): ConfigurationError =>
  new ConfigurationError(`Agent ${agentId} is archived. Call Agent.unarchive first.`, {
    code: "agent_archived",
    operation: "agent.send",
  });

export const unknownAgent = (agentId: string, operation: string): AgentNotFoundError =>
  new AgentNotFoundError(`There is no agent ${agentId} on this machine. Check its id, PLATFORM_SDK_HOME and store.`, {
    code: "agent_not_found",
    operation,
  });
