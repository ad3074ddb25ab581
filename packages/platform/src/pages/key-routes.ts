// Routes of the page of keys. Members manage their own keys, administrators all keys of the team.
import type { Context } from "hono";
import { ApiError, type Env } from "../foundation/index.ts";
import type { KeyEntry } from "../identity/index.ts";
import type { PageHost, Pages } from "./host.ts";
import { makeKey } from "./key-form.ts";
import { type FreshKey, keysPage, mayRotate } from "./key-pages.ts";
import { answerPage } from "./layout.ts";
import { showServiceAccounts } from "./service-account-routes.ts";
import { isAdmin, type Visitor } from "./session.ts";

export function addKeyPages(pages: Pages, host: PageHost): void {
  const { principals } = host.identity;

  const ownKeys = async (visitor: Visitor): Promise<KeyEntry[]> => {
    const { teamId, userId } = visitor.principal;
    const keys = (await principals.listKeys(teamId)).reverse();
    return isAdmin(visitor) ? keys : keys.filter(({ owner }) => owner.kind === "user" && owner.userId === userId);
  };

  const keyIn = async (context: Context<Env>, visitor: Visitor): Promise<KeyEntry> => {
    const key = (await ownKeys(visitor)).find(({ id }) => id === context.req.param("id"));
    if (!key) throw new ApiError("not_found", "Key not found, or it belongs to another user.");
    return key;
  };

  const show = async (context: Context<Env>, visitor: Visitor, fresh: FreshKey | null): Promise<Response> => {
    const { formToken: token, principal } = visitor;
    const view = { keys: await ownKeys(visitor), fresh, token, isAdmin: isAdmin(visitor), ownId: principal.userId };
    return answerPage(context, { title: "Keys", visitor, body: keysPage(view) });
  };

  pages.get("/keys", (context, visitor) => show(context, visitor, null));
  pages.form("/keys", async (context, visitor, fields) => {
    const owner = { kind: "user", email: visitor.principal.email } as const;
    return show(context, visitor, await makeKey(host, visitor, { owner, fields }));
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
      throw new ApiError("forbidden", "Only its owner can rotate a key of a user. You can revoke it.");
    if (!/^\d{1,4}$/.test(hours)) throw new ApiError("validation_error", "Enter the overlap in hours.");
    const fresh = await principals.rotateKey(id, Number(hours) * 3_600_000);
    return owner.kind === "user"
      ? show(context, visitor, fresh)
      : showServiceAccounts(host, { context, visitor, fresh });
  });
}
