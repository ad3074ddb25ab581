// Automations over a database without a server: the test moves the clock and says when the scheduler looks.
import type { Firing } from "@agentcli/protocol/api";
import { CreateAutomation } from "@agentcli/protocol/api";
import { onTestFinished } from "vitest";
import { openAgents } from "../../src/agents/index.ts";
import { openAutomationAccess } from "../../src/automations/access.ts";
import { releaseOwnClaims, startDueFirings } from "../../src/automations/firings/scheduler.ts";
import { listFirings } from "../../src/automations/firings/store.ts";
import type { AutomationHost } from "../../src/automations/host.ts";
import { recordHostEvent } from "../../src/automations/inbound/own-host.ts";
import { repositoriesOf } from "../../src/automations/open.ts";
import { type AutomationRow, insertAutomation } from "../../src/automations/store.ts";
import { firingOf } from "../../src/automations/views.ts";
import { openFleet } from "../../src/fleet/index.ts";
import type { Settings } from "../../src/foundation/config/index.ts";
import type { PlatformContext } from "../../src/foundation/context.ts";
import { openServerContext } from "../../src/foundation/context.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { openIdentity } from "../../src/identity/index.ts";
import { openIdentityTokens } from "../../src/identity-tokens/index.ts";
import { openIntegrations } from "../../src/integrations/index.ts";
import { openRepositories } from "../../src/repositories/index.ts";
import { type AgentFixture, openFixture } from "../harness/fixture.ts";

/** What a server has, with the clock of a test. */
export function automationHost(platform: PlatformContext, now: () => Date): AutomationHost {
  const context = openServerContext(platform, () => "http://127.0.0.1:1");
  const identity = openIdentity(context);
  const repositories = openRepositories(context, identity.principals, recordHostEvent(platform.vault));
  const fleet = openFleet(context, { ...identity, mintIdentity: openIdentityTokens(context).mint });
  const locations = { checkEnv: fleet.checkEnv, findEnvironment: async () => null };
  const agents = openAgents(context, { repositories, integrations: openIntegrations(context), ...locations });
  return {
    platform: context,
    access: openAutomationAccess(context),
    submit: agents.host.submit,
    agents: agents.host.access,
    ...locations,
    ...repositoriesOf(repositories),
    now,
  };
}

export interface AutomationHarness {
  fixture: AgentFixture;
  host: AutomationHost;
  setClock(instant: string): void;
  create(definition: object): Promise<AutomationRow>;
  /** As a server that has just been started does. */
  look(): Promise<void>;
  /** Earliest first. */
  firings(automation: { id: string }): Promise<Firing[]>;
  /** How many runs there are of agents that automations have started. */
  countRuns(): Promise<number>;
  /** Before the end of the test, where one test needs many. */
  close(): Promise<void>;
}

/** Closed at the end of the test. */
export async function openAutomationHarness(
  start: string,
  settings: Partial<Settings> = {},
): Promise<AutomationHarness> {
  const fixture = await openFixture(settings);
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= fixture.close();
    return closing;
  };
  onTestFinished(close);
  const { platform, principal } = fixture;
  const { db, vault } = platform;
  let clock = new Date(start);
  const host = automationHost(platform, () => clock);
  return {
    fixture,
    host,
    close,
    setClock(instant) {
      clock = new Date(instant);
    },
    async create(definition) {
      const { teamId } = principal;
      const userId = principal.kind === "user" ? principal.userId : null;
      const automation = CreateAutomation.parse({ name: "nightly", prompt: { text: "tidy up" }, ...definition });
      const key = await teamKey(db, vault, teamId);
      return db.transaction().execute((tx) => insertAutomation(tx, { ...automation, teamId, userId, key }, clock));
    },
    async look() {
      await releaseOwnClaims(host);
      await startDueFirings(host);
    },
    firings: async ({ id }) => (await listFirings(db, id, { limit: 10_000, after: null })).map(firingOf).reverse(),
    async countRuns() {
      const rows = await db
        .selectFrom("runs")
        .innerJoin("agents", "agents.id", "runs.agent_id")
        .select("runs.id")
        .where("agents.source", "=", "AUTOMATION")
        .execute();
      return rows.length;
    },
  };
}
