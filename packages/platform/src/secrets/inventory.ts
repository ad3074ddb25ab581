// All secrets that a caller may know of, in pages, with their owners.
import type { SecretQuery } from "@agentcli/protocol/api";
import { sql } from "kysely";
import { ApiError, type Principal, type Queries } from "../foundation/index.ts";
import type { EnvironmentLookup } from "./host.ts";
import type { OwnedRow } from "./views.ts";

export interface Inventory {
  rows: OwnedRow[];
  nextCursor: string | null;
}

export async function listInventory(
  db: Queries,
  environments: EnvironmentLookup,
  { principal, query }: { principal: Principal; query: SecretQuery },
): Promise<Inventory> {
  const { limit, name, repo } = query;
  const after = decode(query.cursor);
  const { team, users, environmentIds } = await ownersFor(environments, principal, query);
  const rows = await db
    .selectFrom("secrets")
    .leftJoin("users", "users.id", "secrets.user_id")
    .selectAll("secrets")
    .select("users.email")
    .where("secrets.team_id", "=", principal.teamId)
    .where(({ eb, or, and }) =>
      or([
        ...(team ? [and([eb("user_id", "is", null), eb("environment_id", "is", null)])] : []),
        ...(users === "all" ? [eb("user_id", "is not", null)] : users.map((id) => eb("user_id", "=", id))),
        ...(environmentIds.length > 0 ? [eb("environment_id", "in", environmentIds)] : []),
      ]),
    )
    .$if(name !== undefined, (found) => found.where("secrets.name", "=", name ?? ""))
    .$if(repo !== undefined, (found) =>
      found.where(sql<boolean>`(repos = '[]' or repos @> ${JSON.stringify([repo])}::jsonb)`),
    )
    .$if(after !== null, (found) =>
      found.where(sql<boolean>`(secrets.name, secrets.id) > (${after?.name} collate "C", ${after?.id})`),
    )
    .orderBy("secrets.name")
    .orderBy("secrets.id")
    .limit(limit + 1)
    .execute();
  const last = rows[limit - 1];
  return { rows: rows.slice(0, limit), nextCursor: rows.length > limit && last ? encode(last) : null };
}

interface Owners {
  team: boolean;
  users: number[] | "all";
  environmentIds: string[];
}

async function ownersFor(
  environments: EnvironmentLookup,
  principal: Principal,
  { scope, environmentId, repo }: SecretQuery,
): Promise<Owners> {
  const none: Owners = { team: false, users: [], environmentIds: [] };
  if (environmentId !== undefined)
    return { ...none, environmentIds: [(await environments.find(principal, environmentId, "read")).id] };
  if (scope === "team") return { ...none, team: true };
  if (scope === "user" && principal.kind !== "user")
    throw new ApiError("user_required", "scope: a service account has no secrets of its own; use scope=team.");
  const users = usersFor(principal, repo === undefined);
  if (scope === "user") return { ...none, users };
  const environmentIds = await environments.listIds(principal);
  return scope === "environment" ? { ...none, environmentIds } : { team: true, users, environmentIds };
}

/** An administrator sees which personal secrets there are in the team, so that they can be asked to be removed. */
function usersFor(principal: Principal, withOthers: boolean): Owners["users"] {
  if (principal.kind !== "user") return [];
  return withOthers && principal.role === "admin" && principal.scopes.includes("admin") ? "all" : [principal.userId];
}

const encode = ({ name, id }: { name: string; id: string }): string =>
  Buffer.from(JSON.stringify([name, id])).toString("base64url");

function decode(cursor: string | undefined): { name: string; id: string } | null {
  if (cursor === undefined) return null;
  try {
    const [name, id] = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (/^\w{1,255}$/.test(name) && /^[\w-]{1,100}$/.test(id)) return { name, id };
  } catch {
    // Not one of ours.
  }
  throw new ApiError("validation_error", "cursor: this is not a cursor of this list.");
}
