// A whole server with a scripted model, reached over HTTP. Everything a test creates is removed.

import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ThreadRecord } from "@agentcli/protocol";
import { type LoggedRequest, startModelServer, temporaryRepository } from "@agentcli/testkit";
import { openClient, type PlatformClient } from "@agentcli/testkit/platform";
import { onTestFinished } from "vitest";
import type { Settings } from "../../src/foundation/config/index.ts";
import type { Log } from "../../src/foundation/telemetry/index.ts";
import { openGitHost } from "../../src/repositories/githost/index.ts";
import { serve } from "../../src/serve.ts";
import { type Attachments, openSubjects } from "../../src/subjects.ts";
import { type AgentFixture, openFixture } from "../harness/fixture.ts";
import { noRateLimits } from "../harness/settings.ts";
import { testSigner } from "../harness/signer.ts";

export interface RunHarness {
  fixture: AgentFixture;
  client: PlatformClient;
  dataDirectory: string;
  requests(): LoggedRequest[];
  /** Stops only the server. */
  stop(): Promise<void>;
  /** The decrypted log of an agent's conversation. */
  records(agentId: string): Promise<ThreadRecord[]>;
  /** Creates a repository on the embedded git host with these files on `main`; returns its URL. */
  repository(name: string, files: Record<string, string>): Promise<string>;
}

export interface RunHarnessOptions {
  replies: Parameters<typeof startModelServer>[0];
  /** Wire API of the model; Responses by default. */
  wireApi?: "responses" | "chat";
  models?: Partial<Settings["models"]>;
  /** Beside the scripted model. */
  providers?: Settings["models"]["model_providers"];
  settings?: Partial<Settings>;
  attachments?: Attachments;
}

const repositoryRoot = fileURLToPath(new URL("../../../..", import.meta.url));

/** Not below /tmp: that is empty inside every sandbox. */
export function newDataDirectory(): string {
  const parent = join(repositoryRoot, "node_modules/.cache/platform-tests-data");
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, "data-"));
}

export const scriptedModel = (url: string, wire_api: "responses" | "chat" = "responses"): Settings["models"] => ({
  model: "scripted",
  model_provider: "scripted",
  model_providers: { scripted: { base_url: url, wire_api, retry_base_ms: 1 } },
  prices: { scripted: { input: 1, output: 10 } },
});

const withProviders = (
  models: Settings["models"],
  more: Settings["models"]["model_providers"],
): Settings["models"] => ({
  ...models,
  model_providers: { ...models.model_providers, ...more },
});

export const usualSettings = {
  roles: ["api" as const, "runner" as const],
  leaseMs: 10_000,
  concurrentRuns: 20,
  streamRetentionSeconds: 60,
  allowPrivate: ["127.0.0.0/8"],
  rateLimits: noRateLimits,
  programDirectory: join(repositoryRoot, "packages/cli/dist"),
  listen: { host: "127.0.0.1", port: 0 },
  tls: null,
  publicUrl: null,
};

/** Closed at the end of the test. */
export async function openRunHarness(
  { replies, wireApi, models, providers, settings, attachments }: RunHarnessOptions,
  log?: Log,
): Promise<RunHarness> {
  const model = await startModelServer(replies);
  const dataDirectory = newDataDirectory();
  const fixture = await openFixture({
    ...usualSettings,
    dataDirectory,
    variables: { PATH: process.env.PATH },
    models: withProviders({ ...scriptedModel(model.url, wireApi), ...models }, providers),
    ...settings,
  });
  const platform = { ...fixture.platform, ...(log && { log }) };
  const server = await serve(platform, (context) => openSubjects(context, attachments));
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= server.stop();
    return stopping;
  };
  onTestFinished(async () => {
    await stop();
    await model.close();
    await fixture.close();
  });
  return {
    fixture,
    dataDirectory,
    client: openClient(server.url, fixture.key),
    requests: model.requests,
    stop,
    records: (agentId) => readRecords(fixture.platform, agentId),
    repository: (name, files) => makeRepository(fixture, server.url, { name, files }),
  };
}

async function readRecords({ db, vault }: AgentFixture["platform"], agentId: string): Promise<ThreadRecord[]> {
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
  { platform, principal }: AgentFixture,
  url: string,
  { name, files }: { name: string; files: Record<string, string> },
): Promise<string> {
  const { db, vault, settings } = platform;
  const origin = await temporaryRepository(files);
  const host = openGitHost({
    db,
    vault,
    dataDirectory: settings.dataDirectory,
    signer: testSigner(settings.dataDirectory),
    serverUrls: () => [url],
  });
  const request = { teamId: principal.teamId, name, from: origin.path };
  await host.repositories.create(request, new AbortController().signal);
  await origin.remove();
  return host.cloneUrl(name);
}
