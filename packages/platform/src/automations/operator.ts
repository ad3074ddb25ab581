// Automations for the operator's commands: over the database, of all teams and users.
import type { Automation, AutomationAlert, Firing } from "@agentcli/protocol/api";
import type { Kysely } from "kysely";
import { ApiError, type Tables, type Vault } from "../foundation/index.ts";
import { listAlerts } from "./alerts.ts";
import { firingValues, listFirings } from "./firings/store.ts";
import { type AutomationRow, disableAutomation, enableAutomation } from "./store.ts";
import { alertOf, automationOf, firingOf } from "./views.ts";

export interface AutomationOperator {
  list(): Promise<AutomationEntry[]>;
  /** By id or name. Throws ApiError. */
  find(name: string): Promise<AutomationRow>;
  show(automation: AutomationRow): Promise<Automation>;
  /** By planned time, latest first. */
  firings(automation: AutomationRow): Promise<Firing[]>;
  alerts(automation: AutomationRow): Promise<AutomationAlert[]>;
  enable(automation: AutomationRow): Promise<void>;
  disable(automation: AutomationRow): Promise<void>;
  /** A server starts it. Throws ApiError. */
  requestRun(automation: AutomationRow): Promise<Firing>;
}

export interface AutomationEntry extends Automation {
  team: string;
}

const maxShown = 100;
const page = { limit: maxShown, after: null };

export interface OperatorContext {
  db: Kysely<Tables>;
  vault: Vault;
  /** Of a running server, for the address of webhooks. */
  publicUrl(): string;
}

export function openAutomationOperator({ db, vault, publicUrl }: OperatorContext): AutomationOperator {
  const view = { platform: { db, vault }, publicUrl };
  return {
    async list() {
      const rows = await db
        .selectFrom("automations")
        .innerJoin("teams", "teams.id", "automations.team_id")
        .selectAll("automations")
        .select("teams.name as team")
        .orderBy("teams.name")
        .orderBy("automations.name")
        .execute();
      return Promise.all(rows.map(async ({ team, ...row }) => ({ ...(await automationOf(view, row)), team })));
    },
    find: (name) => findByName(db, name),
    show: (automation) => automationOf(view, automation),
    firings: async ({ id }) => (await listFirings(db, id, page)).map(firingOf),
    alerts: async ({ id }) => (await listAlerts(db, id, page)).map(alertOf),
    async enable({ id }) {
      await db.transaction().execute((tx) => enableAutomation(tx, id, new Date()));
    },
    async disable({ id }) {
      const change = { id, reason: "Disabled by the operator.", now: new Date() };
      await db.transaction().execute((tx) => disableAutomation(tx, change));
    },
    requestRun: (automation) => requestRun(db, automation),
  };
}

async function requestRun(db: Kysely<Tables>, { id, enabled, disabled_reason }: AutomationRow): Promise<Firing> {
  if (!enabled)
    throw new ApiError("automation_disabled", `It is disabled: ${disabled_reason} First: platform automations enable`);
  const firing = { automationId: id, source: "manual", triggerId: null, dedupeKey: null } as const;
  const values = firingValues({ ...firing, plannedAt: new Date() });
  return firingOf(await db.insertInto("automation_firings").values(values).returningAll().executeTakeFirstOrThrow());
}

async function findByName(db: Kysely<Tables>, name: string): Promise<AutomationRow> {
  const matches = await db
    .selectFrom("automations")
    .selectAll()
    .where(({ or, eb }) => or([eb("id", "=", name), eb("name", "=", name)]))
    .execute();
  const [match] = matches;
  if (match && matches.length === 1) return match;
  const reason = match
    ? `There are ${matches.length} automations ${name}; use an id: ${matches.map(({ id }) => id).join(", ")}.`
    : `There is no automation ${name}. List them with: platform automations list`;
  throw new ApiError("automation_not_found", reason);
}
