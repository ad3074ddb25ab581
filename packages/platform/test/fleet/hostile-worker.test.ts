// A worker that is not trusted: whatever it sends, its run ends or can be cancelled, the server goes on, and no file is
// written but the agent's own.
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openClient } from "@agentcli/testkit/platform";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openWorkers } from "../../src/fleet/use.ts";
import { openFleetForFile } from "../harness/fleet.ts";
import { type Behaviour, exited, honest, noChanges, reply, report, serving } from "./played-worker.ts";
import { connect, openRawWorker, registration } from "./raw-worker.ts";

const fleet = openFleetForFile();

interface Played {
  run: { id: string; status: string; error?: { code?: string; message: string } };
  agentId: string;
  requests: string[];
}

/** One agent on one such worker; a run that does not end by itself is cancelled. */
async function play(behaviour: Behaviour, settle: "ends" | "is cancelled"): Promise<Played> {
  const pool = `pool-${randomUUID()}`;
  const requests: string[] = [];
  const all: Behaviour = { ...honest, ...behaviour };
  const worker = await openRawWorker(fleet().server.url, fleet().account, async (request, answer) => {
    requests.push(request.name);
    request.stream.on("error", () => {});
    await all[request.name]?.(request, answer);
  });
  await worker.link.request("register", registration({ workerId: pool, name: pool, pool }));
  const client = openClient(fleet().server.url, fleet().user);
  const ids = await client.create("run cat notes.txt", { env: { type: "pool", name: pool } });
  if (settle === "is cancelled") {
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    await expect.poll(async () => (await client.read(ids)).status).toBe("RUNNING");
    await client.post(`/v1/agents/${ids.agentId}/runs/${ids.runId}/cancel`);
  }
  const run = await client.waitForRun(ids);
  worker.socket.terminate();
  return { run, agentId: ids.agentId, requests };
}

const isServing = async (): Promise<void> => {
  expect((await fleet().server.call(fleet().user, "GET", "/v1/me")).status).toBe(200);
  const { run } = await play({}, "ends");
  expect(run).toMatchObject({ status: "FINISHED" });
};

const changes = (...headers: object[]): Buffer => {
  const parts = headers.map((header) => {
    const text = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    return Buffer.concat([length, text]);
  });
  return Buffer.concat([...parts, noChanges]);
};
const collects = (sent: Buffer): Behaviour => ({ "sync.collect": reply({}, (stream) => void stream.end(sent)) });

/** Says that it has the files of this run already: the platform then asks for all of them. */
function claimsToHaveTheRun(sent: Buffer): Behaviour {
  let id = "";
  return {
    async "agent.claim"(request, answer) {
      id = `${(request.body as { runId: string }).runId} x`;
      await reply({})(request, answer);
    },
    "sync.state": (request, answer) => reply({ id, keepsChanges: true })(request, answer),
    "sync.collectAll": reply({}, (stream) => void stream.end(sent)),
  };
}

/** What the worker does, and how its run ends. */
const lies: Record<string, { behaviour: Behaviour; error: RegExp }> = {
  "refuses its agent": {
    behaviour: { "agent.claim": async () => Promise.reject(new Error("not today\u001b[2J")) },
    error: /The worker refused: not today/,
  },
  "has a state that is not one": {
    behaviour: { "sync.state": reply({ id: { $ne: 1 } }) },
    error: /answered sync.state with something else/,
  },
  "describes a sandbox that is not one": {
    behaviour: { "sandbox.describe": reply({ report: [], incarnation: 7 }) },
    error: /answered sandbox.describe with something else/,
  },
  "names an incarnation of a megabyte": {
    behaviour: { "sandbox.describe": reply({ report, incarnation: "x".repeat(1_000_000) }) },
    error: /answered sandbox.describe with something else/,
  },
  "sends a path out of the directory": {
    behaviour: collects(changes({ kind: "directory", path: "../out" })),
    error: /leads out/,
  },
  "sends an absolute path": { behaviour: collects(changes({ kind: "directory", path: "/out" })), error: /leads out/ },
  "sends a path of 5,000 characters": {
    behaviour: collects(changes({ kind: "directory", path: "a/".repeat(2_500) })),
    error: /leads out/,
  },
  "sends a header of a gigabyte": { behaviour: collects(Buffer.from([0x40, 0, 0, 0, 1])), error: /header has/ },
  "sends a file larger than the disk limit": {
    behaviour: collects(changes({ kind: "file", path: "big", size: 2 ** 50, mode: 0o644 })),
    error: /more than \d+ bytes/,
  },
  "says that it has the files of the run, and sends a path out of the directory": {
    behaviour: claimsToHaveTheRun(changes({ kind: "directory", path: "../out" })),
    error: /leads out/,
  },
  "says that it has the files of the run, and sends a link where a directory of the platform is": {
    behaviour: claimsToHaveTheRun(changes({ kind: "link", path: ".artifacts", target: "/" })),
    error: /must stay a directory/,
  },
  "writes into the home that is not exchanged": {
    behaviour: collects(changes({ kind: "link", path: ".home", target: "/" })),
    error: /not exchanged/,
  },
};

test.each(Object.entries(lies))(
  "a worker that %s fails its own run, and nothing else",
  async (_, { behaviour, error }) => {
    const { run, agentId } = await play(behaviour, "ends");
    expect(run).toMatchObject({ status: "ERROR", error: { message: expect.stringMatching(error) } });
    expect(run.error?.message).not.toMatch(/\u001b/);
    const { dataDirectory } = fleet().server.platform.settings;
    expect(existsSync(join(dataDirectory, "out"))).toBe(false);
    expect(readdirSync(dataDirectory, { recursive: true }).filter((name) => String(name).endsWith("/out"))).toEqual([]);
    expect(agentId).toMatch(/^bc-/);
    await isServing();
  },
);

test.each([["one"], [1.5], [null], [Number.MAX_SAFE_INTEGER + 2], [-1e308]])(
  "an exit code of %j does not count as a result: the command is lost",
  async (exitCode) => {
    const { run } = await play(
      { "sandbox.open": serving(({ operation }) => (operation === "exec" ? exited(exitCode) : {})) },
      "ends",
    );
    expect(JSON.stringify(run)).toMatch(/invalid result|lost/);
    await isServing();
  },
);

test("endless output does not fill the memory of the server, and its run can be cancelled", async () => {
  const text = "x".repeat(60_000);
  let sent = 0;
  const flood = serving(({ operation, call }, write) => {
    if (operation !== "exec") return {};
    const more = (): void => {
      for (let count = 0; count < 20; count += 1) {
        sent += text.length;
        write({ frame: "chunk", call, chunk: { seq: sent, stream: "stdout", text } });
      }
      if (sent < 200_000_000) setImmediate(more);
    };
    more();
    return undefined;
  });
  const before = process.memoryUsage().rss;
  const { run } = await play({ "sandbox.open": flood }, "is cancelled");
  expect(run.status).toBe("CANCELLED");
  expect(process.memoryUsage().rss - before).toBeLessThan(700_000_000);
  await isServing();
});

test("frames that are not those of the connection end it, and the server goes on", async () => {
  const bad = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom(
      Buffer.from([9, 0, 0, 0, 1, 0, 0]),
      Buffer.from([0, 128, 0, 0, 1, 0, 0]),
      Buffer.from([1, 0, 0, 0, 1, 0xff, 0xff]),
      Buffer.from([4, 128, 0, 0, 1, 0, 4, 0xff, 0xff, 0xff, 0xff]),
      Buffer.concat([
        Buffer.from([0, 128, 0, 0, 9, 0, 1, 1]),
        Buffer.from([1, 128, 0, 0, 9, 0, 4]),
        Buffer.from("{{{\n"),
      ]),
      Buffer.concat([
        Buffer.from([0, 128, 0, 0, 9, 0, 1, 1]),
        Buffer.from([1, 128, 0, 0, 9, 0, 5]),
        Buffer.from("null\n"),
      ]),
      randomBytes(64 * 1024),
    ),
  );
  await fc.assert(
    fc.asyncProperty(bad, async (bytes) => {
      const connected = await connect(fleet().server.url, fleet().account);
      if (connected.kind === "refused") throw new Error(connected.message);
      connected.socket.send(bytes);
      connected.socket.send(randomBytes(1_000));
      await pause(1);
      connected.socket.terminate();
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 40) },
  );
  const large = await connect(fleet().server.url, fleet().account);
  if (large.kind === "refused") throw new Error(large.message);
  const closed = once(large.socket, "close");
  large.socket.send(Buffer.alloc(5 * 1024 * 1024));
  await closed;
  await isServing();
});

test("registrations that are not valid are refused by name, and a connection registers once", async () => {
  const wrong: [object, RegExp][] = [
    [{ workerId: "../../etc" }, /workerId/],
    [{ workerId: "x".repeat(10_000) }, /workerId/],
    [{ name: "a\u001b[2J" }, /name/],
    [{ labels: { a: { b: "c" } } }, /labels/],
    [{ workspaceRootPath: "/".repeat(100_000) }, /workspaceRootPath/],
    [{ linkVersion: 99 }, /Upgrade the platform/],
    [{ linkVersion: -1 }, /Upgrade the worker/],
    [{ session: "" }, /session/],
  ];
  for (const [change, problem] of wrong) {
    const { link, socket } = await openRawWorker(fleet().server.url, fleet().account);
    await expect(link.request("register", registration({ pool: "p", ...change }))).rejects.toThrow(problem);
    socket.terminate();
  }
  const { link } = await openRawWorker(fleet().server.url, fleet().account);
  await link.request("register", registration({ workerId: "once", pool: "p", unknown: { member: true } }));
  await expect(link.request("register", registration({ workerId: "twice", pool: "p" }))).rejects.toThrow(
    "registers once",
  );
  await expect(link.request("agent.claim", {})).rejects.toThrow("registers once");
});

test("a worker that opens thousands of channels keeps its own connection busy, and no other", async () => {
  const { link } = await openRawWorker(fleet().server.url, fleet().account);
  const all = await Promise.allSettled(Array.from({ length: 3_000 }, () => link.request("nothing", {})));
  expect(all.every(({ status }) => status === "rejected")).toBe(true);
  await isServing();
});

test("a worker that never answers fails its run after a limit", async () => {
  const pool = `pool-${randomUUID()}`;
  await fleet().server.call(fleet().account, "POST", "/v1/pools", { scope: "team", poolName: pool });
  const { agentId, runId } = await openClient(fleet().server.url, fleet().user).create("work", {
    env: { type: "pool", name: pool },
  });
  await fleet().server.call(fleet().account, "POST", "/v1/workers/claim", { id: agentId, workerId: pool });
  const never = new Promise<never>(() => {});
  const silent = {
    workerId: pool,
    teamId: 1,
    connectedAt: "",
    isAllowed: async () => true,
    receives: {},
    served: new Map(),
  };
  const link = { request: () => never, closed: never, close() {} };
  const gateway = { find: () => ({ ...silent, link }), list: () => [], accept: () => never, close() {} };
  const directory = fleet().server.platform.settings.dataDirectory;
  const workers = openWorkers({
    ...{ db: fleet().server.platform.db, gateway, syncDirectory: directory },
    store: fleet().server.platform.objects.store,
    ...{ waitSeconds: 86_400, answerTimeoutMs: 50 },
  });
  const limits = { memoryBytes: null, processes: null, fileBytes: null, temporaryBytes: null, diskBytes: null };
  const request = { agentId, runId, name: agentId, directory, root: "", writable: [], variables: {}, limits };
  const actions = {
    isResumed: false,
    findClonable: async () => [],
    newId: randomUUID,
    openFailure: () => "",
    onOpened() {},
    yieldRun: async () => {},
  };
  await expect(workers.use({ ...request, ...actions })).rejects.toThrow("did not answer agent.claim");
});

test("a worker that refuses the sessionEnd hooks of a project costs the run nothing but a warning", async () => {
  const refuses = { "session.hooks": async () => Promise.reject(new Error("Invalid request")) };
  const { run, agentId } = await play({ "agent.claim": reply({ keepsHooks: true }), ...refuses }, "ends");
  expect(run).toMatchObject({ status: "FINISHED" });
  const shown = await openClient(fleet().server.url, fleet().user).streamText({ agentId, runId: run.id });
  expect(shown).toContain("The sessionEnd hooks of the project do not run. The worker refused: Invalid request");
});
