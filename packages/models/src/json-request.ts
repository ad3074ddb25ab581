// One request for JSON to a provider: the answer, or why there is none.
import { clientHeaders, keyHeader, type WireHeaders } from "./addressing.ts";
import { post } from "./http.ts";
import type { Client, Provider } from "./provider.ts";
import { hideSecrets } from "./secrets.ts";
import { statusFailure } from "./status.ts";
import { parseJson } from "./untrusted.ts";

export type JsonAnswer =
  /** `undefined` for text that is not JSON. */
  { kind: "answered"; value: unknown } | { kind: "failed"; code: string; message: string };

export interface JsonTarget {
  provider: Provider;
  client: Client;
  wire: WireHeaders;
}

/** Far above any real answer. */
const maxBytes = 32 * 1024 * 1024;

/** Always resolves. Without a body: GET. */
export async function requestJson(
  { provider, client, wire }: JsonTarget,
  { url, body }: { url: URL; body?: string },
  signal: AbortSignal,
): Promise<JsonAnswer> {
  const { apiKey, firstByteMs, idleMs } = provider;
  const key = typeof apiKey === "function" ? await apiKey() : apiKey;
  const headers = {
    accept: "application/json",
    ...(body !== undefined && { "content-type": "application/json" }),
    ...wire.headers,
    ...keyHeader(provider.keyHeader ?? wire.keyHeader, key),
    ...clientHeaders(provider, client),
  };
  const received = { status: 0, headers: {}, body: "" };
  const ending = await post(
    { url, headers, body: body ?? "", ...(body === undefined && { method: "GET" }), firstByteMs, idleMs },
    {
      begin: (status, answered) => void Object.assign(received, { status, headers: answered }),
      take(bytes) {
        received.body += bytes.toString("latin1");
        return received.body.length > maxBytes ? "enough" : "progress";
      },
    },
    signal,
  );
  if (ending.kind !== "ended")
    return {
      kind: "failed",
      code: "network",
      message: `${provider.name} (${url.origin}${url.pathname}) did not answer: ${"reason" in ending ? ending.reason : ending.kind}. Check base_url and the network.`,
    };
  const text = Buffer.from(received.body, "latin1").toString("utf8");
  if (received.status === 200) return { kind: "answered", value: parseJson(text) };
  const { fault } = statusFailure({ ...provider, model: "" }, { ...received, body: text });
  return { kind: "failed", code: fault.code, message: hideSecrets(provider, key)(fault.message) };
}
