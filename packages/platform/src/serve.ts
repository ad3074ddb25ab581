// A server: the API and the work of its roles, from the first request to an orderly shutdown.
import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Settings } from "./foundation/config/index.ts";
import { openServerContext, type PlatformContext, type ServerContext } from "./foundation/context.ts";
import type { Forwarding } from "./foundation/forwarding/index.ts";
import {
  type AdmissionLimits,
  type Api,
  addSelfRoutes,
  answerUnserved,
  createApi,
  type HostHandler,
  listen,
} from "./foundation/http/index.ts";
import { readRanges } from "./foundation/network/index.ts";
import type { Activity } from "./foundation/subject.ts";
import { version } from "./foundation/version.ts";
import { describeModel } from "./runs/index.ts";
import { announceServer, withdrawServer } from "./server-file.ts";
import { openSubjects, type Subjects } from "./subjects.ts";

export interface RunningServer {
  url: string;
  /** Accepts nothing new, hands back unfinished work, and closes the platform. */
  stop(): Promise<void>;
}

export async function serve(platform: PlatformContext, open = openSubjects): Promise<RunningServer> {
  const { settings, log, nodeId } = platform;
  const end = new AbortController();
  let serverUrl = "";
  const context = openServerContext(platform, () => serverUrl);
  const opened = await open(context);
  const server = await listen(composeApi(context, opened, end.signal), settings, admissionLimits(settings));
  serverUrl = server.url;
  const activities = await startActivities(context, opened).catch(async (error) => {
    await server.stop();
    throw error;
  });
  const url = context.publicUrl();
  platform.storage.watch();
  announceServer(settings.dataDirectory, { url, roles: settings.roles });
  log.info("server.ready", { url, nodeId, version, roles: settings.roles.join(","), model: describeModel(settings) });
  return {
    url,
    async stop() {
      end.abort();
      context.forwarding.close();
      log.info("server.stopping", { nodeId });
      platform.storage.close();
      withdraw(platform, url);
      // Such as a database that is away: the others still hand back their work.
      const logged = (part: Promise<void>) =>
        part.catch((error: unknown) => log.error("server.part_not_stopped", error));
      // Together: a stream ends when its run is released.
      const parts = Promise.all([server, ...activities].map((part) => logged(part.stop())));
      const isOver = await endsInTime(
        parts.then(() => logged(platform.close())),
        settings.stopTimeoutMs,
      );
      if (isOver) log.info("server.stopped", { nodeId });
      else log.warn("server.stopped_late", { nodeId, reason: "something did not stop in time; leases cover the rest" });
    },
  };
}

/** On a full disk the entry stays; readers of the file ignore it, because the process has ended. */
function withdraw({ settings, log }: PlatformContext, url: string): void {
  try {
    withdrawServer(settings.dataDirectory, url);
  } catch (error) {
    log.error("server.not_withdrawn", error);
  }
}

/** A database that hangs must not keep the program: what it holds is released when its connections end. */
async function endsInTime(work: Promise<void>, timeoutMs: number): Promise<boolean> {
  const timer = new AbortController();
  const tooLate = delay(timeoutMs, false, { signal: timer.signal });
  try {
    return await Promise.race([work.then(() => true), tooLate]);
  } finally {
    timer.abort();
    tooLate.catch(() => {});
  }
}

/** The routes of the server itself, and those of all subjects: for clients where it has the role `api`, else for other servers. */
export function composeApi(context: ServerContext, { identity, subjects }: Subjects, end: AbortSignal): Api {
  const { settings, log, metrics, forwarding } = context;
  const { authenticate } = identity;
  const { queryTimeoutMs } = settings;
  const { forwarded } = forwarding;
  const limits = admissionLimits(settings);
  const api = createApi({ authenticate, limits, forwarded, log, metrics, queryTimeoutMs });
  const obstacle = oneAtATime(() => findObstacle(context, end));
  const metricsAccess = { token: settings.metricsToken, publicUrl: settings.publicUrl };
  addSelfRoutes(api, { metrics, metricsAccess, version, url: settings.publicUrl ?? "/", obstacle });
  const isApi = settings.roles.includes("api");
  if (!isApi) serveOnlyForwarded(api, forwarding);
  for (const subject of subjects) subject.routes?.(api);
  if (!isApi) for (const [at, host] of api.hosts.entries()) api.hosts[at] = onlyForwarded(host, forwarding);
  return api;
}

/** Routes that are added later. */
function serveOnlyForwarded(api: Api, { forwarded }: Forwarding): void {
  api.app.use((context, next) =>
    forwarded(context.env.incoming) ? next() : Promise.resolve(answerUnserved(context, [])),
  );
}

const onlyForwarded = (host: HostHandler, { forwarded }: Forwarding): HostHandler => ({
  matches: (name) => host.matches(name),
  request(request, response) {
    if (isForwarded(forwarded, request)) host.request(request, response);
    else response.writeHead(404).end();
  },
  upgrade(request, stream, head) {
    if (isForwarded(forwarded, request)) host.upgrade(request, stream, head);
    else stream.destroy();
  },
});

function isForwarded(forwarded: Forwarding["forwarded"], request: IncomingMessage): boolean {
  try {
    return forwarded(request) !== null;
  } catch {
    return false;
  }
}

const admissionLimits = ({ rateLimits }: Settings): AdmissionLimits => ({
  ...rateLimits,
  trustedProxies: readRanges(rateLimits.trustedProxies, "trusted_proxies"),
});

/** Those of the server's roles, one after another in the order of the subjects. */
export async function startActivities({ settings }: ServerContext, { subjects }: Subjects): Promise<Activity[]> {
  const activities: Activity[] = [];
  for (const { role, start } of subjects.flatMap((subject) => subject.activities ?? []))
    if (role === "every server" || settings.roles.includes(role)) activities.push(await start());
  return activities;
}

/** Calls meanwhile get the same answer: requests that no limit counts must not each cost a query. */
function oneAtATime<Result>(find: () => Promise<Result>): () => Promise<Result> {
  let finding: Promise<Result> | null = null;
  return () => {
    finding ??= find().finally(() => {
      finding = null;
    });
    return finding;
  };
}

const queryTimeoutMs = 2_000;

async function findObstacle({ db, storage }: PlatformContext, end: AbortSignal): Promise<string | null> {
  if (end.aborted) return "the server is stopping";
  const full = storage.obstacle();
  if (full !== null) return full;
  const answer = sql`select 1`.execute(db).then(
    () => null,
    () => "the database does not answer",
  );
  return Promise.race([answer, delay(queryTimeoutMs, "the database does not answer in time", { ref: false })]);
}
