// The automatic fix of failed checks: a test for each row of its state table.
import { expect, test } from "vitest";
import { listSubscriptions } from "../../src/automations/subscriptions/store.ts";
import { changeUserSettings } from "../../src/identity/settings/index.ts";
import { type Fixing, first, foreign, openFixing, second, turnOff } from "./ci-fix-harness.ts";

const rows: [string, (fixing: Fixing) => Promise<void>, { fixes: number; state: string | null }][] = [
  ["a failed check is followed by a fix", ({ check }) => check("failure"), { fixes: 1, state: "active" }],
  [
    "several checks that fail together are followed by one fix",
    async ({ check }) => {
      await check("failure");
      await check("error", { name: "lint" });
    },
    { fixes: 1, state: "active" },
  ],
  ["a check that succeeds is followed by nothing", ({ check }) => check("success"), { fixes: 0, state: null }],
  [
    "a check on another branch is followed by nothing",
    ({ check }) => check("failure", { on: "topic" }),
    { fixes: 0, state: null },
  ],
  [
    "a late result for a commit that the agent has replaced is followed by nothing",
    async ({ check, push }) => {
      await push(second);
      await check("failure", { commit: first });
    },
    { fixes: 0, state: null },
  ],
  [
    "a check that fails again after the fix is followed by another fix",
    async ({ check, wake, push }) => {
      await check("failure");
      await wake();
      await push(second);
      await check("failure", { commit: second });
    },
    { fixes: 2, state: "active" },
  ],
  [
    "it stops at the commit of a person",
    async ({ check, wake }) => {
      await check("failure");
      await wake();
      await check("failure", { commit: foreign });
      await check("failure");
    },
    { fixes: 1, state: `Stopped: a person pushed ${foreign.slice(0, 12)}.` },
  ],
  [
    "it stops at a follow-up of a person",
    async ({ check, wake, fixture, agentId }) => {
      await check("failure");
      await wake();
      await fixture.followUp(agentId);
      await check("failure");
    },
    { fixes: 1, state: "Stopped: a person sent the agent a follow-up." },
  ],
  [
    "it does not begin with a check that fails on the base",
    async ({ check }) => {
      await check("failure", { on: "main", commit: foreign });
      await check("failure");
    },
    { fixes: 0, state: null },
  ],
  [
    "it stops at a check that fails on the base since",
    async ({ check, wake }) => {
      await check("failure");
      await wake();
      await check("failure", { on: "main", commit: foreign });
      await check("failure");
    },
    { fixes: 1, state: "Stopped: the check fails on the base branch as well." },
  ],
  [
    "a check that succeeds on the base again is fixed",
    async ({ check }) => {
      await check("failure", { on: "main", commit: foreign });
      await check("success", { on: "main", commit: foreign });
      await check("failure");
    },
    { fixes: 1, state: "active" },
  ],
  [
    "a suite of an app that fails on the base does not keep another of the app from being fixed",
    async ({ suite }) => {
      await suite("failure", { on: "main", commit: foreign });
      await suite("failure");
    },
    { fixes: 1, state: "active" },
  ],
  [
    "it stops when the pull request is merged, and what waits is dropped",
    async ({ check, close }) => {
      await check("failure");
      await close(true);
      await check("failure");
    },
    { fixes: 0, state: "Stopped: the pull request was merged." },
  ],
  [
    "it stops when the pull request is closed",
    async ({ check, close, wake }) => {
      await check("failure");
      await wake();
      await close(false);
      await check("failure");
    },
    { fixes: 1, state: "Stopped: the pull request was closed." },
  ],
  [
    "a check that fails for the first time after the merge is followed by nothing",
    async ({ check, close }) => {
      await close(true);
      await check("failure");
    },
    { fixes: 0, state: "Stopped: the pull request was merged." },
  ],
  [
    "it goes on when a closed pull request is opened again",
    async ({ check, close, reopen, wake }) => {
      await check("failure");
      await wake();
      await close(false);
      await reopen();
      await check("failure");
    },
    { fixes: 2, state: "active" },
  ],
  [
    "it stays off when a pull request is opened again for which it was turned off",
    async ({ check, close, comment, reopen }) => {
      await comment("@platform autofix off");
      await close(false);
      await reopen();
      await check("failure");
    },
    { fixes: 0, state: "Stopped: turned off by ada." },
  ],
  [
    "it does not begin where the settings of the team turn it off",
    async ({ check, fixture }) => {
      await turnOff(fixture);
      await check("failure");
    },
    { fixes: 0, state: null },
  ],
  [
    "it stops where the settings of the team turn it off",
    async ({ check, wake, fixture }) => {
      await check("failure");
      await wake();
      await turnOff(fixture);
      await check("failure");
    },
    { fixes: 1, state: "Stopped: it is turned off in the settings." },
  ],
  [
    "settings of the user count before those of the team",
    async ({ check, fixture }) => {
      await turnOff(fixture);
      const { db } = fixture.platform;
      await db.transaction().execute((tx) => changeUserSettings(tx, 1, { autofix: true }));
      await check("failure");
    },
    { fixes: 1, state: "active" },
  ],
  [
    "`autofix on` counts for its pull request, whatever the settings say",
    async ({ check, comment, fixture }) => {
      await turnOff(fixture);
      await comment("@platform autofix on");
      await check("failure");
    },
    { fixes: 1, state: "active" },
  ],
  [
    "an agent with as many subscriptions as there may be is woken",
    async ({ check, fixture, agentId }) => {
      const { db } = fixture.platform;
      const shared = {
        agent_id: agentId,
        team_id: fixture.principal.teamId,
        source: "timer",
        status: "active",
      } as const;
      const times = { created_at: new Date("2026-03-01"), expires_at: new Date("2027-03-01"), created_by: "ada" };
      const filter = Buffer.from("");
      const ids = Array.from({ length: 50 }, (_, index) => `sub-${index}`);
      const values = ids.map((id) => ({ ...shared, ...times, id, filter }));
      await db.insertInto("subscriptions").values(values).execute();
      await check("failure");
    },
    { fixes: 1, state: "active" },
  ],
  [
    "it stops after ten follow-ups",
    async ({ check, wake }) => {
      for (let round = 0; round < 11; round += 1) {
        await check("failure");
        await wake();
      }
    },
    { fixes: 10, state: "Stopped: the agent was woken 10 times for it." },
  ],
  [
    "`autofix off` stops it, and what waits is dropped",
    async ({ check, comment }) => {
      await check("failure");
      await comment("thanks\n@platform autofix off");
      await check("failure");
    },
    { fixes: 0, state: "Stopped: turned off by ada." },
  ],
  [
    "`autofix off` before the first failure keeps it from beginning, and `autofix on` begins it again",
    async ({ check, comment, wake }) => {
      await comment("@platform autofix off");
      await check("failure");
      await wake();
      await comment("@platform autofix on");
      await check("failure");
    },
    { fixes: 1, state: "active" },
  ],
  [
    "a comment of an agent turns nothing off",
    async ({ check, comment, agentId }) => {
      await comment("@platform autofix off", `agent:${agentId}`);
      await check("failure");
    },
    { fixes: 1, state: "active" },
  ],
  [
    "a sentence about it turns nothing off",
    async ({ check, comment }) => {
      await comment("should we say @platform autofix off here?");
      await check("failure");
    },
    { fixes: 1, state: "active" },
  ],
];

test.each(rows)("%s", async (_name, happen, expected) => {
  const fixing = await openFixing();
  await happen(fixing);
  await fixing.wake();
  const [subscription] = await listSubscriptions(fixing.fixture.platform.db, fixing.agentId);
  const state = subscription ? (subscription.status === "active" ? "active" : subscription.ended_reason) : null;
  expect({ fixes: await fixing.fixes(), state }).toEqual(expected);
});
