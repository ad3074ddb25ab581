// Environments: saved configurations of machines, their builds, and the API about them.
import type { Authenticate, Queries, ServerContext, Subject } from "../foundation/index.ts";
import type { Images } from "../images/index.ts";
import type { Machines } from "../machines/index.ts";
import type { Repositories } from "../repositories/index.ts";
import { secretsOfBuild, singlePhaseNames } from "../secrets/index.ts";
import { openEnvironmentAccess } from "./access.ts";
import { type BuildExecutor, withoutMachines } from "./builds/executor.ts";
import { openMachineExecutor } from "./builds/machine-executor.ts";
import { startBuildRunner } from "./builds/runner.ts";
import { startBuildSchedule } from "./builds/schedule.ts";
import { openRunEnvironments, type RunEnvironments } from "./for-runs.ts";
import type { EnvironmentHost } from "./host.ts";
import { type EnvironmentLookup, openEnvironmentLookup } from "./lookup.ts";
import { type FindNamedEnvironment, openFindNamed } from "./named.ts";
import { buildRetention, layerRetention } from "./retention.ts";
import { addBuildDiff } from "./routes/build-diff.ts";
import { addBuildRoutes } from "./routes/builds.ts";
import { addEnvironmentRoutes } from "./routes/environments.ts";
import { addLogRoute } from "./routes/logs.ts";
import { serveSchema } from "./routes/schema.ts";
import type { EnvironmentRow } from "./store.ts";

export interface Environments extends Subject {
  host: EnvironmentHost;
  lookup: EnvironmentLookup;
  forRuns: RunEnvironments;
  findNamed: FindNamedEnvironment;
}

export interface EnvironmentsOptions {
  authenticate: Authenticate;
  repositories: Repositories;
  /** Null: this server has no machines; its builds fail and say so. Absent: it builds in its machines. */
  executor?: BuildExecutor | null | undefined;
  machines: Machines;
  images: Images;
  /** Part of the transaction that ends a draft which waits for a decision. */
  announceDraft(tx: Queries, buildId: string): Promise<void>;
}

export function openEnvironments(
  context: ServerContext,
  { authenticate, repositories, machines, images, ...options }: EnvironmentsOptions,
): Environments {
  const executor = options.executor === undefined ? openMachineExecutor({ machines, images }) : options.executor;
  const host: EnvironmentHost = {
    platform: context,
    authenticate,
    access: openEnvironmentAccess(context, repositories.reading),
    checkRepositories: repositories.checkAtCreation,
  };
  const buildHost = {
    platform: context,
    content: repositories,
    executor: executor ?? withoutMachines,
    announceDraft: options.announceDraft,
    secretsOf: (environment: EnvironmentRow) => secretsOfBuild(context, secretBuild(environment)),
    singlePhaseNames: (environment: EnvironmentRow) => singlePhaseNames(context, secretBuild(environment)),
  };
  const lookup = openEnvironmentLookup(context, host.access);
  return {
    host,
    lookup,
    findNamed: openFindNamed(context, host.access),
    forRuns: openRunEnvironments({ platform: context, lookup, machines, images, sources: repositories.sources }),
    routes(api) {
      addEnvironmentRoutes(api, host);
      addBuildRoutes(api, host);
      addBuildDiff(api, host, executor === null ? null : machines);
      addLogRoute(api, host);
      serveSchema(api, context.publicUrl);
    },
    retention: [
      buildRetention(context.db, context.settings.retention.buildDays),
      layerRetention({ db: context.db, machines, images, ...context.settings.retention, now: Date.now }),
    ],
    activities: [
      { role: "runner", start: () => startBuildRunner(buildHost) },
      // Without machines a recurring build would only fail every day.
      ...(executor === null ? [] : [{ role: "scheduler" as const, start: () => startBuildSchedule(context) }]),
    ],
  };
}

const secretBuild = ({ id, team_id: teamId, repos }: EnvironmentRow) => ({ teamId, environmentId: id, repos });
