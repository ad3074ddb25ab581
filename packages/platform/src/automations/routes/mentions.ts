// `GET /v1/mentions`: comments that addressed the platform, and what became of them.
import { type Api, decodeCursor, pageOf, schema } from "../../foundation/index.ts";
import { isTeamManager } from "../access.ts";
import type { AutomationHost } from "../host.ts";
import { listMentions, mentionOf } from "../inbound/list-mentions.ts";
import { tag } from "./automations.ts";

export function addMentionRoutes(api: Api, { platform: { db } }: AutomationHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/mentions",
      summary:
        "List comments that mentioned the platform, newest first, with the reason where one was refused: all of the team for administrators and service accounts, otherwise the caller's own",
      tag,
      scope: "agents:read",
      query: schema("mentions", "MentionQuery"),
      answer: { status: 200, schema: schema("mentions", "MentionPage"), description: "A page of mentions" },
    },
    async ({ query: { cursor, limit, status }, principal }) => {
      const userId = isTeamManager(principal) || principal.kind !== "user" ? null : principal.userId;
      const filter = { teamId: principal.teamId, userId, status };
      const rows = await listMentions(db, filter, { limit, after: decodeCursor(cursor) });
      const page = pageOf(rows, limit, ({ created_at, id }) => ({ createdAt: created_at, id }));
      return { ...page, items: page.items.map(mentionOf) };
    },
  );
}
