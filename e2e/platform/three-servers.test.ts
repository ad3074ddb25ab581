// Three servers with separate data directories, one PostgreSQL and one object store. One of them is killed, paused or cut off
// from the database in the middle of a run: another one finishes it, once, with the files of the agent.
import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually, openRelay, type Relay, type Reply, replyWith } from "@agentcli/testkit";
import {
  openClient,
  openForFile,
  openPlatformForFile,
  type PlatformClient,
  type PlatformServer,
  type RunIds,
  type StreamFrame,
} from "@agentcli/testkit/platform";
import { expect, test } from "vitest";
import { readWithReconnects } from "./stream-reader.ts";

const steps = 4;
const names = ["first", "second", "third"] as const;

/** Each step adds a line to a file that is committed, and to an artifact. The one named by STOP_AT then goes on until its server is lost. */
function script(): Reply[] {
  const step = (number: number): Reply => ({
    calls: [
      {
        name: "exec_command",
        arguments: {
          cmd: `echo step ${number} >> steps.txt; echo step ${number} >> ../.artifacts/log.txt; [ "$STOP_AT" != ${number} ] || sleep 120; cat steps.txt`,
          yield_time_ms: 30_000,
        },
        callId: `call_step_${number}`,
      },
    ],
  });
  const after = (text: string, reply: Reply): Reply => ({ ...reply, when: { bodyIncludes: text } });
  const more: Reply = { calls: [{ name: "exec_command", arguments: { cmd: "cat steps.txt" }, callId: "call_look" }] };
  const later = Array.from({ length: steps - 1 }, (_, index) =>
    after(`"call_step_${steps - 1 - index}"`, step(steps - index)),
  );
  const done = after(`"call_step_${steps}"`, replyWith("All done.", { deltas: 5, deltaDelayMs: 10 }));
  return [after('"call_look"', replyWith("Looked.")), after("look again", more), done, ...later, step(1)];
}

const platform = openPlatformForFile({
  replies: { replies: script(), repeat: "always" },
  env: { PLATFORM_LEASE_SECONDS: "5" },
});

interface Node {
  name: string;
  server: PlatformServer;
  /** Between the server and the database. */
  relay: Relay;
  client: PlatformClient;
  id: string;
}

interface Cluster {
  nodes: Node[];
  env(name: string): Record<string, string>;
  key: string;
  repository: string;
}

const cluster = openForFile(
  async (): Promise<Cluster> => {
    const harness = platform();
    const root = mkdtempSync(join(harness.directory, "cluster-"));
    const common = { PLATFORM_KEK_FILE: join(root, "kek"), PLATFORM_OBJECT_STORE_DIRECTORY: join(root, "objects") };
    const env = (name: string) => ({ ...common, PLATFORM_DATA: join(root, name) });
    const run = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await harness.run(args, env("first"));
      if (code !== 0) throw new Error(stderr);
      return stdout.trim();
    };
    const key = await run("keys", "create", "--name", "test");
    const nodes: Node[] = [];
    for (const name of names) nodes.push(await startNode(name, { env, key, relay: await relayToDatabase() }));
    const source = mkdtempSync(join(root, "shop-"));
    writeFileSync(join(source, "README.md"), "# Shop\n");
    const repository = await run("repos", "create", "shop", "--from", source);
    return { nodes, env, key, repository };
  },
  ({ nodes }) => {
    for (const { relay } of nodes) relay.close();
    return Promise.resolve();
  },
);

function relayToDatabase(): Promise<Relay> {
  const { hostname } = new URL(platform().database.url);
  return openRelay(join(decodeURIComponent(hostname), ".s.PGSQL.5432"));
}

async function startNode(name: string, { env, key, relay }: Pick<Cluster, "env" | "key"> & { relay: Relay }) {
  const { username, password, pathname } = new URL(platform().database.url);
  const url = `postgres://${username}:${password}@${new URL(relay.url).host}${pathname}`;
  const server = await platform().serve({ env: { ...env(name), DATABASE_URL: url } });
  const ready = server.log().find((line) => line.includes("server.ready")) ?? "";
  const id = /"?nodeId"?[=:]"?([0-9a-f-]{36})/.exec(ready)?.[1] ?? expect.fail(`no node id in ${ready}`);
  return { name, server, relay, client: openClient(server.url, key), id };
}

const git = promisify(execFile);

/** What the repository has on this branch, as this server serves it. */
async function show(node: Node, branch: string, file: string): Promise<string> {
  const url = new URL(cluster().repository);
  const address = node.server.url.replace("://", `://x:${cluster().key}@`) + url.pathname;
  const directory = mkdtempSync(join(platform().directory, "clone-"));
  await git("git", ["clone", "-q", "--branch", branch, address, directory]);
  return (await git("cat", [join(directory, file)])).stdout;
}

const ownerOf = async ({ runId }: RunIds): Promise<string | null> => {
  const query = "select lease_owner from runs where id = $1";
  return (await platform().database.query<{ lease_owner: string | null }>(query, [runId]))[0]?.lease_owner ?? null;
};

const storedFrames = ({ runId }: RunIds) =>
  platform().database.query<{ event_id: string; event: string }>(
    "select event_id, event from frames where run_id = $1 order by seq",
    [runId],
  );

const settledIn = (frames: StreamFrame[]) =>
  frames.filter(({ event, data }) => event === "tool_call" && data.status !== "running");

const stdoutOf = (frame: StreamFrame | undefined): string[] =>
  ((frame?.data.result as { success?: { stdout?: string } } | undefined)?.success?.stdout ?? "").trim().split("\n");

/** Returns the lines of the file; the one of a call whose outcome is unknown may be missing. */
async function expectExactlyOnce(ids: RunIds, frames: StreamFrame[]): Promise<string[]> {
  expect(frames.at(-1)?.event).toBe("done");
  expect(frames.map(({ id, event }) => [id, event])).toEqual(
    (await storedFrames(ids)).map(({ event_id, event }) => [event_id, event]),
  );
  const settled = settledIn(frames);
  expect(settled.map(({ data }) => data.callId)).toEqual([...new Set(settled.map(({ data }) => data.callId))]);
  expect(settled).toHaveLength(steps);
  const all = Array.from({ length: steps }, (_, index) => `step ${index + 1}`);
  const isUnknown = (index: number) => JSON.stringify(settled[index]).includes("outcome of this call is unknown");
  const known = all.filter((_, index) => !isUnknown(index));
  expect(known.length).toBeGreaterThanOrEqual(steps - 1);
  const lines = stdoutOf(settled.findLast((_, index) => !isUnknown(index)));
  expect(lines).toEqual(all.filter((line) => lines.includes(line)));
  expect(lines).toEqual(expect.arrayContaining(known));
  return lines;
}

type Failure = "killed" | "paused" | "partitioned";

const disturb: Record<Failure, (node: Node) => void> = {
  killed: ({ server }) => void server.child.kill("SIGKILL"),
  paused: ({ server }) => void server.child.kill("SIGSTOP"),
  partitioned: ({ relay }) => relay.cut(),
};

async function recover(node: Node, failure: Failure): Promise<void> {
  const { nodes, env, key } = cluster();
  if (failure === "paused") node.server.child.kill("SIGCONT");
  if (failure === "partitioned") node.relay.restore();
  if (failure === "killed") {
    await node.server.exited;
    nodes[nodes.indexOf(node)] = await startNode(node.name, { env, key, relay: node.relay });
  }
}

async function reach(ids: RunIds, settled: number): Promise<void> {
  const query = "select count(*)::int as count from frames where run_id = $1 and event = 'tool_call'";
  await eventually(async () => {
    const [row] = await platform().database.query<{ count: number }>(query, [ids.runId]);
    // Two frames for each call that has ended, and one for the call that runs.
    return (row?.count ?? 0) >= 2 * settled + 1;
  });
}

const failures: Failure[] = ["killed", "paused", "partitioned"];
const all = failures.flatMap((failure) => Array.from({ length: steps }, (_, settled) => ({ failure, settled })));
const cases = process.env.SWEEP === "full" ? all : all.filter((_, index) => index % 5 === 1);

test.each(cases)(
  "a server is $failure after $settled steps, and another one finishes",
  async ({ failure, settled }) => {
    const { nodes, repository } = cluster();
    const [any] = nodes;
    const ids = (await any?.client.create({
      prompt: { text: "do four things" },
      repos: [{ url: repository }],
      autoCreatePR: true,
      envVars: { STOP_AT: String(settled + 1) },
    })) as RunIds;
    await reach(ids, settled);
    const owner = await ownerOf(ids);
    const victim = nodes.find(({ id }) => id === owner) ?? expect.fail("no server drives the run");
    const others = nodes.filter((node) => node !== victim);
    const [witness, last] = others as [Node, Node];
    const reader = readWithReconnects(witness.client, ids);
    disturb[failure](victim);
    const frames = await reader;
    const run = await witness.client.read(ids);
    const log = others.flatMap(({ server }) => server.log().slice(-5)).join("\n");
    expect(run, log).toMatchObject({ status: "FINISHED", result: "All done." });
    const lines = await expectExactlyOnce(ids, frames);
    const branch = run.git?.branches?.[0]?.branch ?? expect.fail("no branch");
    for (const node of others) {
      expect((await show(node, branch, "steps.txt")).trim().split("\n")).toEqual(lines);
      expect((await artifactOf(node, ids)).trim().split("\n")).toEqual(lines);
    }
    await recover(victim, failure);
    const back = nodes.find(({ name }) => name === victim.name) ?? expect.fail("not restarted");
    // It takes part again, and has written nothing on.
    await eventually(async () => (await back.client.get("/v1/me").catch(() => null))?.status === 200);
    expect((await show(back, branch, "steps.txt")).trim().split("\n")).toEqual(lines);
    expect((await artifactOf(back, ids)).trim().split("\n")).toEqual(lines);
    const next = await last.client.followUp(ids.agentId, "look again");
    const looked = settledIn(await readWithReconnects(last.client, next));
    expect(stdoutOf(looked.at(-1))).toEqual(lines);
    expect((await storedFrames(ids)).length).toBe(frames.length);
  },
);

async function artifactOf({ client, server }: Node, { agentId }: RunIds): Promise<string> {
  const path = "artifacts/log.txt";
  const { url } = await client.getJson<{ url: string }>(`/v1/agents/${agentId}/artifacts/download?path=${path}`);
  return (await fetch(server.url + new URL(url).pathname)).text();
}
