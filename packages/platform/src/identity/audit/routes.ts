// `GET /v1/audit`: the audit log of a team, newest first.
import type { Kysely } from "kysely";
import { type Api, schema, type Tables } from "../../foundation/index.ts";
import { readEntries } from "./read.ts";

export function addAuditRoute(api: Api, db: Kysely<Tables>): void {
  api.route(
    {
      method: "get",
      path: "/v1/audit",
      summary: "List what was changed in the team, by whom and when, newest first",
      tag: "Audit",
      scope: "admin",
      query: schema("audit", "AuditQuery"),
      answer: {
        status: 200,
        schema: schema("audit", "AuditPage"),
        description: "A page of entries; it may be short of its limit",
      },
    },
    ({ query, principal }) => readEntries(db, principal.teamId, query),
  );
}
