// What the pages of keys and service accounts show and do. Members see to their own keys, administrators to all of the team.
import type { Context } from "hono";
import { ApiProblem, type Env } from "../http/index.ts";
import {
  createServiceAccount,
  type KeyEntry,
  type KeyOwner,
  listServiceAccounts,
  type Scope,
} from "../principals/index.ts";
import type { PageHost } from "./host.ts";
import { type FreshKey, keysPage } from "./key-pages.ts";
import { answerPage } from "./layout.ts";
import type { Fields, Pages } from "./routes.ts";
import { serviceAccountsPage } from "./service-account-pages.ts";
import { isAdmin, requireAdmin, type Visitor } from "./session.ts";

export function addKeyPages(pages: Pages, { platform }: PageHost): void {
  const { principals, db } = platform;

  const ownKeys = async (visitor: Visitor): Promise<KeyEntry[]> => {
    const { teamId, userId } = visitor.principal;
    const keys = (await principals.listKeys(teamId)).reverse();
    return isAdmin(visitor) ? keys : keys.filter(({ owner }) => owner.kind === "user" && owner.userId === userId);
  };

  const keyIn = async (context: Context<Env>, visitor: Visitor): Promise<KeyEntry> => {
    const found = (await ownKeys(visitor)).find(({ id }) => id === context.req.param("id"));
    if (!found) throw new ApiProblem("not_found", "There is no such key.");
    return found;
  };

  const showKeys = async (context: Context<Env>, visitor: Visitor, fresh: FreshKey | null): Promise<Response> => {
    const view = { keys: await ownKeys(visitor), fresh, token: visitor.formToken, isAdmin: isAdmin(visitor) };
    return answerPage(context, { title: "Keys", visitor, body: keysPage(view) });
  };

  const showAccounts = async (context: Context<Env>, visitor: Visitor, fresh: FreshKey | null): Promise<Response> => {
    requireAdmin(visitor);
    const { teamId } = visitor.principal;
    const body = serviceAccountsPage({
      accounts: await listServiceAccounts(db, teamId),
      keys: (await principals.listKeys(teamId)).reverse(),
      token: visitor.formToken,
      fresh,
    });
    return answerPage(context, { title: "Service accounts", visitor, body });
  };

  const makeKey = async (visitor: Visitor, owner: KeyOwner, fields: Fields): Promise<FreshKey> => {
    const { name: team } = await db
      .selectFrom("teams")
      .select("name")
      .where("id", "=", visitor.principal.teamId)
      .executeTakeFirstOrThrow();
    const wish = { name: nameIn(fields), scopes: scopesIn(fields), expiresAt: expiryIn(fields) };
    const { key } = await principals.createKey({ ...wish, team, owner });
    return { key, formerUntil: null };
  };

  pages.get("/keys", (context, visitor) => showKeys(context, visitor, null));
  pages.form("/keys", async (context, visitor, fields) => {
    const owner = { kind: "user", email: visitor.principal.email } as const;
    return showKeys(context, visitor, await makeKey(visitor, owner, fields));
  });
  pages.form("/keys/:id/revoke", async (context, visitor) => {
    const { id, owner } = await keyIn(context, visitor);
    await principals.revokeKey(id);
    return context.redirect(owner.kind === "user" ? "/keys" : "/service-accounts", 303);
  });
  pages.form("/keys/:id/rotate", async (context, visitor, { hours = "24" }) => {
    const { id, owner } = await keyIn(context, visitor);
    if (!/^\d{1,4}$/.test(hours)) throw new ApiProblem("validation_error", "Give the overlap in hours.");
    const fresh = await principals.rotateKey(id, Number(hours) * 3_600_000);
    return (owner.kind === "user" ? showKeys : showAccounts)(context, visitor, fresh);
  });

  pages.get("/service-accounts", (context, visitor) => showAccounts(context, visitor, null));
  pages.form("/service-accounts", async (context, visitor, fields) => {
    requireAdmin(visitor);
    await createServiceAccount(db, visitor.principal.teamId, nameIn(fields));
    return context.redirect("/service-accounts", 303);
  });
  pages.form("/service-accounts/:id/keys", async (context, visitor, fields) => {
    requireAdmin(visitor);
    const accounts = await listServiceAccounts(db, visitor.principal.teamId);
    const account = accounts.find(({ id }) => id === context.req.param("id"));
    if (!account) throw new ApiProblem("not_found", "There is no such service account.");
    const owner = { kind: "service_account", name: account.name } as const;
    return showAccounts(context, visitor, await makeKey(visitor, owner, fields));
  });
}

function nameIn({ name = "" }: Fields): string {
  const given = name.trim();
  if (given !== "" && given.length <= 100) return given;
  throw new ApiProblem("validation_error", "It needs a name of 1 to 100 characters.");
}

const scopesIn = ({ access = "all" }: Fields): Scope[] | null =>
  access === "read" ? ["agents:read", "repositories:read"] : null;

function expiryIn({ days = "" }: Fields): Date | null {
  if (days === "") return null;
  if (!/^[1-9]\d{0,3}$/.test(days)) throw new ApiProblem("validation_error", "Give the days until the key ends.");
  return new Date(Date.now() + Number(days) * 86_400_000);
}
