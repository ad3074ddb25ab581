// One team fills a server with runs, or with git processes that wait for its hosts: those of another team start all the same.
import { once, setMaxListeners } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertAgent } from "../../src/agents/submit/insert.ts";
import { openNetworkPolicy } from "../../src/foundation/network/index.ts";
import { openSlotsPerOwner } from "../../src/foundation/slots.ts";
import { openSourceHosts, readAdvertisement } from "../../src/repositories/scm/index.ts";
import { openLocks } from "../../src/repositories/workspaces/index.ts";
import { type Leases, openLeases } from "../../src/runs/index.ts";
import type { ClaimedRun } from "../../src/runs/leases/lease.ts";
import { type AgentFixture, openFixture } from "../harness/fixture.ts";
import { never, noRules } from "../repositories/git-harness.ts";

let fixture: AgentFixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

const maxRuns = 8;
const leasesOf = (nodeId: string) => openLeases(fixture.platform.db, { nodeId, leaseMs: 60_000, maxRuns });

async function runOfAnotherTeam(name: string): Promise<string> {
  const { platform } = fixture;
  const owner = { kind: "user", email: `${name}@example.com` } as const;
  const key = { name, team: name, owner, scopes: null, expiresAt: null };
  const known = await platform.principals.authenticate(`Bearer ${(await platform.principals.createKey(key)).key}`);
  if (known.kind === "refused") throw new Error(known.reason);
  const requester = { principal: known.principal, requestId: "request", source: "API" };
  const prompt = { prompt: { text: "do it" } };
  return (await platform.db.transaction().execute((tx) => insertAgent({ tx, platform, requester }, prompt))).runId;
}

const claimMany = async (leases: Leases): Promise<ClaimedRun[]> => {
  const claimed: ClaimedRun[] = [];
  while (claimed.length < maxRuns) {
    const run = await leases.claim();
    if (run === null) break;
    claimed.push(run);
  }
  return claimed;
};

test("a team that fills a server with runs leaves slots for the runs of another team", async () => {
  await Promise.all(Array.from({ length: 3 * maxRuns }, () => fixture.newAgent()));
  const alone = await claimMany(leasesOf("one team alone"));
  expect(alone).toHaveLength(maxRuns);

  const first = await runOfAnotherTeam("first");
  const leases = leasesOf("shared");
  const claimed = await claimMany(leases);
  // Of the teams that wait, the one goes first that has fewer runs there: not the oldest run.
  expect(claimed.findIndex(({ runId }) => runId === first)).toBe(1);
  expect(claimed.length).toBeLessThan(maxRuns);
  expect(leases.hasFullTeam()).toBe(true);

  const second = await runOfAnotherTeam("second");
  expect((await leases.claim())?.runId).toBe(second);
  // Slots that become free are the team's again, but for the last ones.
  for (const ended of claimed.filter(({ runId }) => runId !== first).slice(0, 2)) {
    expect(await leases.claim()).toBeNull();
    const { db } = fixture.platform;
    await db.updateTable("runs").set({ status: "FINISHED" }).where("id", "=", ended.runId).execute();
    await leases.release(ended);
  }
  expect((await leases.claim())?.teamId).toBe(fixture.principal.teamId);
});

test("repositories of one team whose hosts never answer leave locks for another team", async () => {
  const locks = openLocks(fixture.platform.db);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const silent = () => new Promise<never>((_resolve, reject) => stop.signal.addEventListener("abort", reject));
  const held = Array.from({ length: 20 }, (_, index) =>
    locks.hold({ name: `silent-${index}`, teamId: 1 }, silent, stop.signal).catch(() => "ended"),
  );
  expect(await locks.hold({ name: "another team", teamId: 2 }, async () => "held", never())).toBe("held");
  stop.abort();
  expect(await Promise.all(held)).toEqual(held.map(() => "ended"));
  expect(await locks.hold({ name: "the same team", teamId: 1 }, async () => "held", never())).toBe("held");
});

test("git processes of one team that wait for its hosts are limited, and another team's are not among them", async () => {
  const connections: Socket[] = [];
  const silent = createServer((socket) => void connections.push(socket)).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const sources = openSourceHosts({
    policy: openNetworkPolicy({ allowPrivate: ["127.0.0.0/8"] }),
    sshDirectory: "/nonexistent",
    own: { nameOf: async () => undefined, open: async () => undefined },
    rules: noRules,
    github: null,
    slots: openSlotsPerOwner(2),
  });
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/shop.git`;
  const stop = new AbortController();
  const ask = async (teamId: number) => readAdvertisement(await sources.open(teamId, url), 60_000, stop.signal);
  const asked = [1, 1, 1, 1].map((teamId) => ask(teamId).catch((error: Error) => error.message));
  await expect.poll(() => connections.length).toBe(2);
  const another = ask(2).catch((error: Error) => error.message);
  await expect.poll(() => connections.length).toBe(3);
  stop.abort(new Error("stopped"));
  expect(await Promise.all([...asked, another])).toEqual(Array.from({ length: 5 }, () => "stopped"));
  expect(connections).toHaveLength(3);
  silent.close();
});
