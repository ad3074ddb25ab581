// A server: the API and the work of its roles, from the first request to an orderly end.
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { type Api, addSelfRoutes, createApi, listen } from "./http/index.ts";
import type { Platform } from "./platform.ts";
import { announceServer, withdrawServer } from "./server-file.ts";
import { openSessionDoor } from "./sessions/index.ts";
import { openSubjects, type Subjects } from "./subjects.ts";
import { version } from "./version.ts";

export interface RunningServer {
  url: string;
  /** Takes nothing new, gives back what it has in hand, and closes the platform. */
  stop(): Promise<void>;
}

export async function serve(platform: Platform): Promise<RunningServer> {
  const { settings, log, nodeId } = platform;
  const end = new AbortController();
  let ownUrl = "";
  const subjects = await openSubjects(platform, () => ownUrl);
  const server = await listen(composeApi(platform, subjects, end.signal), settings);
  ownUrl = server.url;
  const activities = await subjects.start().catch(async (error) => {
    await server.stop();
    throw error;
  });
  const url = settings.publicUrl ?? server.url;
  announceServer(settings.dataDirectory, url);
  log.info("server.ready", { url, nodeId, version, roles: settings.roles.join(",") });
  return {
    url,
    async stop() {
      end.abort();
      log.info("server.stopping", { nodeId });
      withdrawServer(settings.dataDirectory);
      // Together: a stream ends when its run is let go.
      await Promise.all([server.stop(), ...activities.map((activity) => activity.stop())]);
      await platform.close();
      log.info("server.stopped", { nodeId });
    },
  };
}

/** All that is served. */
export function composeApi(platform: Platform, subjects: Subjects, end: AbortSignal): Api {
  const { settings, principals, sessions, log, metrics } = platform;
  const door = openSessionDoor(sessions, settings);
  const api = createApi({ principals, door, requestsPerMinute: settings.requestsPerMinute, log, metrics });
  subjects.addRoutes(api);
  const obstacle = () => findObstacle(platform, end);
  const metricsDoor = { token: settings.metricsToken, publicUrl: settings.publicUrl };
  addSelfRoutes(api, { metrics, metricsDoor, version, url: settings.publicUrl ?? "/", obstacle });
  return api;
}

const longestQueryMs = 2_000;

async function findObstacle({ db }: Platform, end: AbortSignal): Promise<string | null> {
  if (end.aborted) return "the server is stopping";
  const answer = sql`select 1`.execute(db).then(
    () => null,
    () => "the database does not answer",
  );
  return Promise.race([answer, delay(longestQueryMs, "the database does not answer in time", { ref: false })]);
}
