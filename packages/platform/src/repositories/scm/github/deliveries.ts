// Deliveries of the webhook of a GitHub App, also those that were never received: GitHub does not repeat them by itself.
import { type ApiPage, type GithubApi, githubFault } from "./api.ts";

/** Failures are thrown as RepositoryFault. */
export interface HookDeliveries {
  list(since: Date, signal: AbortSignal): Promise<ListedDeliveries>;
  read(id: number, signal: AbortSignal): Promise<{ url: string; payload: object }>;
}

export interface ListedDeliveries {
  /** Newest first, back to the time that was asked for, or as many as fit in fifty pages. */
  deliveries: HookDelivery[];
  /** There may be older ones since that time. */
  isCut: boolean;
}

export interface HookDelivery {
  id: number;
  /** As in the header X-GitHub-Delivery; the same for a delivery that is repeated. */
  guid: string;
  /** As in the header X-GitHub-Event. */
  event: string;
  deliveredAt: Date;
}

/** Of a hundred each: more than a busy hour has. */
const maxPages = 50;

export function hookDeliveries(api: GithubApi, appToken: () => Promise<string>): HookDeliveries {
  const faultOf = (what: string) => (error: unknown) => {
    throw githubFault(error, { what: `${what} of the GitHub App`, code: "repository_unreachable" });
  };
  return {
    list: (since, signal) => listSince(api, { token: appToken, since }, signal).catch(faultOf("list the deliveries")),
    async read(delivery_id, signal) {
      const route = "GET /app/hook/deliveries/{delivery_id}" as const;
      const request = { route, parameters: { delivery_id }, token: await appToken() };
      const { url = "", request: sent } = await api.request(request, signal).catch(faultOf("read a delivery"));
      return { url, payload: sent.payload ?? {} };
    },
  };
}

async function listSince(
  api: GithubApi,
  { token, since }: { token: () => Promise<string>; since: Date },
  signal: AbortSignal,
): Promise<ListedDeliveries> {
  const found: HookDelivery[] = [];
  const deliveries = () => found.filter(({ deliveredAt }) => deliveredAt >= since);
  let cursor: string | null = null;
  for (let page = 0; page < maxPages; page += 1) {
    const parameters = { per_page: 100, ...(cursor !== null && { cursor }) };
    const request = { route: "GET /app/hook/deliveries" as const, parameters, token: await token() };
    const answer: ApiPage<"GET /app/hook/deliveries"> = await api.requestPage(request, signal);
    found.push(
      ...answer.data.map(({ id, guid, event, delivered_at }) => ({
        ...{ id: Number(id), guid, event, deliveredAt: new Date(delivered_at) },
      })),
    );
    const [last] = found.slice(-1);
    if (answer.next === null || last === undefined || last.deliveredAt < since)
      return { deliveries: deliveries(), isCut: false };
    cursor = answer.next;
  }
  return { deliveries: deliveries(), isCut: true };
}
