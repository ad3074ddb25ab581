// Leases of runs: renewed by the driver, claimed by another after they expire, and fenced by an epoch that only grows.
import { type Kysely, type Selectable, sql } from "kysely";
import { type ReadyOptions, workerIsReady } from "../../fleet/index.ts";
import { hasShare, prepared, type Tables } from "../../foundation/index.ts";
import { diskIsReachable } from "../disks/index.ts";

/** Identifies one claim of a run. Every write of its driver carries it. */
export interface Fence {
  runId: string;
  epoch: number;
}

export interface ClaimedRun extends Fence {
  agentId: string;
  teamId: number;
  /** Who requested it; null: a service account. */
  userId: number | null;
  status: "CREATING" | "RUNNING";
  createdAt: Date;
  cancelRequested: boolean;
  /** Consecutive earlier drivers that disappeared without writing a record, perhaps because of this run. */
  claimsWithoutProgress: number;
}

/** More than a series of restarts causes; a run that crashed this many servers would crash the next. */
export const maxClaimsWithoutProgress = 5;

/**
 * From this count on, a server executes one such run at a time: runs that merely shared a server with the culprit
 * progress one after another and are cleared; the culprit remains.
 */
const suspectFrom = 2;

export interface Leases {
  /**
   * A run without a driver: suspects last, otherwise the team first of which this server drives fewest, and of its runs the
   * longest waiting. Null if there is none.
   */
  claim(): Promise<ClaimedRun | null>;
  /** Whether runs of a team wait because this server drives its share of them. */
  hasFullTeam(): boolean;
  /** Still held, held with a requested cancellation, or claimed by another driver. */
  renew(fence: Fence): Promise<"held" | "cancel" | "lost">;
  /** Lets another process claim the run at once; later writes of this driver are refused. */
  release(fence: Fence): Promise<void>;
}

export interface LeaseOptions {
  /** A restarted server keeps its id, so it need not wait for its own leases to expire. */
  nodeId: string;
  leaseMs: number;
  /** Runs that this server drives at once; without it, teams have no share. */
  maxRuns?: number;
  /** How long a run may wait for a worker; a day unless given. */
  workerWaitSeconds?: number;
  /** Of the data directory of this server. */
  dataId?: string;
}

const daySeconds = 86_400;

export function openLeases(
  db: Kysely<Tables>,
  { nodeId, leaseMs, maxRuns = Number.POSITIVE_INFINITY, workerWaitSeconds = daySeconds, dataId = "" }: LeaseOptions,
): Leases {
  // By the claim: a driver that ends late must not give up what this server has claimed again since.
  const mine = new Map<string, ClaimedRun>();
  const forget = ({ runId, epoch }: Fence) => {
    if (mine.get(runId)?.epoch === epoch) mine.delete(runId);
  };
  const fullTeams = () => teamsWithTheirShare([...mine.values()], maxRuns);
  const until = sql<Date>`now() + ${`${leaseMs} milliseconds`}::interval`;
  return {
    async claim() {
      const waitSeconds = workerWaitSeconds;
      const held = [...mine.values()];
      const claimed = await claimOne(db, { nodeId, waitSeconds, dataId, until, held, fullTeams: fullTeams() });
      if (claimed) mine.set(claimed.runId, claimed);
      return claimed;
    },
    hasFullTeam: () => fullTeams().length > 0,
    async renew({ runId, epoch }) {
      const row = await db
        .updateTable("runs")
        .set({ lease_until: until })
        .where("id", "=", runId)
        .where("lease_epoch", "=", epoch)
        .where("status", "in", ["CREATING", "RUNNING"])
        .returning("cancel_requested_at")
        .executeTakeFirst();
      if (!row) {
        forget({ runId, epoch });
        return "lost";
      }
      return row.cancel_requested_at === null ? "held" : "cancel";
    },
    async release({ runId, epoch }) {
      forget({ runId, epoch });
      await giveBack(db, { runId, epoch });
    },
  };
}

/**
 * Servers are notified if the run can be claimed again, or if it may have had a worker, which others wait for. Most runs have
 * ended and had none: then no server need look.
 */
async function giveBack(db: Kysely<Tables>, { runId, epoch }: Fence): Promise<void> {
  await sql`${prepared}
    with released as (
      update runs set lease_owner = null, lease_until = null, lease_epoch = lease_epoch + 1
      where id = ${runId} and lease_epoch = ${epoch} and status in ('CREATING', 'RUNNING')
      returning id
    )
    select pg_notify('runs', ${runId})
    where exists (select from released) or not exists (select from runs where id = ${runId} and not needs_worker)
  `.execute(db);
}

interface Claim extends ReadyOptions {
  dataId: string;
  until: ReturnType<typeof sql<Date>>;
  /** Runs this server drives right now. */
  held: ClaimedRun[];
  /** Teams that get no further run, unless there is no other team. */
  fullTeams: number[];
}

/** A team that fills a server with runs leaves slots for the runs of others. */
function teamsWithTheirShare(held: ClaimedRun[], maxRuns: number): number[] {
  const counts = new Map<number, number>();
  for (const { teamId } of held) counts.set(teamId, (counts.get(teamId) ?? 0) + 1);
  const free = maxRuns - held.length;
  return [...counts].filter(([, count]) => !hasShare(count, free)).map(([teamId]) => teamId);
}

async function claimOne(
  db: Kysely<Tables>,
  { nodeId, waitSeconds, dataId, until, held, fullTeams }: Claim,
): Promise<ClaimedRun | null> {
  const heldIds = held.map(({ runId }) => runId);
  const row = await db
    .updateTable("runs")
    .set({
      lease_owner: nodeId,
      lease_until: until,
      lease_epoch: sql<number>`lease_epoch + 1`,
      claims_without_progress: claimsWithoutProgressSoFar,
    })
    .where("id", "=", (waiting) =>
      waiting
        .selectFrom("runs")
        .select("id")
        .where(sql<boolean>`status in ('CREATING', 'RUNNING')`)
        .where(workerIsReady({ nodeId, waitSeconds }))
        .where(diskIsReachable(dataId))
        .where(sql<boolean>`id <> all(${heldIds}::text[])`)
        .where(hasSlots(fullTeams))
        .where((condition) =>
          condition.or([
            condition("lease_until", "is", null),
            condition("lease_until", "<", sql<Date>`now()`),
            condition("lease_owner", "=", nodeId),
          ]),
        )
        .where((condition) =>
          condition.or([condition(claimsWithoutProgressSoFar, "<", suspectFrom), condition.not(holdsSuspect(heldIds))]),
        )
        .orderBy(claimsWithoutProgressSoFar)
        .orderBy(heldOfTeam(held.map(({ teamId }) => teamId)))
        .orderBy("created_at")
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returning(claimedColumns)
    .modifyEnd(prepared)
    .executeTakeFirst();
  return row ? claimedRun(row) : null;
}

type ClaimedRow = Pick<Selectable<Tables["runs"]>, (typeof claimedColumns)[number]>;

const claimedRun = (row: ClaimedRow): ClaimedRun => ({
  runId: row.id,
  epoch: row.lease_epoch,
  agentId: row.agent_id,
  teamId: row.team_id,
  userId: row.user_id,
  status: row.status as ClaimedRun["status"],
  createdAt: row.created_at,
  cancelRequested: row.cancel_requested_at !== null,
  claimsWithoutProgress: row.claims_without_progress,
});

const claimedColumns = [
  "id",
  "agent_id",
  "team_id",
  "user_id",
  "lease_epoch",
  "status",
  "cancel_requested_at",
  "claims_without_progress",
  "created_at",
] as const;

/** A regular release clears the owner; only a crashed driver leaves it set. */
const claimsWithoutProgressSoFar = sql<number>`claims_without_progress + (lease_owner is not null)::integer`;

/** Where there is one team alone, no other needs slots. */
const hasSlots = (fullTeams: number[]) =>
  sql<boolean>`(team_id <> all(${fullTeams}::integer[]) or not exists (select from teams where id <> runs.team_id))`;

const heldOfTeam = (teamIds: number[]) => sql<number>`cardinality(array_positions(${teamIds}::integer[], team_id))`;

const holdsSuspect = (held: string[]) =>
  sql<boolean>`exists (
    select from runs as mine where mine.id = any(${held}::text[]) and mine.claims_without_progress >= ${suspectFrom}
      and mine.status in ('CREATING', 'RUNNING')
  )`;
