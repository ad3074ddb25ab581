// Routes of the page of service accounts, for administrators.
import type { Context } from "hono";
import { ApiError, type Env } from "../foundation/index.ts";
import { createServiceAccount, listServiceAccounts } from "../identity/index.ts";
import type { PageHost, Pages } from "./host.ts";
import { makeKey, nameIn } from "./key-form.ts";
import type { FreshKey } from "./key-pages.ts";
import { answerPage } from "./layout.ts";
import { serviceAccountsPage } from "./service-account-pages.ts";
import { requireAdmin, type Visitor } from "./session.ts";

export function addServiceAccountPages(pages: Pages, host: PageHost): void {
  const { db } = host.platform;
  pages.get("/service-accounts", (context, visitor) => showServiceAccounts(host, { context, visitor, fresh: null }));
  pages.form("/service-accounts", async (context, visitor, fields) => {
    requireAdmin(visitor);
    await createServiceAccount(db, visitor.principal.teamId, nameIn(fields));
    return context.redirect("/service-accounts", 303);
  });
  pages.form("/service-accounts/:id/keys", async (context, visitor, fields) => {
    requireAdmin(visitor);
    const accounts = await listServiceAccounts(db, visitor.principal.teamId);
    const account = accounts.find(({ id }) => id === context.req.param("id"));
    if (!account) throw new ApiError("not_found", "Service account not found.");
    const owner = { kind: "service_account", name: account.name } as const;
    const fresh = await makeKey(host, visitor, { owner, fields });
    return showServiceAccounts(host, { context, visitor, fresh });
  });
}

export interface Showing {
  context: Context<Env>;
  visitor: Visitor;
  fresh: FreshKey | null;
}

export async function showServiceAccounts(
  { platform, identity }: PageHost,
  { context, visitor, fresh }: Showing,
): Promise<Response> {
  requireAdmin(visitor);
  const { teamId } = visitor.principal;
  const body = serviceAccountsPage({
    accounts: await listServiceAccounts(platform.db, teamId),
    keys: (await identity.principals.listKeys(teamId)).reverse(),
    token: visitor.formToken,
    fresh,
  });
  return answerPage(context, { title: "Service accounts", visitor, body });
}
