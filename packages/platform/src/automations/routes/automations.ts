// Automations over HTTP: create, list, read, change, delete.
import type { ChangeAutomation, CreateAutomation } from "@agentcli/protocol/api";
import { z } from "zod";
import { checkModel } from "../../agents/index.ts";
import { type Api, ApiError, decodeCursor, type Principal, pageOf, schema, teamKey } from "../../foundation/index.ts";
import { settingsOfTeam } from "../../identity/index.ts";
import { requireAccess, requireTeamManager } from "../access.ts";
import { checkPrompt, checkTriggers, openDefinition } from "../definition.ts";
import type { AutomationHost } from "../host.ts";
import { principalOf } from "../identity.ts";
import { locationOf } from "../location.ts";
import {
  type AutomationRow,
  changeAutomation,
  deleteAutomation,
  insertAutomation,
  listAutomations,
  lockAutomation,
} from "../store.ts";
import { giveUpAgents } from "../subscriptions/batches.ts";
import { automationOf, type ViewContext } from "../views.ts";

export const tag = "Automations";
export const one = () => z.object({ automationId: z.string() });
export const viewOf = ({ platform }: AutomationHost): ViewContext => ({ platform, publicUrl: platform.publicUrl });

export function addAutomationRoutes(api: Api, host: AutomationHost): void {
  addCreate(api, host);
  addList(api, host);
  addRead(api, host);
  addChange(api, host);
  addDelete(api, host);
}

function addCreate(api: Api, host: AutomationHost): void {
  const { db, vault } = host.platform;
  api.route(
    {
      method: "post",
      path: "/v1/automations",
      summary: "Create an automation; what its schedules fire next is planned",
      tag,
      scope: "agents:write",
      body: schema("automations", "CreateAutomation"),
      answer: { status: 201, schema: schema("automations", "Automation"), description: "The automation" },
      problems: [
        "automation_name_conflict",
        "invalid_model",
        "repository_access",
        "integration_not_connected",
        "team_admin_required",
        "user_required",
      ],
    },
    async ({ body, principal }) => {
      const userId = ownerOf(principal, body.scope);
      checkTriggers(body);
      checkPrompt(body.prompt.text);
      if (body.model) checkModel(body.model, await settingsOfTeam(host.platform, principal.teamId));
      await checkTarget(host, principal, body);
      const { teamId } = principal;
      const key = await teamKey(db, vault, teamId);
      const row = await db.transaction().execute(async (tx) => {
        const inserted = await insertAutomation(tx, { ...body, teamId, userId, key }, host.now());
        // The service account of the team exists before the first run needs it.
        await principalOf(tx, inserted);
        return inserted;
      });
      return automationOf(viewOf(host), row);
    },
  );
}

/** Null: the team. */
function ownerOf(principal: Principal, scope: CreateAutomation["scope"]): number | null {
  if (scope === "team_owned") {
    requireTeamManager(principal, "Automations of the scope team_owned");
    return null;
  }
  if (principal.kind === "user") return principal.userId;
  throw new ApiError("user_required", `scope: a service account has no automations of its own; use team_owned.`);
}

/** Also repositories whose changed paths the platform reads for a trigger. */
async function checkTarget(
  { checkRepositories, checkEnv, findEnvironment }: AutomationHost,
  principal: Principal,
  { target, triggers = [] }: Pick<ChangeAutomation, "target" | "triggers">,
): Promise<void> {
  if (target !== undefined) {
    const { env, repos } = locationOf(target);
    await rename("env:", "target.env:", () => checkEnv(principal, { env, repos }));
    await rename("env:", "target.name:", () => findEnvironment(principal, env));
  }
  const named = [
    ...(target?.type === "repo" ? [{ url: target.repoUrl, member: "target.repoUrl" }] : []),
    ...triggers.flatMap((trigger, index) =>
      trigger.type === "github" && trigger.paths?.length
        ? trigger.repos.map((url, at) => ({ url, member: `triggers.${index}.repos.${at}` }))
        : [],
    ),
  ];
  for (const { url, member } of named)
    await rename("repos[0].url", member, () => checkRepositories(principal, [{ url }]));
}

/** The check names the member of another request. */
async function rename(from: string, to: string, check: () => Promise<unknown>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ApiError(error.code, error.message.replace(from, to), error.extra);
  }
}

function addList(api: Api, host: AutomationHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/automations",
      summary: "List automations, newest first",
      tag,
      scope: "agents:read",
      query: schema("common", "PageQuery"),
      answer: { status: 200, schema: schema("automations", "AutomationPage"), description: "A page of automations" },
    },
    async ({ query: { cursor, limit }, principal }) => {
      const userId = principal.kind === "user" ? principal.userId : null;
      const filter = { teamId: principal.teamId, userId };
      const rows = await listAutomations(host.platform.db, filter, { limit, after: decodeCursor(cursor) });
      const page = pageOf(rows, limit, ({ created_at, id }) => ({ createdAt: created_at, id }));
      return { ...page, items: await Promise.all(page.items.map((row) => automationOf(viewOf(host), row))) };
    },
  );
}

function addRead(api: Api, host: AutomationHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/automations/{automationId}",
      summary: "Read an automation",
      tag,
      scope: "agents:read",
      params: one,
      answer: { status: 200, schema: schema("automations", "Automation"), description: "The automation" },
      problems: ["automation_not_found"],
    },
    async ({ params, principal }) =>
      automationOf(viewOf(host), await host.access.find(principal, params.automationId, "read")),
  );
}

function addChange(api: Api, host: AutomationHost): void {
  const { db, vault } = host.platform;
  api.route(
    {
      method: "patch",
      path: "/v1/automations/{automationId}",
      summary: "Change an automation, all at once or nothing",
      tag,
      scope: "agents:write",
      params: one,
      body: schema("automations", "ChangeAutomation"),
      answer: { status: 200, schema: schema("automations", "Automation"), description: "The automation" },
      problems: [
        "automation_not_found",
        "automation_name_conflict",
        "invalid_model",
        "repository_access",
        "integration_not_connected",
        "team_admin_required",
        "forbidden",
      ],
    },
    async ({ params, body, principal }) => {
      const automation = await findToChange(host, principal, { id: params.automationId, scope: body.scope });
      const key = await teamKey(db, vault, automation.team_id);
      const former = openDefinition(key, automation);
      const { triggers = former.triggers, target = former.target, shadow = former.shadow } = body;
      checkTriggers({ triggers, target, shadow, scope: body.scope ?? automation.scope });
      if (body.prompt) checkPrompt(body.prompt.text);
      if (body.model) checkModel(body.model, await settingsOfTeam(host.platform, principal.teamId));
      await checkTarget(host, principal, body);
      const authorize = (locked: AutomationRow) => requireChange(principal, locked, body.scope);
      const context = { automation, key, now: host.now(), authorize };
      await db.transaction().execute(async (tx) => {
        await changeAutomation(tx, context, body);
        // The service account of the team exists before the first run needs it.
        if (body.scope === "team_owned") await principalOf(tx, { ...automation, user_id: null });
      });
      return automationOf(viewOf(host), await host.access.find(principal, automation.id, "read"));
    },
  );
}

async function findToChange(
  { access }: AutomationHost,
  principal: Principal,
  { id, scope }: { id: string; scope: CreateAutomation["scope"] | undefined },
): Promise<AutomationRow> {
  const found = await access.find(principal, id, "read");
  requireChange(principal, found, scope);
  return found;
}

function requireChange(principal: Principal, found: AutomationRow, scope: CreateAutomation["scope"] | undefined): void {
  const isPromotion = scope === "team_owned" && found.scope !== "team_owned";
  requireAccess(principal, found, isPromotion ? "promote" : "manage");
  if (scope !== undefined && scope !== "team_owned" && found.scope === "team_owned")
    throw new ApiError("validation_error", "scope: an automation of the team stays one; create another for yourself.");
}

function addDelete(api: Api, { platform: { db }, access }: AutomationHost): void {
  api.route(
    {
      method: "delete",
      path: "/v1/automations/{automationId}",
      summary: "Delete an automation with its records; agents that it started stay",
      tag,
      scope: "agents:write",
      params: one,
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "Its id" },
      problems: ["automation_not_found", "team_admin_required"],
    },
    async ({ params, principal }) => {
      const { id } = await access.find(principal, params.automationId, "manage");
      await db.transaction().execute(async (tx) => {
        await lockAutomation(tx, id);
        await giveUpAgents(tx, id);
        await deleteAutomation(tx, id);
      });
      return { id };
    },
  );
}
