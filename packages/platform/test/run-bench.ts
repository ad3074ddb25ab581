// A whole server with a scripted model, reached over HTTP. What a test leaves is removed.
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ThreadRecord } from "@agentcli/protocol";
import { type LoggedRequest, type Reply, type Script, startModelServer, temporaryRepository } from "@agentcli/testkit";
import { onTestFinished } from "vitest";
import type { Settings } from "../src/config/index.ts";
import { openGitHost } from "../src/githost/index.ts";
import { serve } from "../src/serve.ts";
import { type Client, openClient } from "./client.ts";
import { openSpine, type Spine } from "./spine.ts";

export interface RunBench {
  spine: Spine;
  client: Client;
  dataDirectory: string;
  requests(): LoggedRequest[];
  /** Of the server alone. */
  stop(): Promise<void>;
  /** The log of an agent's conversation, opened. */
  records(agentId: string): Promise<ThreadRecord[]>;
  /** A repository of the embedded host with these files on `main`; answers with its address. */
  repository(name: string, files: Record<string, string>): Promise<string>;
}

export interface RunBenchOptions {
  replies: Reply[] | Script;
  /** What the model speaks; Responses where nothing is said. */
  wireApi?: "responses" | "chat";
  models?: Partial<Settings["models"]>;
  settings?: Partial<Settings>;
}

const house = fileURLToPath(new URL("../../..", import.meta.url));

/** Not below /tmp: that is empty inside every sandbox, whatever else is hidden or not. */
export function newDataDirectory(): string {
  const parent = join(house, "node_modules/.cache/platform-tests-data");
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, "data-"));
}

export const scriptedModel = (url: string, wire_api: "responses" | "chat" = "responses"): Settings["models"] => ({
  model: "scripted",
  model_provider: "scripted",
  model_providers: { scripted: { base_url: url, wire_api, retry_base_ms: 1 } },
  prices: { scripted: { input: 1, output: 10 } },
});

export const usualSettings = {
  roles: ["api" as const, "runner" as const],
  leaseMs: 10_000,
  concurrentRuns: 20,
  streamRetentionSeconds: 60,
  allowPrivate: ["127.0.0.0/8"],
  requestsPerMinute: 0,
  programDirectory: join(house, "packages/cli/dist"),
  listen: { host: "127.0.0.1", port: 0 },
  tls: null,
  publicUrl: null,
};

/** For the test that asks; gone when it is over. */
export async function openRunBench({ replies, wireApi, models, settings }: RunBenchOptions): Promise<RunBench> {
  const model = await startModelServer(replies);
  const dataDirectory = newDataDirectory();
  const spine = await openSpine({
    ...usualSettings,
    dataDirectory,
    variables: { PATH: process.env.PATH },
    models: { ...scriptedModel(model.url, wireApi), ...models },
    ...settings,
  });
  const server = await serve(spine.platform);
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= server.stop();
    return stopping;
  };
  onTestFinished(async () => {
    await stop();
    await model.close();
    await spine.close();
  });
  return {
    spine,
    dataDirectory,
    client: openClient(server.url, spine.key),
    requests: model.requests,
    stop,
    records: (agentId) => readRecords(spine.platform, agentId),
    repository: (name, files) => makeRepository(spine, server.url, { name, files }),
  };
}

async function readRecords({ db, vault }: Spine["platform"], agentId: string): Promise<ThreadRecord[]> {
  const { data_key } = await db
    .selectFrom("agents")
    .select("data_key")
    .where("id", "=", agentId)
    .executeTakeFirstOrThrow();
  const key = await vault.unwrap(data_key);
  const rows = await db
    .selectFrom("thread_records")
    .selectAll()
    .where("thread_id", "=", agentId)
    .orderBy("seq")
    .execute();
  return rows.map(({ seq, record }) => JSON.parse(key.openText(record, `record:${agentId}:${seq}`)));
}

async function makeRepository(
  { platform, principal }: Spine,
  url: string,
  { name, files }: { name: string; files: Record<string, string> },
): Promise<string> {
  const { db, vault, settings } = platform;
  const origin = await temporaryRepository(files);
  const host = openGitHost({ db, vault, dataDirectory: settings.dataDirectory, serverUrls: () => [url] });
  const wish = { teamId: principal.teamId, name, from: origin.path };
  await host.repositories.create(wish, new AbortController().signal);
  await origin.remove();
  return host.cloneUrl(name);
}
