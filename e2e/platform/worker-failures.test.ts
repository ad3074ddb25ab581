// What fails around a worker in the middle of a command: its server, itself, the network between them, clocks. The command
// runs once, its output is whole, and the stream of the run has no gap and no repeat.

import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type NetworkNamespaces, openNetworkNamespaces, openRelay, type Relay } from "@agentcli/testkit";
import {
  openClient,
  openForFile,
  openPlatformForFile,
  type PlatformClient,
  type PlatformServer,
  type RunIds,
  type StreamFrame,
  startTestWorker,
  type TestWorker,
} from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";
import { oneCommand } from "./one-command.ts";
import { outputIn, readWithReconnects } from "./stream-reader.ts";

/** Prints, waits until the test lets it go on, and prints again. */
const script = `
echo ran >> ran.txt
for i in $(seq 1 50); do echo line $i; done
while [ ! -e go ]; do sleep 0.05; done
for i in $(seq 51 100); do echo line $i; done
echo "times: $(wc -l < ran.txt)"
`;
const wholeOutput = `${Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`).join("")}times: 1\n`;

const platform = openPlatformForFile({
  replies: oneCommand,
  env: { PLATFORM_LEASE_SECONDS: "2" },
});

/** What tests share that need no server of their own: a start takes longer than most of them. */
const shared = openForFile(
  async () => {
    const harness = platform();
    const server = await harness.serve();
    const [user, account] = [await harness.key(), await harness.key("--service-account")];
    return { server, user, account, repository: await harness.repository("shop", { "test.sh": script }) };
  },
  ({ server }) => server.stop().then(() => {}),
);

const portOf = ({ url }: PlatformServer): number => Number(new URL(url).port);

interface Scenario {
  server: PlatformServer;
  /** Between the worker and its server. */
  relay: Relay;
  client: PlatformClient;
  ids: RunIds;
  worker: TestWorker;
  /** The process of the worker again, with the same data. */
  startAgain(env?: Record<string, string>): TestWorker;
  /** Lets the command go on to its end. */
  finishCommand(): void;
  /** Of the working directory on the worker. */
  read(name: string): string;
}

interface ScenarioOptions {
  /** Of a server of its own; absent: the shared one. */
  env?: Record<string, string>;
  workerEnv?: Record<string, string>;
  /** Of a pool; absent: a personal machine. */
  readyTimeoutSeconds?: number;
  /** The worker is in a network namespace of its own: called with what leads from there to its server. */
  onNetwork?(network: NetworkNamespaces): void;
}

/** A run on a worker whose command has printed its first half. */
async function runningCommand(options: ScenarioOptions = {}): Promise<Scenario> {
  const { env, workerEnv = {}, readyTimeoutSeconds } = options;
  const { directory: parent } = platform();
  const { user, account, repository: url } = shared();
  const server = env === undefined ? shared().server : await ownServer(env);
  const client = openClient(server.url, user);
  const name = `w${randomUUID()}`;
  const directory = mkdtempSync(join(parent, "worker-"));
  const { relay, reached } = await openNetwork(portOf(server), directory, options);
  const isPool = readyTimeoutSeconds !== undefined;
  const key = isPool ? account : user;
  if (isPool)
    await openClient(server.url, key).post("/v1/pools", {
      ...{ scope: "team", poolName: name, workerReadyTimeoutSeconds: readyTimeoutSeconds },
    });
  const args = ["--name", name, ...(isPool ? ["--pool", name] : [])];
  const start = (more = workerEnv) => startTestWorker({ ...reached, key, directory, args, env: more });
  const worker = start();
  await connected(worker, 1);
  const ids = await client.create("test it", { env: { type: isPool ? "pool" : "machine", name }, repos: [{ url }] });
  await printed(client, ids, "line 50\n");
  const files = join(worker.data, "agents", ids.agentId, "files/shop");
  return {
    ...{ server, relay, client, ids, worker, startAgain: start },
    finishCommand: () => writeFileSync(join(files, "go"), ""),
    read: (file) => readFileSync(join(files, file), "utf8"),
  };
}

/** `reached`: how the worker is started so that it reaches the server. */
async function openNetwork(port: number, directory: string, { onNetwork }: ScenarioOptions) {
  const socketPath = join(directory, "relay.sock");
  const relay = await (onNetwork === undefined ? openRelay(port) : openRelay(port, 0, socketPath));
  onTestFinished(relay.close);
  if (onNetwork === undefined) return { relay, reached: { url: relay.url } };
  const network = await openNetworkNamespaces(socketPath);
  onTestFinished(network.close);
  onNetwork(network);
  return { relay, reached: { url: network.url, prefix: network.prefix } };
}

async function ownServer(env: Record<string, string>): Promise<PlatformServer> {
  const server = await platform().serve({ env });
  onTestFinished(() => server.stop("SIGKILL").then(() => {}));
  return server;
}

/** So many times. */
const connected = (worker: TestWorker, times: number) =>
  expect
    .poll(() => worker.log().filter((line) => line.includes("Waiting for agents.")).length)
    .toBeGreaterThanOrEqual(times);

/** Settles when the stream of the run has shown this. */
async function printed(client: PlatformClient, ids: RunIds, text: string): Promise<void> {
  const frames: StreamFrame[] = [];
  const leave = new AbortController();
  await client.follow(
    ids,
    (frame) => {
      frames.push(frame);
      if (outputIn(frames).includes(text)) leave.abort();
    },
    leave.signal,
  );
}

/** The end of the command is on the disk of the worker. */
const endKept = ({ worker, ids }: Scenario) =>
  expect
    .poll(() => resultFiles(join(worker.data, "agents", ids.agentId, "results")).some((text) => /"ended"/.test(text)))
    .toBe(true);

const resultFiles = (directory: string): string[] =>
  existsSync(directory)
    ? readdirSync(directory, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".jsonl"))
        .map((name) => readFileSync(join(directory, name), "utf8"))
    : [];

const settledIn = (frames: StreamFrame[]) =>
  frames.filter(({ event, data }) => event === "tool_call" && data.status !== "running");

/** Each line once, one result with all of it, and the frames that are stored in their order. */
async function expectWhole(ids: RunIds, frames: StreamFrame[]): Promise<void> {
  expect(frames.find(({ event }) => event === "result")?.data).toMatchObject({ status: "FINISHED", text: "Done." });
  expect(outputIn(frames)).toBe(wholeOutput);
  expect(settledIn(frames).map(({ data }) => data)).toMatchObject([
    { status: "completed", result: { success: { exitCode: 0, stdout: wholeOutput } } },
  ]);
  const stored = await platform().database.query<{ event_id: string; event: string }>(
    "select event_id, event from frames where run_id = $1 order by seq",
    [ids.runId],
  );
  expect(frames.map(({ id, event }) => [id, event])).toEqual(stored.map(({ event_id, event }) => [event_id, event]));
}

test("the server that holds a worker is killed: another goes on with the command", async () => {
  const scenario = await runningCommand({ env: {} });
  const { server, relay, client, ids, worker } = scenario;
  const other = await ownServer({});
  // A reader behind an address that leads to the server that lives.
  const balancer = await openRelay(portOf(server));
  onTestFinished(balancer.close);
  const reading = readWithReconnects(openClient(balancer.url, client.key), ids);
  for (const way of [relay, balancer]) way.lead(portOf(other));
  await server.stop("SIGKILL");
  await connected(worker, 2);
  scenario.finishCommand();
  await expectWhole(ids, await reading);
  expect(worker.log().join("\n")).toContain("The connection was lost.");
});

test("a worker that is killed after its command has ended has the result when it is started again", async () => {
  const scenario = await runningCommand();
  const { relay, client, ids, worker, startAgain } = scenario;
  relay.drop();
  scenario.finishCommand();
  await endKept(scenario);
  await worker.stop("SIGKILL");
  relay.restore();
  await connected(startAgain(), 1);
  await expectWhole(ids, await readWithReconnects(client, ids));
});

test("a command that ran when its worker was killed is not run again, and its result says so to the model", async () => {
  const { client, ids, worker, startAgain, read } = await runningCommand();
  await worker.stop("SIGKILL");
  await connected(startAgain(), 1);
  const frames = await readWithReconnects(client, ids);
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED", result: "Done." });
  expect(settledIn(frames)).toHaveLength(1);
  expect(JSON.stringify(settledIn(frames))).toContain("restarted while this command ran");
  expect(read("ran.txt")).toBe("ran\n");
});

test("a worker that is killed and stays away fails its run once its time is over", async () => {
  const { client, ids, worker } = await runningCommand({ readyTimeoutSeconds: 1 });
  await worker.stop("SIGKILL");
  const run = await client.waitForRun(ids);
  expect(run).toMatchObject({ status: "ERROR", error: { code: "worker_lost" } });
  // Which of them is tested where the machine does not matter: in worker-loss.test.ts.
  expect(run.error?.message).toMatch(
    /is not connected: its (?:process has ended|machine was (?:almost out of|so busy))/,
  );
});

test("a network that is cut for less than the limit of silence loses nothing, nor does the connection end", async () => {
  const scenario = await runningCommand();
  const { relay, client, ids, worker } = scenario;
  const reading = readWithReconnects(client, ids);
  relay.cut();
  scenario.finishCommand();
  await endKept(scenario);
  relay.restore();
  await expectWhole(ids, await reading);
  expect(worker.log().join("\n")).not.toContain("The connection was lost.");
});

test("a network that is cut for longer than the limit of silence loses nothing: the worker connects again", async () => {
  const scenario = await runningCommand({ env: { PLATFORM_WORKERS_SILENCE_SECONDS: "5" } });
  const { relay, client, ids, worker, server } = scenario;
  const reading = readWithReconnects(client, ids);
  relay.cut();
  await expect.poll(() => worker.log().join("\n")).toContain("The connection was lost.");
  const end = () => server.log().find((line) => line.includes("worker.disconnected"));
  // Not "process". If the worker had reported that its machine is busy, that is the reason given.
  await expect.poll(end).toMatch(/"(?:network|starved|memory)"/);
  scenario.finishCommand();
  await endKept(scenario);
  relay.restore();
  await expectWhole(ids, await reading);
});

const cutMs = 30_000;

/** Shorter and longer than the cut: the connection survives it, or a new one takes its place. */
test.each(process.env.SWEEP === "full" ? [10, 60] : [])(
  "a cable that is cut for 30 seconds loses nothing, with a limit of silence of %i seconds",
  { timeout: 300_000 },
  async (silenceSeconds) => {
    let network: NetworkNamespaces | undefined;
    const scenario = await runningCommand({
      env: { PLATFORM_WORKERS_SILENCE_SECONDS: String(silenceSeconds) },
      onNetwork(opened) {
        network = opened;
      },
    });
    const { client, ids, worker } = scenario;
    const reading = readWithReconnects(client, ids);
    await network?.cut();
    scenario.finishCommand();
    await endKept(scenario);
    await pause(cutMs);
    await network?.restore();
    await expectWhole(ids, await reading);
    expect(worker.log().includes("The connection was lost.")).toBe(silenceSeconds * 1_000 < cutMs);
  },
);

/** Shifts the time of day of a process by an hour. */
const clockAhead = (directory: string, hours: number): Record<string, string> => {
  const file = join(directory, `clock${hours}.cjs`);
  const shift = hours * 3_600_000;
  writeFileSync(
    file,
    `const RealDate = Date;
    globalThis.Date = class extends RealDate {
      constructor(...given) { given.length === 0 ? super(RealDate.now() + ${shift}) : super(...given); }
      static now() { return RealDate.now() + ${shift}; }
    };\n`,
  );
  return { NODE_OPTIONS: `--require ${file}` };
};

test.each(process.env.SWEEP === "full" ? [-1, 1] : [1])(
  "clocks of server and worker that are %i hours off expire nothing",
  async (hours) => {
    const { directory } = platform();
    const scenario = await runningCommand({
      env: clockAhead(directory, hours),
      workerEnv: clockAhead(directory, -hours),
      readyTimeoutSeconds: 600,
    });
    const { relay, client, ids, worker, server } = scenario;
    const reading = readWithReconnects(client, ids);
    // Of an hour: neither over at once, nor valid for longer.
    const account = openClient(server.url, shared().account);
    const minted = await account.post("/v1/sub-tokens", { forUserId: 1 });
    const { accessToken } = minted.body as { accessToken: string };
    expect((await openClient(server.url, accessToken).get("/v1/me")).status).toBe(200);
    const { streamCursor } = await account.getJson<{ streamCursor: string }>("/v1/workers/pending-requests");
    const watched = await account.send("HEAD", `/v1/workers/pending-requests/stream?cursor=${streamCursor}`);
    expect(watched.status).toBe(200);
    relay.drop();
    relay.restore();
    await connected(worker, 2);
    scenario.finishCommand();
    await expectWhole(ids, await reading);
  },
);
