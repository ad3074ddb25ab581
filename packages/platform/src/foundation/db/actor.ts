// The actor of a request or command, for the audit log, and how long its queries may take: kept in async local storage,
// set on each database connection before it is used.
import { AsyncLocalStorage } from "node:async_hooks";

interface Acting {
  actor: string;
  /** The user of the request, where no person had proved their address when it was authenticated. */
  unprovedUserId: number | null;
  /** Null: no limit. */
  queryTimeoutMs: number | null;
}

const acting = new AsyncLocalStorage<Acting>();

/** Work that no request or command started. */
const platformWork: Acting = { actor: "platform", unprovedUserId: null, queryTimeoutMs: null };

export const actingAs = <T>(actor: string, work: () => T): T => acting.run({ ...platformWork, actor }, work);

/** A request that has not been authenticated yet. None of its queries takes longer. */
export const actingForRequest = <T>(queryTimeoutMs: number, work: () => T): T =>
  acting.run({ actor: "anonymous", unprovedUserId: null, queryTimeoutMs }, work);

/** Of the request that is being answered; null for other work. */
export const requestTimeoutMs = (): number | null => acting.getStore()?.queryTimeoutMs ?? null;

/** Called when a request has been authenticated. */
export function becomeActor(actor: string, unprovedUserId: number | null = null): void {
  const store = acting.getStore();
  if (store) Object.assign(store, { actor, unprovedUserId });
}

export const unprovedUserId = (): number | null => acting.getStore()?.unprovedUserId ?? null;

/** For whom each connection was set last. */
const former = new WeakMap<object, Acting>();

export function isSetForActor(connection: object): boolean {
  const { actor, queryTimeoutMs } = acting.getStore() ?? platformWork;
  const before = former.get(connection) ?? platformWork;
  return before.actor === actor && before.queryTimeoutMs === queryTimeoutMs;
}

/** Costs one query, and only when the connection was last used for another actor or with another limit. */
export async function setActor(
  connection: object,
  query: (text: string, values: string[]) => Promise<unknown>,
): Promise<void> {
  if (isSetForActor(connection)) return;
  const { actor, queryTimeoutMs } = acting.getStore() ?? platformWork;
  // Unknown until the answer, and never that of the platform: its settings are those of a new connection.
  former.set(connection, noActor);
  try {
    // The server cancels the statement: a client that only hangs up would leave it waiting for its lock.
    const set = "select set_config('platform.actor', $1, false), set_config('statement_timeout', $2, false)";
    await query(set, [actor, String(queryTimeoutMs ?? 0)]);
    former.set(connection, { ...platformWork, actor, queryTimeoutMs });
  } catch {
    // It is lost, and the query it was taken for says so. Thrown here, it would never be given back to its pool.
  }
}

const noActor: Acting = { ...platformWork, actor: "" };
