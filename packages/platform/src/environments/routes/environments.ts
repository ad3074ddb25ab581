// Environments over HTTP: create, list, read, change, delete, and their history.
import { z } from "zod";
import {
  type Api,
  ApiError,
  decodeCursor,
  decodeNumber,
  type Principal,
  pageOf,
  principalName,
  schema,
  teamKey,
} from "../../foundation/index.ts";
import { requireTeamManager } from "../access.ts";
import { insertBuild } from "../builds/store.ts";
import { checkEnvironmentJson } from "../config.ts";
import type { EnvironmentHost } from "../host.ts";
import {
  changeEnvironment,
  deleteEnvironment,
  insertEnvironment,
  listEnvironments,
  listVersions,
  readVersion,
} from "../store.ts";
import { detailOf, environmentOf, versionOf } from "../views.ts";

const one = () => z.object({ environmentId: z.string() });
export const tag = "Environments";
/** Of an environment.json in which every character is escaped. */
const bodyLimitBytes = 2 * 1024 * 1024;

export function addEnvironmentRoutes(api: Api, host: EnvironmentHost): void {
  addCreate(api, host);
  addList(api, host);
  addRead(api, host);
  addChange(api, host);
  addDelete(api, host);
  addHistory(api, host);
}

function addCreate(api: Api, { platform: { db, vault }, checkRepositories }: EnvironmentHost): void {
  api.route(
    {
      method: "post",
      path: "/v1/environments",
      summary: "Create an environment; its first build begins",
      tag,
      scope: "agents:write",
      body: schema("environments", "CreateEnvironment"),
      bodyLimitBytes,
      answer: { status: 201, schema: schema("environments", "Environment"), description: "The environment" },
      problems: [
        "environment_name_conflict",
        "repository_access",
        "integration_not_connected",
        "team_admin_required",
        "user_required",
      ],
    },
    async ({ body: { owner, ...body }, principal }) => {
      const userId = owner === "personal" ? userOf(principal) : null;
      if (owner === "team") requireTeamManager(principal);
      await checkEnvironmentJson(body.environmentJson);
      await checkRepositories(principal, body.repos);
      const { teamId } = principal;
      const key = await teamKey(db, vault, teamId);
      const environment = await db.transaction().execute(async (tx) => {
        const created = await insertEnvironment(tx, { ...body, teamId, userId, key });
        await insertBuild(tx, { environment: created, key, ...configChange, requestedBy: principalName(principal) });
        return created;
      });
      return environmentOf(environment);
    },
  );
}

const configChange = { trigger: "CONFIG_CHANGE", draft: false } as const;

function userOf(principal: Principal): number {
  if (principal.kind === "user") return principal.userId;
  throw new ApiError("user_required", "owner: a service account has no personal environments; create one of the team.");
}

function addList(api: Api, { platform: { db }, access }: EnvironmentHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/environments",
      summary: "List environments, most recently updated first; a page may be short",
      tag,
      scope: "agents:read",
      query: schema("common", "PageQuery"),
      answer: { status: 200, schema: schema("environments", "EnvironmentPage"), description: "A page of environments" },
    },
    async ({ query: { cursor, limit }, principal }) => {
      const userId = principal.kind === "user" ? principal.userId : null;
      const filter = { teamId: principal.teamId, userId };
      const rows = await listEnvironments(db, filter, { limit, after: decodeCursor(cursor, "uuid") });
      const page = pageOf(rows, limit, ({ updated_at, id }) => ({ createdAt: updated_at, id }));
      return { ...page, items: (await access.visible(principal, page.items)).map(environmentOf) };
    },
  );
}

function addRead(api: Api, { platform: { db, vault }, access }: EnvironmentHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/environments/{environmentId}",
      summary: "Read an environment with its configuration",
      tag,
      scope: "agents:read",
      params: one,
      answer: { status: 200, schema: schema("environments", "EnvironmentDetail"), description: "The environment" },
      problems: ["environment_not_found"],
    },
    async ({ params, principal }) => {
      const row = await access.find(principal, params.environmentId, "read");
      return detailOf(row, await readVersion(db, row.version_id), await teamKey(db, vault, row.team_id));
    },
  );
}

function addChange(api: Api, { platform: { db, vault }, access }: EnvironmentHost): void {
  api.route(
    {
      method: "patch",
      path: "/v1/environments/{environmentId}",
      summary: "Change an environment, all at once or nothing; another configuration is built",
      tag,
      scope: "agents:write",
      params: one,
      body: schema("environments", "ChangeEnvironment"),
      bodyLimitBytes,
      answer: { status: 204, description: "It is changed" },
      problems: ["environment_not_found", "environment_name_conflict", "team_admin_required"],
    },
    async ({ params, body, principal }) => {
      const environment = await access.find(principal, params.environmentId, "manage");
      if (body.environmentJson !== undefined) await checkEnvironmentJson(body.environmentJson);
      if (Object.keys(body).length === 0) return null;
      const key = await teamKey(db, vault, environment.team_id);
      await db.transaction().execute(async (tx) => {
        const { isNewConfig } = await changeEnvironment(tx, { environment, key }, body);
        if (!isNewConfig) return;
        await insertBuild(tx, { environment, key, ...configChange, requestedBy: principalName(principal) });
      });
      return null;
    },
  );
}

function addDelete(api: Api, { platform: { db }, access }: EnvironmentHost): void {
  api.route(
    {
      method: "delete",
      path: "/v1/environments/{environmentId}",
      summary: "Delete an environment with its history and builds",
      tag,
      scope: "agents:write",
      params: one,
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "Its id" },
      problems: ["environment_not_found", "team_admin_required"],
    },
    async ({ params, principal }) => {
      const { id } = await access.find(principal, params.environmentId, "manage");
      await deleteEnvironment(db, id);
      return { id };
    },
  );
}

function addHistory(api: Api, { platform: { db, vault }, access }: EnvironmentHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/environments/{environmentId}/history",
      summary: "List the versions of an environment, newest first",
      tag,
      scope: "agents:read",
      params: one,
      query: schema("common", "PageQuery"),
      answer: { status: 200, schema: schema("environments", "EnvironmentHistory"), description: "A page of versions" },
      problems: ["environment_not_found"],
    },
    async ({ params, query: { cursor, limit }, principal }) => {
      const environment = await access.find(principal, params.environmentId, "read");
      const key = await teamKey(db, vault, environment.team_id);
      const rows = await listVersions(db, environment.id, { limit, before: decodeNumber(cursor) });
      const items = rows.slice(0, limit).map((row) => versionOf(row, environment, key));
      const last = rows[limit - 1];
      return { items, ...(rows.length > limit && last && { nextCursor: String(last.number) }) };
    },
  );
}
