// The actor of a request or command, for the audit log: kept in async local storage, set on each database connection
// before it is used.
import { AsyncLocalStorage } from "node:async_hooks";
import { CompiledQuery, type DatabaseConnection } from "kysely";

const acting = new AsyncLocalStorage<{ actor: string }>();

/** The actor of work that no request or command started. */
const platformActor = "platform";

export const actingAs = <T>(actor: string, work: () => T): T => acting.run({ actor }, work);

/** Called when a request has been authenticated. */
export function becomeActor(actor: string): void {
  const store = acting.getStore();
  if (store) store.actor = actor;
}

/** Costs one query, and only when the connection was last used for another actor. */
export function setActor(): (connection: DatabaseConnection) => Promise<void> {
  const actors = new WeakMap<DatabaseConnection, string>();
  return async (connection) => {
    const actor = acting.getStore()?.actor ?? platformActor;
    if ((actors.get(connection) ?? platformActor) === actor) return;
    actors.delete(connection);
    try {
      await connection.executeQuery(CompiledQuery.raw("select set_config('platform.actor', $1, false)", [actor]));
      actors.set(connection, actor);
    } catch {
      // It is lost, and the query it was taken for says so. Thrown here, it would never be given back to its pool.
    }
  };
}
