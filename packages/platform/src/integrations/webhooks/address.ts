// Refuses addresses of receivers at creation that could never be delivered. The address is checked again at every attempt.
import { readHost } from "@agentcli/workspace/hosts";
import { ApiError, isForHttp, type NetworkPolicy, privateAddressReason } from "../../foundation/index.ts";

const checkTimeoutMs = 10_000;

/** Throws ApiError. A name that does not resolve now is accepted: it may resolve later. */
export async function checkReceiver(url: string, policy: NetworkPolicy, field = "webhook.url"): Promise<void> {
  const { hostname, port } = new URL(url);
  if (!isForHttp(port))
    throw new ApiError("validation_error", `${field}: port ${port} belongs to another protocol; use one for HTTP.`);
  const host = readHost(hostname.replace(/^\[|\]$/g, ""));
  if (host === undefined) throw new ApiError("validation_error", `${field}: the host name is invalid.`);
  const resolved = await policy.resolve(host, AbortSignal.timeout(checkTimeoutMs));
  if (resolved.kind === "private") throw new ApiError("validation_error", `${privateAddressReason(`${field}:`)}.`);
}
