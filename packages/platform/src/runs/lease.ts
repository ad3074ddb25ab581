// Who drives a run: a lease that is renewed, taken over when it runs out, and fenced by an epoch that only grows.
import { type Kysely, sql } from "kysely";
import { notify, type Tables } from "../db/index.ts";

/** Names one holding of a run. Every write of the holder carries it. */
export interface Fence {
  runId: string;
  epoch: number;
}

export interface Claimed extends Fence {
  agentId: string;
  teamId: number;
  status: "CREATING" | "RUNNING";
  createdAt: Date;
  cancelRequested: boolean;
  /** Holders in a row before this one that died with it and left nothing: perhaps by its doing. */
  diedBefore: number;
}

/** As many more as a storm of restarts may bring; whatever has cost this many servers will cost the next. */
export const mostDied = 5;

/**
 * From here on a run is driven beside no other such run of the same server: those that only stood by when a server died
 * get on, one after another, and are cleared; the one whose doing it was is left.
 */
const suspectFrom = 2;

export interface Leases {
  /** One run that nobody drives, suspects last and the longest waiting first; null where there is none. */
  claim(): Promise<Claimed | null>;
  /** What became of the holding: still ours, ours with a wish to cancel, or somebody else's. */
  renew(fence: Fence): Promise<"held" | "cancel" | "lost">;
  /** Gives the run back so that another can claim it at once; what the old holder still writes is refused. */
  release(fence: Fence): Promise<void>;
}

export interface LeaseOptions {
  /** A restarted server has the id of its former life: it need not wait for its own leases to run out. */
  nodeId: string;
  leaseMs: number;
}

export function openLeases(db: Kysely<Tables>, { nodeId, leaseMs }: LeaseOptions): Leases {
  const mine = new Set<string>();
  const until = sql<Date>`now() + ${`${leaseMs} milliseconds`}::interval`;
  return {
    async claim() {
      const claimed = await claimOne(db, { nodeId, until, held: [...mine] });
      if (claimed) mine.add(claimed.runId);
      return claimed;
    },
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
        mine.delete(runId);
        return "lost";
      }
      return row.cancel_requested_at === null ? "held" : "cancel";
    },
    async release({ runId, epoch }) {
      mine.delete(runId);
      await db
        .updateTable("runs")
        .set({ lease_owner: null, lease_until: null, lease_epoch: epoch + 1 })
        .where("id", "=", runId)
        .where("lease_epoch", "=", epoch)
        .where("status", "in", ["CREATING", "RUNNING"])
        .execute();
      await notify(db, "runs", runId);
    },
  };
}

interface Claim {
  nodeId: string;
  until: ReturnType<typeof sql<Date>>;
  /** Runs this server drives right now. */
  held: string[];
}

async function claimOne(db: Kysely<Tables>, { nodeId, until, held }: Claim): Promise<Claimed | null> {
  const row = await db
    .updateTable("runs")
    .set({
      lease_owner: nodeId,
      lease_until: until,
      lease_epoch: sql<number>`lease_epoch + 1`,
      claims_without_progress: died,
    })
    .where("id", "=", (waiting) =>
      waiting
        .selectFrom("runs")
        .select("id")
        .where("status", "in", ["CREATING", "RUNNING"])
        .where("id", "not in", held.length > 0 ? held : [""])
        .where((condition) =>
          condition.or([
            condition("lease_until", "is", null),
            condition("lease_until", "<", sql<Date>`now()`),
            condition("lease_owner", "=", nodeId),
          ]),
        )
        .where((condition) => condition.or([condition(died, "<", suspectFrom), condition.not(holdsSuspect(held))]))
        .orderBy(died)
        .orderBy("created_at")
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returning([
      "id",
      "agent_id",
      "team_id",
      "lease_epoch",
      "status",
      "cancel_requested_at",
      "claims_without_progress",
      "created_at",
    ])
    .executeTakeFirst();
  if (!row) return null;
  return {
    runId: row.id,
    epoch: row.lease_epoch,
    agentId: row.agent_id,
    teamId: row.team_id,
    status: row.status as Claimed["status"],
    createdAt: row.created_at,
    cancelRequested: row.cancel_requested_at !== null,
    diedBefore: row.claims_without_progress,
  };
}

/** Whoever lets go in order has no owner left behind. */
const died = sql<number>`claims_without_progress + (lease_owner is not null)::integer`;

const holdsSuspect = (held: string[]) =>
  sql<boolean>`exists (
    select from runs as mine where mine.id = any(${held}::text[]) and mine.claims_without_progress >= ${suspectFrom}
      and mine.status in ('CREATING', 'RUNNING')
  )`;
