// Deliveries of webhooks of single repositories that never came: of those that triggers name, and that send to the platform.
import { teamKey } from "../../foundation/index.ts";
import { GithubRefusal, RepositoryFault, type RepositoryHook } from "../../repositories/index.ts";
import { openDefinition } from "../definition.ts";
import type { AutomationHost } from "../host.ts";
import type { Found, Polled, PollWork } from "./polls.ts";
import { recover, sinceOf, sourceIdIn } from "./recover.ts";
import { findSource } from "./store.ts";

/** At a time; those that waited longest come first. */
const maxRepositories = 100;
/** Where no webhook sends to the platform, or it may not look: the app may send the events, or that changes later. */
const withoutHooksMs = 60 * 60_000;

interface Watched {
  teamId: number;
  url: string;
}

/** How many it has found. */
export async function reconcileRepositories(
  host: AutomationHost,
  poll: (host: AutomationHost, connection: string, work: PollWork) => Promise<number>,
): Promise<number> {
  let recovered = 0;
  for (const watched of (await listWatched(host)).slice(0, maxRepositories))
    recovered += await poll(host, connectionOf(watched), (claimed, signal) =>
      pollRepository(host, { ...watched, since: sinceOf(host, claimed) }, signal),
    );
  return recovered;
}

async function pollRepository(
  host: AutomationHost,
  { teamId, url, since }: Watched & { since: Date },
  signal: AbortSignal,
): Promise<Polled> {
  const hooks = await listHooks(host, { teamId, url }, signal);
  if (hooks instanceof RepositoryFault || hooks.length === 0) {
    const failure = hooks instanceof RepositoryFault ? hooks.message : null;
    return { recovered: 0, seenUntil: null, failure, nextAt: new Date(host.now().getTime() + withoutHooksMs) };
  }
  const results: Found[] = [];
  for (const { deliveries } of hooks) results.push(await recover(host, { from: deliveries, since, teamId }, signal));
  const failures = results.flatMap(({ failure }) => failure ?? []);
  const seen = results.map(({ seenUntil }) => seenUntil?.getTime() ?? since.getTime());
  return {
    recovered: results.reduce((sum, { recovered }) => sum + recovered, 0),
    seenUntil: new Date(Math.min(...seen)),
    failure: failures.length > 0 ? failures.join(" ") : null,
  };
}

/** Those that send to the team. A failure that may pass is thrown: the next look at the usual time may succeed. */
async function listHooks(
  { sources, platform: { db } }: AutomationHost,
  { teamId, url }: Watched,
  signal: AbortSignal,
): Promise<RepositoryHook[] | RepositoryFault> {
  try {
    const { hooks } = await sources.open(teamId, url);
    const found: RepositoryHook[] = [];
    for (const hook of (await hooks?.(signal)) ?? [])
      if ((await findSource(db, sourceIdIn(hook.url)))?.team_id === teamId) found.push(hook);
    return found;
  } catch (error) {
    if (!(error instanceof RepositoryFault) || !isRefusal(error)) throw error;
    return error;
  }
}

const refusals = [401, 403, 404];

const isRefusal = ({ code, cause }: RepositoryFault): boolean =>
  cause instanceof GithubRefusal
    ? refusals.includes(cause.status) && !/rate limit/i.test(cause.message)
    : code !== "repository_unreachable";

const connectionOf = ({ teamId, url }: Watched): string => `github ${teamId} ${url}`;

/** Repositories of other hosts that triggers of enabled automations name, of teams with an address for events. */
async function listWatched(host: AutomationHost): Promise<Watched[]> {
  const { db, vault } = host.platform;
  const rows = await db
    .selectFrom("automations")
    .select(["automations.id", "automations.team_id", "automations.definition"])
    .where("automations.enabled", "=", true)
    .where("automations.id", "in", (query) =>
      query.selectFrom("automation_triggers").select("automation_id").where("type", "=", "github"),
    )
    .where("automations.team_id", "in", (query) =>
      query.selectFrom("event_sources").select("team_id").where("type", "=", "github"),
    )
    .execute();
  const watched = new Map<string, Watched>();
  for (const row of rows) {
    const { triggers } = openDefinition(await teamKey(db, vault, row.team_id), row);
    const urls = triggers.flatMap((trigger) => (trigger.type === "github" ? trigger.repos : []));
    for (const url of urls.filter((one) => !host.isHosted(one)).map(plainUrl)) {
      const one = { teamId: row.team_id, url };
      watched.set(connectionOf(one).toLowerCase(), one);
    }
  }
  return sortByWait(host, [...watched.values()]);
}

const plainUrl = (url: string): string => url.replace(/\/+$/, "").replace(/\.git$/, "");

async function sortByWait({ platform: { db } }: AutomationHost, watched: Watched[]): Promise<Watched[]> {
  const polls = await db.selectFrom("delivery_polls").select(["connection", "next_at"]).execute();
  const nextAt = new Map(polls.map(({ connection, next_at }) => [connection, next_at.getTime()]));
  const timeOf = (one: Watched) => nextAt.get(connectionOf(one)) ?? 0;
  return watched.sort((left, right) => timeOf(left) - timeOf(right));
}
