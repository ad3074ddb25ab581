// A user's accounts on source hosts over HTTP. Connecting one is a page, since it goes through the host's login.
import { type Api, ApiError, schema } from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import { connectPath } from "./connect.ts";
import { type AccountStore, listAccounts, removeAccount } from "./store.ts";

const tag = "account";

export interface AccountRoutesOptions {
  db: AccountStore["db"];
  /** Where accounts can be connected; null: nowhere. */
  host: string | null;
}

export function addAccountRoutes(api: Api, { db, host }: AccountRoutesOptions): void {
  api.route(
    {
      method: "get",
      path: "/v1/me/accounts",
      summary: "List one's own accounts on source hosts",
      tag,
      scope: "agents:read",
      answer: {
        status: 200,
        schema: schema("accounts", "SourceAccountList"),
        description: "Connected accounts, and where others can be",
      },
      problems: ["forbidden"],
    },
    async ({ principal }) => {
      const accounts = await listAccounts(db, userOf(principal));
      return {
        items: accounts.map((account) => ({ ...account, connectedAt: account.connectedAt.toISOString() })),
        connectable: host === null ? [] : [{ host, path: connectPath }],
      };
    },
  );
  api.route(
    {
      method: "delete",
      path: "/v1/me/accounts/{host}",
      summary: "Disconnect one's own account on a source host",
      tag,
      scope: "agents:write",
      params: schema("accounts", "AccountHost"),
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "The host" },
      problems: ["forbidden", "not_found"],
    },
    async ({ params, principal }) => {
      if (await removeAccount(db, { userId: userOf(principal), host: params.host })) return { id: params.host };
      throw new ApiError("not_found", `You have no account on ${params.host}. List them: GET /v1/me/accounts.`);
    },
  );
}

function userOf(principal: Principal): number {
  if (principal.kind === "user") return principal.userId;
  throw new ApiError("forbidden", "Only users have accounts on source hosts.");
}
