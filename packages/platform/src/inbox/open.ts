// The inbox of a user over HTTP: what is in it, and what was done with it.
import type { OverviewHost } from "../agents/index.ts";
import { type Api, ApiError, type Principal, type Subject, schema } from "../foundation/index.ts";
import type { UserPrincipal } from "./item.ts";
import { markItems } from "./marks.ts";
import { readInbox } from "./read.ts";
import { readInboxTag } from "./version.ts";

export const openInbox = (host: OverviewHost): Subject => ({ routes: (api) => addRoutes(api, host) });

const tag = "Inbox";
const path = "/v1/me/inbox";

function addRoutes(api: Api, host: OverviewHost): void {
  api.route(
    {
      method: "get",
      path,
      summary: "List what needs the user: results to review, failed runs, alerts of automations and decisions",
      tag,
      scope: "agents:read",
      answer: {
        status: 200,
        schema: schema("inbox", "Inbox"),
        description: "The newest items, and how many are unread; 304 where If-None-Match has the ETag of now",
      },
      problems: ["user_required"],
    },
    async ({ principal, header, context }) => {
      const user = userOf(principal);
      // Before the inbox is read: what changes meanwhile is read again with the next request.
      const tag = await readInboxTag(host, user);
      context.header("etag", tag);
      return header("if-none-match") === tag ? context.body(null, 304) : readInbox(host, user);
    },
  );
  api.route(
    {
      method: "patch",
      path,
      summary: "Mark items of the inbox as unread, read or done",
      tag,
      scope: "agents:write",
      body: schema("inbox", "ChangeInbox"),
      answer: { status: 200, schema: schema("inbox", "InboxChange"), description: "The items that were marked" },
      problems: ["user_required", "not_found"],
    },
    async ({ body, principal }) => {
      await markItems(host.platform.db, userOf(principal), body);
      return { items: body.items };
    },
  );
}

function userOf(principal: Principal): UserPrincipal {
  if (principal.kind === "user") return principal;
  throw new ApiError("user_required", "A service account has no inbox. Use a key of a user.");
}
