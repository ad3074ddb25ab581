// Builds of environments over HTTP: list, read, trigger, activate, discard, cancel.
import { z } from "zod";
import { type Api, decodeCursor, pageOf, principalName, schema, teamKey } from "../../foundation/index.ts";
import { discardDraft } from "../builds/drafts.ts";
import { activateBuild, findBuild, insertBuild, listBuilds, requestBuildCancel } from "../builds/store.ts";
import type { EnvironmentHost } from "../host.ts";

import { buildOf } from "../views.ts";
import { tag } from "./environments.ts";

const ofEnvironment = () => z.object({ environmentId: z.string() });
export const oneBuild = () => z.object({ environmentId: z.string(), buildId: z.string() });
const builds = "/v1/environments/{environmentId}/builds";

export function addBuildRoutes(api: Api, host: EnvironmentHost): void {
  addTrigger(api, host);
  addList(api, host);
  addActive(api, host);
  addRead(api, host);
  addActivate(api, host);
  addDiscard(api, host);
  addCancel(api, host);
}

function addTrigger(api: Api, { platform: { db, vault }, access }: EnvironmentHost): void {
  api.route(
    {
      method: "post",
      path: builds,
      summary: "Build an environment; of the builds that wait, the newest runs",
      tag,
      scope: "agents:write",
      rateLimit: { requests: 30, seconds: 60 },
      params: ofEnvironment,
      body: schema("environments", "TriggerBuild"),
      bodyIsOptional: true,
      answer: { status: 201, schema: schema("environments", "Build"), description: "The build, in progress" },
      problems: ["environment_not_found"],
    },
    async ({ params, body: { draft = false, ...overrides }, principal }) => {
      const environment = await access.find(principal, params.environmentId, "read");
      const key = await teamKey(db, vault, environment.team_id);
      const isDraft = draft || overrides.install !== undefined || overrides.start !== undefined;
      // What becomes active is for those who may change the environment.
      if (!isDraft) await access.find(principal, params.environmentId, "manage");
      const request = { environment, key, overrides, trigger: "MANUAL", draft: isDraft } as const;
      const requestedBy = principalName(principal);
      return buildOf(await db.transaction().execute((tx) => insertBuild(tx, { ...request, requestedBy })));
    },
  );
}

function addList(api: Api, { platform: { db }, access }: EnvironmentHost): void {
  api.route(
    {
      method: "get",
      path: builds,
      summary: "List the builds of an environment, newest first",
      tag,
      scope: "agents:read",
      params: ofEnvironment,
      query: schema("environments", "BuildQuery"),
      answer: { status: 200, schema: schema("environments", "BuildPage"), description: "A page of builds" },
      problems: ["environment_not_found"],
    },
    async ({ params, query: { cursor, limit }, principal }) => {
      const { id } = await access.find(principal, params.environmentId, "read");
      const rows = await listBuilds(db, id, { limit, after: decodeCursor(cursor) });
      const page = pageOf(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }));
      return { ...page, items: page.items.map(buildOf) };
    },
  );
}

function addActive(api: Api, { access }: EnvironmentHost): void {
  api.route(
    {
      method: "get",
      path: `${builds}/active`,
      summary: "Read which build agents start from",
      tag,
      scope: "agents:read",
      params: ofEnvironment,
      answer: { status: 200, schema: schema("environments", "ActiveBuild"), description: "The active build" },
      problems: ["environment_not_found"],
    },
    async ({ params, principal }) => {
      const { active_build_id: buildId } = await access.find(principal, params.environmentId, "read");
      return buildId === null ? { type: "universal_image" } : { type: "build", buildId };
    },
  );
}

function addRead(api: Api, { platform: { db }, access }: EnvironmentHost): void {
  api.route(
    {
      method: "get",
      path: `${builds}/{buildId}`,
      summary: "Read a build",
      tag,
      scope: "agents:read",
      params: oneBuild,
      answer: { status: 200, schema: schema("environments", "Build"), description: "The build" },
      problems: ["environment_not_found", "build_not_found"],
    },
    async ({ params, principal }) => {
      const { id } = await access.find(principal, params.environmentId, "read");
      return buildOf(await findBuild(db, id, params.buildId));
    },
  );
}

function addActivate(api: Api, { platform: { db }, access }: EnvironmentHost): void {
  api.route(
    {
      method: "post",
      path: `${builds}/{buildId}/activate`,
      summary: "Make agents start from this build, which has succeeded",
      tag,
      scope: "agents:write",
      params: oneBuild,
      answer: { status: 200, schema: schema("environments", "Build"), description: "The build" },
      problems: ["environment_not_found", "build_not_found", "build_not_ready", "team_admin_required"],
    },
    async ({ params, principal }) => {
      const { id } = await access.find(principal, params.environmentId, "manage");
      const build = await findBuild(db, id, params.buildId);
      await db.transaction().execute((tx) => activateBuild(tx, build));
      return buildOf(await findBuild(db, id, params.buildId));
    },
  );
}

function addDiscard(api: Api, { platform: { db }, access }: EnvironmentHost): void {
  api.route(
    {
      method: "post",
      path: `${builds}/{buildId}/discard`,
      summary: "Decide that a draft does not become active; it stays to be looked at",
      tag,
      scope: "agents:write",
      params: oneBuild,
      answer: { status: 200, schema: schema("environments", "Build"), description: "The build" },
      problems: ["environment_not_found", "build_not_found", "build_not_draft", "team_admin_required"],
    },
    async ({ params, principal }) => {
      const { id } = await access.find(principal, params.environmentId, "read");
      const build = await findBuild(db, id, params.buildId);
      // Those who requested it, and those who may change the environment.
      if (build.requested_by !== principalName(principal)) await access.find(principal, params.environmentId, "manage");
      await db.transaction().execute((tx) => discardDraft(tx, build));
      return buildOf(await findBuild(db, id, params.buildId));
    },
  );
}

function addCancel(api: Api, { platform: { db, vault }, access }: EnvironmentHost): void {
  api.route(
    {
      method: "post",
      path: `${builds}/{buildId}/cancel`,
      summary: "Cancel a build; the active one stays",
      tag,
      scope: "agents:write",
      params: oneBuild,
      answer: {
        status: 200,
        schema: schema("environments", "Build"),
        description: "The build; it ends as soon as its processes have",
      },
      problems: ["environment_not_found", "build_not_found", "build_not_cancellable", "team_admin_required"],
    },
    async ({ params, principal }) => {
      const environment = await access.find(principal, params.environmentId, "read");
      const build = await findBuild(db, environment.id, params.buildId);
      // Those who requested it, and those who may change the environment.
      if (build.requested_by !== principalName(principal)) await access.find(principal, params.environmentId, "manage");
      const key = await teamKey(db, vault, environment.team_id);
      await db.transaction().execute((tx) => requestBuildCancel(tx, build, key));
      return buildOf(await findBuild(db, environment.id, params.buildId));
    },
  );
}
