// Runs: their execution, their streams, artifacts and usage.
import { hostname } from "node:os";
import type { CloudRoles } from "../cloud-roles/index.ts";
import { addEgressRoute } from "../egress/index.ts";
import type { RunEnvironments } from "../environments/index.ts";
import type { Workers } from "../fleet/index.ts";
import { type Authenticate, readDataId, type ServerContext, type Subject } from "../foundation/index.ts";
import type { ServeIdentity } from "../identity-tokens/index.ts";
import { type Machines, openAgentMachines } from "../machines/index.ts";
import type { Repositories } from "../repositories/index.ts";
import type { Secrets } from "../secrets/index.ts";
import type { FindReadableAgent } from "./agent-reader.ts";
import { addArtifactRoutes, artifactRetention, openArtifacts, startArtifactRetries } from "./artifacts/index.ts";
import type { EndOfRunStatements } from "./execution/finish.ts";
import { type MachinesInUse, openMachinesInUse } from "./execution/machines-in-use.ts";
import type { RunHost } from "./execution/run-host.ts";
import { readReport, readSummary } from "./execution/run-summary.ts";
import { type Runner, startRunner } from "./execution/runner.ts";
import { measureStarts, openSandboxes } from "./execution/sandbox/index.ts";
import { addRunMetrics } from "./execution/telemetry.ts";
import { openRunMessages } from "./messages/index.ts";
import { addQueueMetrics } from "./queue.ts";
import {
  addStreamRoute,
  frameRetention,
  openHub,
  openOpenStreams,
  openStreamRetention,
  readFrames,
  type StreamHost,
} from "./streams/index.ts";
import { addSubagentRoutes } from "./subagents/index.ts";
import { addUsageRoute } from "./usage/index.ts";

export interface Runs extends Subject {
  streams: StreamHost;
  machinesInUse: MachinesInUse;
}

export interface RunsOptions {
  authenticate: Authenticate;
  repositories: Repositories;
  findAgent: FindReadableAgent;
  endOfRunStatements: EndOfRunStatements;
  machines: Machines;
  secrets: Pick<Secrets, "ofAgent">;
  serveIdentity: ServeIdentity;
  cloudRoles: CloudRoles;
  workers: Workers;
  environments: RunEnvironments;
  toolsOf: RunHost["toolsOf"];
  proposeChanges: RunHost["proposeChanges"];
}

export async function openRuns(context: ServerContext, options: RunsOptions): Promise<Runs> {
  const { db, vault, notifications, nodeId, settings, metrics, publicUrl } = context;
  const { authenticate, repositories, findAgent } = options;
  const openStreams = await openOpenStreams(db, nodeId);
  const hub = await openHub({ pages: readFrames(db, vault), notifications, openStreams });
  addQueueMetrics(metrics, db);
  if (settings.roles.includes("runner")) addRunMetrics(metrics);
  const machines = openAgentMachines(settings, options.machines);
  const streams: StreamHost = { platform: context, hub, findAgent };
  const machinesInUse = openMachinesInUse();
  const messages = await openRunMessages(context);
  return {
    streams,
    machinesInUse,
    routes(api) {
      addStreamRoute(api, streams, authenticate);
      addArtifactRoutes(api, { platform: context, findAgent, publicUrl });
      addUsageRoute(api, { db, findAgent });
      addSubagentRoutes(api, { platform: context, findAgent });
      addEgressRoute(api, { platform: context, findAgent });
    },
    retention: [
      frameRetention(db, settings.streamRetentionSeconds),
      openStreamRetention(db),
      artifactRetention({ db, objects: context.objects, ...settings.retention, now: Date.now }),
    ],
    activities: [
      {
        role: "runner",
        start: () => startInMachines(runHost(context, { hub, messages, machines, machinesInUse }, options)),
      },
      { role: "runner", start: () => startArtifactRetries(context) },
      { role: "scheduler", start: () => repositories.startChecks((runId) => readReport(context, runId)) },
      {
        role: "every server",
        start: () => ({
          async stop() {
            messages.close();
            hub.close();
          },
        }),
      },
    ],
  };
}

const runHost = (
  context: ServerContext,
  opened: Pick<RunHost, "hub" | "messages" | "machines" | "machinesInUse">,
  {
    repositories,
    endOfRunStatements,
    secrets,
    serveIdentity,
    cloudRoles,
    workers,
    environments,
    toolsOf,
    proposeChanges,
  }: RunsOptions,
): RunHost => ({
  platform: context,
  publicUrl: context.publicUrl,
  ...opened,
  secrets,
  serveIdentity,
  cloudRoles,
  workers,
  environments,
  workspaces: repositories.workspaces,
  network: context.network,
  sandboxes: openSandboxes(context.settings, measureStarts(context.metrics)),
  artifacts: openArtifacts(context),
  diskLocation: diskLocation(context.settings.dataDirectory),
  checkRepositories: repositories.checkAtRun,
  mintToken: async (teamId, url, signal) => (await repositories.sources.open(teamId, url)).mintToken?.("write", signal),
  async cloneAccess(teamId, url, signal) {
    const { directory, mintToken, reach } = await repositories.sources.open(teamId, url);
    if (directory !== null) return null;
    const address = await reach(async (remote) => remote.address, signal);
    return { url: address, token: await mintToken?.("read", signal) };
  },
  endOfRunStatements,
  toolsOf,
  proposeChanges,
  handoff: repositories.openHandoff((runId) => readSummary(context, runId)),
});

/** Several servers may be on one host. */
function diskLocation(dataDirectory: string): RunHost["diskLocation"] {
  const dataId = readDataId(dataDirectory);
  return { dataId, nodeName: `${hostname()} (data directory ${dataId.slice(0, 8)})` };
}

/** The disks of machines are unmounted after the last run has left them. */
async function startInMachines(host: RunHost): Promise<Runner> {
  const runner = await startRunner(host);
  return {
    ...runner,
    async stop() {
      await runner.stop();
      await host.machines.close();
    },
  };
}
