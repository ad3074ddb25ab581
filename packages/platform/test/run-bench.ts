// A server with everything a run needs and a scripted model, reached over HTTP. What a test leaves is removed.
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type LoggedRequest, type Reply, type Script, startModelServer } from "@agentcli/testkit";
import { addAgentRoutes, addRunRoutes } from "../src/agents/index.ts";
import { addArtifactRoutes, openArtifacts } from "../src/artifacts/index.ts";
import type { Settings } from "../src/config/index.ts";
import type { Handoff } from "../src/handoff/index.ts";
import { createApi, listen } from "../src/http/index.ts";
import { openNetworkPolicy } from "../src/network/index.ts";
import type { Platform } from "../src/platform.ts";
import { openSandboxes, type RunHost, type Runner, startRunner } from "../src/runs/index.ts";
import { type OwnRepositories, openSourceHosts } from "../src/scm/index.ts";
import { addStreamRoute, openHub, readFrames } from "../src/streams/index.ts";
import { addUsageRoute } from "../src/usage/index.ts";
import { openLocks, openWorkspaces, usualLimits } from "../src/workspaces/index.ts";
import { type Client, openClient } from "./client.ts";
import { openSpine, type Spine } from "./spine.ts";

export interface RunBench {
  spine: Spine;
  host: RunHost;
  client: Client;
  runner: Runner;
  requests(): LoggedRequest[];
  close(): Promise<void>;
}

export interface RunBenchOptions {
  replies: Reply[] | Script;
  models?: Partial<Settings["models"]>;
  settings?: Partial<Settings>;
  handoff?: (platform: Platform) => Handoff;
}

const house = fileURLToPath(new URL("../../..", import.meta.url));

/** Not below /tmp: that is empty inside every sandbox, whatever else is hidden or not. */
export function dataDirectory(): string {
  const parent = join(house, "node_modules/.cache/platform-tests-data");
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, "data-"));
}

export const programDirectory = join(house, "packages/cli/dist");

export const scriptedModel = (url: string): Settings["models"] => ({
  model: "scripted",
  model_provider: "scripted",
  model_providers: { scripted: { base_url: url, wire_api: "responses", retry_base_ms: 1 } },
  prices: { scripted: { input: 1, output: 10 } },
});

export const usualSettings = {
  leaseMs: 10_000,
  concurrentRuns: 20,
  streamRetentionSeconds: 60,
  allowPrivate: ["127.0.0.0/8"],
  requestsPerMinute: 0,
  programDirectory,
  listen: { host: "127.0.0.1", port: 0 },
  tls: null,
  publicUrl: null,
};

export async function openRunBench(options: RunBenchOptions): Promise<RunBench> {
  const model = await startModelServer(options.replies);
  const { PATH } = process.env;
  const spine = await openSpine({
    ...usualSettings,
    dataDirectory: dataDirectory(),
    variables: { PATH },
    models: { ...scriptedModel(model.url), ...options.models },
    ...options.settings,
  });
  const host = await openHost(spine.platform, options.handoff);
  const served = await serve(host);
  const runner = await startRunner(host);
  return {
    spine,
    host,
    client: openClient(served.url, spine.key),
    runner,
    requests: model.requests,
    async close() {
      await runner.stop();
      host.hub.close();
      await served.stop();
      await model.close();
      await spine.close();
    },
  };
}

export async function openHost(
  platform: Platform,
  handoff: RunBenchOptions["handoff"] = () => nothingToHandOff,
): Promise<RunHost> {
  const { db, vault, notifications, settings } = platform;
  const policy = openNetworkPolicy({ allowPrivate: settings.allowPrivate });
  const sshDirectory = join(settings.dataDirectory, "ssh");
  return {
    platform,
    hub: await openHub(readFrames(db, vault), notifications),
    workspaces: openWorkspaces({
      dataDirectory: settings.dataDirectory,
      sources: openSourceHosts({ policy, sshDirectory, own: nothingOwn }),
      locks: openLocks(db),
      limits: usualLimits,
      identity: { name: "Platform Agent", email: "agent@platform.invalid" },
    }),
    handoff: handoff(platform),
    network: policy,
    sandboxes: openSandboxes(settings),
    artifacts: openArtifacts(platform),
  };
}

const nothingOwn: OwnRepositories = { nameOf: () => undefined, open: async () => undefined };
const nothingToHandOff: Handoff = { finish: async () => ({ branches: [], faults: [] }) };

export async function serve({ platform, hub, workspaces }: RunHost) {
  const { principals, log, metrics, settings } = platform;
  const api = createApi({ principals, requestsPerMinute: 0, log, metrics });
  let url = "";
  const publicUrl = () => url;
  addAgentRoutes(api, { platform, workspaces, checkRepositories: async () => {}, publicUrl });
  addRunRoutes(api, platform);
  addStreamRoute(api, platform, hub);
  addUsageRoute(api, platform);
  addArtifactRoutes(api, platform, publicUrl);
  const server = await listen(api, settings);
  url = server.url;
  return server;
}
