// Several servers on one database that may fail one by one: each has its own address, and its own connections to the
// database, to the object store and from the other servers, which can be cut.
import { join } from "node:path";
import { unusedPort } from "../ports.ts";
import { openRelay, type Relay } from "../relay.ts";
import { type FakeS3, startFakeS3 } from "../s3/index.ts";
import { openClient, type PlatformClient } from "./client.ts";
import type { PlatformHarness } from "./harness.ts";
import type { PlatformServer } from "./server.ts";

export interface Cluster {
  nodes: ClusterNode[];
  /** Output of a command with the settings of the first server; rejects where it fails. */
  output(...args: string[]): Promise<string>;
  /** The node whose server has this id. Throws if there is none. */
  nodeOf(id: string | null): ClusterNode;
  close(): Promise<void>;
}

export type NodeFailure = "killed" | "paused" | "partitioned";

export interface ClusterNode {
  name: string;
  data: string;
  /** The same after each start. */
  client: PlatformClient;
  /** Of the last start. Throws before the first one. */
  server(): PlatformServer;
  /** Of the last start, as the database has it. */
  id(): string;
  /** Resolves when it listens. */
  start(): Promise<void>;
  fail(failure: NodeFailure): void;
  /** Takes part again: what was killed is started, what was paused or cut off goes on. */
  recover(failure: NodeFailure): Promise<void>;
}

export interface ClusterOptions {
  names: readonly string[];
  /** One data directory for all of them, or one each and a bucket that they share. */
  data: "shared" | "separate";
  /** Allows `killAt`. */
  killable?: boolean;
}

/** None of its servers is started yet. Closed before the harness. */
export async function openCluster(harness: PlatformHarness, options: ClusterOptions): Promise<Cluster> {
  const { names, data, killable = false } = options;
  const bucket = data === "separate" ? await startFakeS3() : null;
  const store = (endpoint: string): Record<string, string> => (bucket ? storeEnv(bucket, endpoint) : {});
  const dataOf = (name: string): string => (bucket ? join(harness.directory, name) : harness.data);
  const common: Record<string, string> = bucket ? { PLATFORM_KEK_FILE: join(harness.directory, "kek") } : {};
  const output: Cluster["output"] = async (...args) => {
    const env = { ...common, ...store(bucket?.endpoint ?? ""), PLATFORM_DATA: dataOf(names[0] ?? "") };
    const { code, stdout, stderr } = await harness.run(args, env);
    if (code !== 0) throw new Error(`platform ${args.join(" ")} exited with ${code}: ${stderr}`);
    return stdout.trim();
  };
  const key = await output("keys", "create", "--name", "cluster");
  const relays: Relay[] = [];
  const nodes: ClusterNode[] = [];
  for (const name of names) {
    const links = await openLinks(harness, bucket);
    relays.push(...links.relays);
    const env = { ...common, ...store(links.storeUrl), ...links.env, PLATFORM_DATA: dataOf(name) };
    nodes.push(openNode({ harness, name, key, links, killable, env }));
  }
  return {
    nodes,
    output,
    nodeOf(id) {
      const found = nodes.find((node) => node.id() === id);
      if (!found) throw new Error(`no server of the cluster has the id ${id}`);
      return found;
    },
    async close() {
      await harness.stopServers();
      for (const relay of relays) relay.close();
      await bucket?.close();
    },
  };
}

interface Links {
  relays: Relay[];
  listen: string;
  storeUrl: string;
  env: Record<string, string>;
}

async function openLinks({ database }: PlatformHarness, bucket: FakeS3 | null): Promise<Links> {
  const { username, password, hostname, pathname } = new URL(database.url);
  const port = await unusedPort();
  const toDatabase = await openRelay(join(decodeURIComponent(hostname), ".s.PGSQL.5432"));
  const fromOthers = await openRelay(port);
  const toStore = bucket && (await openRelay(Number(new URL(bucket.endpoint).port)));
  return {
    relays: [toDatabase, fromOthers, ...(toStore ? [toStore] : [])],
    listen: `127.0.0.1:${port}`,
    storeUrl: toStore?.url ?? "",
    env: {
      DATABASE_URL: `postgres://${username}:${password}@${new URL(toDatabase.url).host}${pathname}`,
      PLATFORM_INTERNAL_URL: fromOthers.url,
    },
  };
}

const storeEnv = (bucket: FakeS3, endpoint: string): Record<string, string> => ({
  PLATFORM_OBJECT_STORE_BUCKET: bucket.bucket,
  PLATFORM_OBJECT_STORE_ENDPOINT: endpoint,
  PLATFORM_OBJECT_STORE_REGION: bucket.region,
  AWS_ACCESS_KEY_ID: bucket.accessKeyId,
  AWS_SECRET_ACCESS_KEY: bucket.secretAccessKey,
});

interface NodeOptions {
  harness: PlatformHarness;
  name: string;
  key: string;
  links: Links;
  killable: boolean;
  env: Record<string, string>;
}

function openNode({ harness, name, key, links, killable, env }: NodeOptions): ClusterNode {
  const { relays, listen } = links;
  let started: PlatformServer | null = null;
  const server = (): PlatformServer => {
    if (!started) throw new Error(`the server ${name} was not started`);
    return started;
  };
  const start = async (): Promise<void> => {
    started = await harness.serve({ listen, killable, env });
  };
  return {
    name,
    data: env.PLATFORM_DATA ?? "",
    client: openClient(`http://${listen}`, key),
    server,
    id: () => idIn(server().log()),
    start,
    fail(failure) {
      if (failure === "partitioned") for (const relay of relays) relay.cut();
      else server().child.kill(failure === "killed" ? "SIGKILL" : "SIGSTOP");
    },
    async recover(failure) {
      if (failure === "partitioned") for (const relay of relays) relay.restore();
      if (failure === "paused") server().child.kill("SIGCONT");
      if (failure !== "killed") return;
      await server().exited;
      await start();
    },
  };
}

function idIn(log: string[]): string {
  const ready = log.find((line) => line.includes("server.ready")) ?? "";
  const id = /"?nodeId"?[=:]"?([0-9a-f-]{36})/.exec(ready)?.[1];
  if (id === undefined) throw new Error(`no id of the server in: ${ready}`);
  return id;
}
