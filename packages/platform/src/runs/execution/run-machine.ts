// The machine of a run: chosen by the server that drives it, and recorded on the run.
import type { RunEnvironment } from "@agentcli/protocol/api";
import type { EnvironmentFile } from "@agentcli/protocol/environment-file";
import type { OpenedWorkspace } from "@agentcli/workspace";
import { type Kysely, sql } from "kysely";
import { type ChosenEnvironment, prepareMachine, type RunEnvironments } from "../../environments/index.ts";
import { type DataKey, type PlatformContext, prepared, type Queries, type Tables } from "../../foundation/index.ts";
import {
  type AgentMachines,
  forgetRemovedDisk,
  type MachineChoice,
  MachineFault,
  MachineUnavailable,
  type MachineUse,
  noteRemovedDisk,
  readRemovedDisk,
  removeAgentMachine,
} from "../../machines/index.ts";
import type { OpenWorkspace } from "../../repositories/index.ts";
import { readDisk } from "../disks/index.ts";
import { agentPaths } from "./agent-paths.ts";
import { RunFault } from "./fault.ts";
import type { MachinesInUse } from "./machines-in-use.ts";
import type { ActiveRun } from "./records.ts";
import { environmentAad, openEnvironment } from "./request.ts";
import type { RunHost } from "./run-host.ts";

export interface MachineContext {
  activeRun: ActiveRun;
  platform: PlatformContext;
  machines: AgentMachines;
  environments: RunEnvironments;
  machinesInUse: MachinesInUse;
}

export interface RunMachine {
  /** Null: its commands run in sandboxes of the host itself. */
  use: MachineUse | null;
  /** Before the first operation in its main sandbox. */
  prepare(workspace: OpenedWorkspace): Promise<void>;
  /** Settles once the choice of the machine is stored with the run; to be awaited before the turn begins. */
  whenChoiceRecorded: Promise<void>;
  /** Whether the environment starts something that is to be there without a command too. */
  startsEarly: boolean;
  /** What its environment says about hosts. */
  egress: EnvironmentFile["egress"];
  release(): Promise<void>;
}

export interface ChoiceContext extends Omit<MachineContext, "machinesInUse"> {
  /** Of this server. */
  diskLocation: RunHost["diskLocation"];
}

/** Before the repositories are there, because it says at which commits they begin. */
export async function chooseRunEnvironment(context: ChoiceContext, signal: AbortSignal): Promise<ChosenEnvironment> {
  const { activeRun, platform, machines, environments } = context;
  const { agent, key } = activeRun;
  const { provider } = await chooseMachine(machines);
  if (provider === "host") return environments.choose(agent, { location: "host", former: null });
  // A cancelled run may be claimed by any server, and changes nothing.
  signal.throwIfAborted();
  await leaveMachineElsewhere(context);
  return environments.choose(agent, { location: "machine", former: await readFormer(platform.db, agent.id, key) });
}

const withoutMachine = { use: null, startsEarly: false, prepare: async () => {}, release: async () => {} };

export async function openRunMachine(
  context: MachineContext,
  { chosen, workspace, readable: others }: { chosen: ChosenEnvironment; workspace: OpenWorkspace; readable: string[] },
  signal: AbortSignal,
): Promise<RunMachine> {
  const { activeRun, platform, machines, environments, machinesInUse } = context;
  const { db, settings } = platform;
  const { agent } = activeRun;
  const choice = await chooseMachine(machines);
  if (choice.provider === "host") {
    const whenChoiceRecorded = recordOnHost(db, activeRun, {
      choice,
      shown: environments.describeOnHost(chosen, workspace),
    });
    // The caller awaits it later, or has failed already.
    whenChoiceRecorded.catch(() => {});
    const { egress } = await environments.readConfig({ chosen, teamId: agent.teamId, workspace }, signal);
    return { ...withoutMachine, whenChoiceRecorded, egress };
  }
  await recordChoice(db, activeRun, choice);
  const described = await environments.describe({ chosen, teamId: agent.teamId, workspace }, signal);
  const { base, preparation } = described;
  const shown = withRemovedDisk(described.shown, readRemovedDisk(settings, agent.directory));
  await recordEnvironment(db, activeRun, shown);
  const { directory } = agentPaths(settings.dataDirectory, agent.directory);
  const used = machines.use({
    name: agent.directory,
    directories: [directory, ...settings.readableDirectories, ...others],
    isKnown: await hasUsedMachine(db, agent.id),
    base,
  });
  let endLive = () => {};
  const { start, terminals = [], ports = [], egress } = preparation.config;
  return {
    whenChoiceRecorded: Promise.resolve(),
    egress,
    startsEarly: start !== undefined || terminals.length + ports.length > 0,
    use: {
      ...used,
      async disk() {
        const disk = await recorded(used, db, activeRun);
        forgetRemovedDisk(settings, agent.directory);
        return disk;
      },
    },
    async release() {
      endLive();
      await used.release();
    },
    async prepare(opened) {
      const { dial, exec } = opened;
      endLive();
      if (dial) endLive = machinesInUse.add(agent.id, { config: preparation.config, workspace: { exec }, dial });
      const found = await prepareMachine(opened, preparation, signal);
      if (found.length === 0) return;
      await recordEnvironment(db, activeRun, { ...shown, warnings: [...(shown.warnings ?? []), ...found] });
    },
  };
}

const withRemovedDisk = (shown: RunEnvironment, warning: string | null): RunEnvironment =>
  warning === null ? shown : { ...shown, warnings: [...(shown.warnings ?? []), warning] };

/** Its server is gone, and a disk that this one may have of it is an older one. The run says what is lost. */
async function leaveMachineElsewhere({ activeRun: { agent }, platform, diskLocation }: ChoiceContext): Promise<void> {
  const { db, settings } = platform;
  const files = await readDisk(db, agent.id);
  if (!files?.isBound || files.dataId === diskLocation.dataId) return;
  await removeAgentMachine(settings, agent.directory);
  // Without a save the repositories are not complete, and the run says that, or ends.
  if (files.saveId !== null)
    noteRemovedDisk(settings, agent.directory, `its server ${files.nodeName} has not been there for 15 minutes`);
  await forgetMachine(db, agent.id);
}

/** What the disk began with that the last run of the agent has used; null: there is none. */
async function readFormer(db: Kysely<Tables>, agentId: string, key: DataKey): Promise<RunEnvironment | null> {
  const row = await db
    .selectFrom("runs")
    .select(["id", "environment"])
    .where("agent_id", "=", agentId)
    .where("machine_id", "is not", null)
    .where("environment", "is not", null)
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.environment ? openEnvironment(row.id, key, row.environment) : null;
}

async function recordEnvironment(
  db: Kysely<Tables>,
  { fence, key }: ActiveRun,
  environment: RunEnvironment,
): Promise<void> {
  await sql`
    update runs set environment = ${seal(environment, { fence, key })} where id = ${fence.runId} and lease_epoch = ${fence.epoch}
  `.execute(db);
}

const seal = (environment: RunEnvironment, { fence, key }: Pick<ActiveRun, "fence" | "key">): Buffer =>
  key.seal(JSON.stringify(environment), environmentAad(fence.runId));

/** One statement that does not wait for the disk: it is part of the start of every such run, whose next records do. */
async function recordOnHost(
  db: Kysely<Tables>,
  { fence, key }: ActiveRun,
  { choice: { provider, reason }, shown }: { choice: MachineChoice; shown: RunEnvironment },
): Promise<void> {
  await sql`${prepared}
    update runs set machine_provider = ${provider}, machine_reason = ${reason},
      environment = ${seal(shown, { fence, key })}
    from set_config('synchronous_commit', 'off', true)
    where id = ${fence.runId} and lease_epoch = ${fence.epoch}
  `.execute(db);
}

async function chooseMachine(machines: AgentMachines): Promise<MachineChoice> {
  try {
    return await machines.choose();
  } catch (error) {
    if (!(error instanceof MachineUnavailable)) throw error;
    throw new RunFault(
      "machine_unavailable",
      `${error.message} Where runs may do without a machine, an administrator can set machines.provider to auto.`,
    );
  }
}

async function recordChoice(
  db: Kysely<Tables>,
  { fence }: ActiveRun,
  { provider, reason }: MachineChoice,
): Promise<void> {
  await sql`
    update runs set machine_provider = ${provider}, machine_reason = ${reason}
    where id = ${fence.runId} and lease_epoch = ${fence.epoch}
  `.execute(db);
}

/** After a loss was reported, the agent begins with a new machine. */
async function recorded(used: MachineUse, db: Kysely<Tables>, { agent, fence }: ActiveRun) {
  try {
    const disk = await used.disk();
    await sql`
      update runs set machine_id = ${agent.directory}
      where id = ${fence.runId} and lease_epoch = ${fence.epoch} and machine_id is null
    `.execute(db);
    return disk;
  } catch (error) {
    if (error instanceof MachineFault) await forgetMachine(db, agent.id);
    throw error;
  }
}

/** Its next run begins with a new machine, and does not report the former one as lost. */
export async function forgetMachine(db: Queries, agentId: string): Promise<void> {
  await db.updateTable("runs").set({ machine_id: null }).where("agent_id", "=", agentId).execute();
}

async function hasUsedMachine(db: Kysely<Tables>, agentId: string): Promise<boolean> {
  const query = db.selectFrom("runs").select("id").where("agent_id", "=", agentId).where("machine_id", "is not", null);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}
