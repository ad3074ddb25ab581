// Who wrote what on a pull request, as people know them: records name principals by kind and id.
import type { Queries } from "../../foundation/index.ts";

/** Looks all names up at once. Members of another team keep the name of the record. */
export async function readAuthors(db: Queries, teamId: number, names: string[]): Promise<(name: string) => string> {
  const ids = (kind: string) => [
    ...new Set(names.flatMap((name) => (name.startsWith(kind) ? name.slice(kind.length) : []))),
  ];
  const userIds = ids("user:").map(Number).filter(Number.isSafeInteger);
  const accountIds = ids("service_account:");
  const users =
    userIds.length === 0
      ? []
      : await db
          .selectFrom("users")
          .select(["id", "email"])
          .where("team_id", "=", teamId)
          .where("id", "in", userIds)
          .execute();
  const accounts =
    accountIds.length === 0
      ? []
      : await db
          .selectFrom("service_accounts")
          .select(["id", "name"])
          .where("team_id", "=", teamId)
          .where("id", "in", accountIds)
          .execute();
  const shown = new Map<string, string>([
    ...users.map(({ id, email }) => [`user:${id}`, email] as const),
    ...accounts.map(({ id, name }) => [`service_account:${id}`, name] as const),
  ]);
  return (name) => shown.get(name) ?? (name.startsWith("agent:") ? "An agent" : name);
}
