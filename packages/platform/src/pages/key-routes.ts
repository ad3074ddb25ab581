// What the page of keys shows and does. Members see to their own keys, administrators to all of the team.
import type { Context } from "hono";
import { ApiProblem, type Env } from "../http/index.ts";
import type { KeyEntry } from "../principals/index.ts";
import type { PageHost } from "./host.ts";
import { type FreshKey, keysPage, mayRotate } from "./key-pages.ts";
import { makeKey } from "./key-wish.ts";
import { answerPage } from "./layout.ts";
import type { Pages } from "./routes.ts";
import { showServiceAccounts } from "./service-account-routes.ts";
import { isAdmin, type Visitor } from "./session.ts";

export function addKeyPages(pages: Pages, { platform }: PageHost): void {
  const { principals } = platform;

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

  const show = async (context: Context<Env>, visitor: Visitor, fresh: FreshKey | null): Promise<Response> => {
    const { formToken: token, principal } = visitor;
    const view = { keys: await ownKeys(visitor), fresh, token, isAdmin: isAdmin(visitor), ownId: principal.userId };
    return answerPage(context, { title: "Keys", visitor, body: keysPage(view) });
  };

  pages.get("/keys", (context, visitor) => show(context, visitor, null));
  pages.form("/keys", async (context, visitor, fields) => {
    const owner = { kind: "user", email: visitor.principal.email } as const;
    return show(context, visitor, await makeKey(platform, visitor, { owner, fields }));
  });
  pages.form("/keys/:id/revoke", async (context, visitor) => {
    const { id, owner } = await keyIn(context, visitor);
    await principals.revokeKey(id);
    return context.redirect(owner.kind === "user" ? "/keys" : "/service-accounts", 303);
  });
  pages.form("/keys/:id/rotate", async (context, visitor, { hours = "24" }) => {
    const key = await keyIn(context, visitor);
    const { id, owner } = key;
    if (!mayRotate(key, visitor.principal.userId))
      throw new ApiProblem("forbidden", "Only its owner rotates a key of a user. You may revoke it.");
    if (!/^\d{1,4}$/.test(hours)) throw new ApiProblem("validation_error", "Give the overlap in hours.");
    const fresh = await principals.rotateKey(id, Number(hours) * 3_600_000);
    return owner.kind === "user"
      ? show(context, visitor, fresh)
      : showServiceAccounts(platform, { context, visitor, fresh });
  });
}
