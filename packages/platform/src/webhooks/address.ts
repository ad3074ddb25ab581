// Says at the door what could never be delivered. What a name leads to is checked again at every attempt.
import { readHost } from "@agentcli/workspace/hosts";
import { ApiProblem } from "../http/index.ts";
import { isForHttp, type NetworkPolicy } from "../network/index.ts";

const checkLimitMs = 10_000;

/** Throws ApiProblem. A name that cannot be resolved now may be later. */
export async function checkReceiver(url: string, policy: NetworkPolicy): Promise<void> {
  const { hostname, port } = new URL(url);
  if (!isForHttp(port))
    throw new ApiProblem(
      "validation_error",
      `webhook.url: port ${port} belongs to another protocol; use one for HTTP.`,
    );
  const host = readHost(hostname.replace(/^\[|\]$/g, ""));
  if (host === undefined) throw new ApiProblem("validation_error", "webhook.url: names no host.");
  const resolved = await policy.resolve(host, AbortSignal.timeout(checkLimitMs));
  if (resolved.kind === "private")
    throw new ApiProblem(
      "validation_error",
      "webhook.url: leads to a private network. An administrator can list the address under [network] allow_private.",
    );
}
