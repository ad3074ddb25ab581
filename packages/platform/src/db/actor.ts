// Who acts, for the audit log: known to the work of a request or a command wherever it goes, told to the database with
// the connection it uses.
import { AsyncLocalStorage } from "node:async_hooks";
import { CompiledQuery, type DatabaseConnection } from "kysely";

const acting = new AsyncLocalStorage<{ actor: string }>();

/** Work that nobody asked for is the platform's own. */
const nobody = "platform";

export const actingAs = <T>(actor: string, work: () => T): T => acting.run({ actor }, work);

/** Once a request has shown who it comes from. */
export function becomeActor(actor: string): void {
  const store = acting.getStore();
  if (store) store.actor = actor;
}

/** One more query, and only where the connection was last used for somebody else. */
export function tellActor(): (connection: DatabaseConnection) => Promise<void> {
  const told = new WeakMap<DatabaseConnection, string>();
  return async (connection) => {
    const actor = acting.getStore()?.actor ?? nobody;
    if ((told.get(connection) ?? nobody) === actor) return;
    told.delete(connection);
    await connection.executeQuery(CompiledQuery.raw("select set_config('platform.actor', $1, false)", [actor]));
    told.set(connection, actor);
  };
}
