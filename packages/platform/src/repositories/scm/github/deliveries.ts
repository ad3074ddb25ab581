// Deliveries of the webhook of a GitHub App and of webhooks of repositories, also those that were never received: GitHub does
// not repeat them by itself.
import type { HookDeliveries, HookDelivery, ListedDeliveries, RepositoryHook } from "../hook-deliveries.ts";
import { type GithubApi, githubFault } from "./api.ts";
import { readPages } from "./pages.ts";
import type { GithubRepository } from "./repository.ts";
import { requestAsPlatform } from "./requests.ts";

export function hookDeliveries(api: GithubApi, appToken: () => Promise<string>): HookDeliveries {
  const faultOf = (what: string) => faultFor(`${what} of the GitHub App`);
  return {
    list: (since, signal) =>
      listSince(since, async (page) => {
        const route = "GET /app/hook/deliveries" as const;
        return api.requestPage({ route, parameters: page, token: await appToken() }, signal);
      }).catch(faultOf("list the deliveries")),
    async read(delivery_id, signal) {
      const route = "GET /app/hook/deliveries/{delivery_id}" as const;
      const request = { route, parameters: { delivery_id }, token: await appToken() };
      const { url = "", request: sent } = await api.request(request, signal).catch(faultOf("read a delivery"));
      return { url, payload: sent.payload ?? {} };
    },
  };
}

/** Those that are active. An app needs the permission to read webhooks of the repository. */
export async function repositoryHooks(opened: GithubRepository, signal: AbortSignal): Promise<RepositoryHook[]> {
  const github = { ...opened, credentials: { ...opened.credentials, ...opened.credentials.forHooks } };
  const { owner, repo } = github.repository;
  const request = requestAsPlatform(github, signal);
  const hooks = await readPages((page) => request("GET /repos/{owner}/{repo}/hooks", page)).catch(
    faultFor(`list the webhooks of ${owner}/${repo}, which needs the permission to read webhooks`),
  );
  return hooks
    .filter(({ active }) => active)
    .map(({ id, config }) => ({ id, url: config.url ?? "", deliveries: deliveriesOf(github, id) }));
}

function deliveriesOf(github: GithubRepository, hook_id: number): HookDeliveries {
  const { api, credentials, repository } = github;
  const faultOf = (what: string) =>
    faultFor(`${what} of the webhook ${hook_id} of ${repository.owner}/${repository.repo}`);
  return {
    list: (since, signal) =>
      listSince(since, async (page) => {
        const route = "GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries" as const;
        const token = await credentials.token(repository, signal);
        return api.requestPage({ route, parameters: { ...repository, hook_id, ...page }, token }, signal);
      }).catch(faultOf("list the deliveries")),
    async read(delivery_id, signal) {
      const route = "GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}" as const;
      const asked = requestAsPlatform(github, signal)(route, { hook_id, delivery_id });
      const { url = "", request: sent } = await asked.catch(faultOf("read a delivery"));
      return { url, payload: sent.payload ?? {} };
    },
  };
}

const faultFor =
  (what: string) =>
  (error: unknown): never => {
    throw githubFault(error, { what, code: "repository_unreachable" });
  };

/** Of a hundred each: more than a busy hour has. */
const maxPages = 50;

interface DeliveryPage {
  data: { id: number | bigint; guid: string; event: string; delivered_at: string }[];
  next: string | null;
}

async function listSince(
  since: Date,
  readPage: (page: { per_page: number; cursor?: string }) => Promise<DeliveryPage>,
): Promise<ListedDeliveries> {
  const found: HookDelivery[] = [];
  const deliveries = () => found.filter(({ deliveredAt }) => deliveredAt >= since);
  let cursor: string | null = null;
  for (let page = 0; page < maxPages; page += 1) {
    const { data, next }: DeliveryPage = await readPage({ per_page: 100, ...(cursor !== null && { cursor }) });
    found.push(
      ...data.map(({ id, guid, event, delivered_at }) => ({
        ...{ id: Number(id), guid, event, deliveredAt: new Date(delivered_at) },
      })),
    );
    const [last] = found.slice(-1);
    if (next === null || last === undefined || last.deliveredAt < since)
      return { deliveries: deliveries(), isCut: false };
    cursor = next;
  }
  return { deliveries: deliveries(), isCut: true };
}
