// What the page of service accounts shows and does, for administrators.
import type { Context } from "hono";
import { ApiProblem, type Env } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import { createServiceAccount, listServiceAccounts } from "../principals/index.ts";
import type { PageHost } from "./host.ts";
import type { FreshKey } from "./key-pages.ts";
import { makeKey, nameIn } from "./key-wish.ts";
import { answerPage } from "./layout.ts";
import type { Pages } from "./routes.ts";
import { serviceAccountsPage } from "./service-account-pages.ts";
import { requireAdmin, type Visitor } from "./session.ts";

export function addServiceAccountPages(pages: Pages, { platform }: PageHost): void {
  const { db } = platform;
  pages.get("/service-accounts", (context, visitor) =>
    showServiceAccounts(platform, { context, visitor, fresh: null }),
  );
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
    const fresh = await makeKey(platform, visitor, { owner, fields });
    return showServiceAccounts(platform, { context, visitor, fresh });
  });
}

export interface Showing {
  context: Context<Env>;
  visitor: Visitor;
  fresh: FreshKey | null;
}

export async function showServiceAccounts(platform: Platform, { context, visitor, fresh }: Showing): Promise<Response> {
  requireAdmin(visitor);
  const { teamId } = visitor.principal;
  const body = serviceAccountsPage({
    accounts: await listServiceAccounts(platform.db, teamId),
    keys: (await platform.principals.listKeys(teamId)).reverse(),
    token: visitor.formToken,
    fresh,
  });
  return answerPage(context, { title: "Service accounts", visitor, body });
}
