// Sends one message to a receiver: only to checked addresses, no redirects, with a timeout.
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { hostText, readHost } from "@agentcli/workspace/hosts";
import { limitInterim } from "@agentcli/workspace/http";
import { checkedAddresses, type NetworkPolicy } from "../../foundation/index.ts";

export interface Message {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** The outcome, as shown to the owner of the webhook. */
export type Outcome =
  | { kind: "delivered"; responseStatus: number }
  /** Any status but 2xx; redirects are not followed. */
  | { kind: "refused"; responseStatus: number }
  | { kind: "timed_out" }
  | { kind: "unreachable" }
  /** The address is in a private network. */
  | { kind: "forbidden" };

export interface SendOptions {
  policy: NetworkPolicy;
  /** For the whole exchange: name lookup, connection, response. */
  timeoutMs: number;
}

/** Rejects only on abort: every other failure is an outcome. */
export async function send(
  message: Message,
  { policy, timeoutMs }: SendOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  const limit = AbortSignal.timeout(timeoutMs);
  const end = AbortSignal.any([limit, signal]);
  const url = new URL(message.url);
  const host = readHost(url.hostname.replace(/^\[|\]$/g, ""));
  if (host === undefined) return { kind: "unreachable" };
  const resolved = await policy.resolve(host, end);
  signal.throwIfAborted();
  if (limit.aborted) return { kind: "timed_out" };
  if (resolved.kind === "private") return { kind: "forbidden" };
  if (resolved.kind === "unknown") return { kind: "unreachable" };
  try {
    const responseStatus = await post(url, { message, hostname: hostText(host), addresses: resolved.addresses }, end);
    const kind = responseStatus >= 200 && responseStatus < 300 ? "delivered" : "refused";
    return { kind, responseStatus };
  } catch {
    signal.throwIfAborted();
    return { kind: limit.aborted ? "timed_out" : "unreachable" };
  }
}

interface DialOptions {
  message: Message;
  hostname: string;
  /** Checked; the name is not resolved again. */
  addresses: string[];
}

/** The body is ignored, and it may be endless; a receiver that is cut off at once might give up its work. */
const maxResponseBytes = 64 * 1024;
const lingerMs = 1_000;

function post(url: URL, { message, hostname, addresses }: DialOptions, signal: AbortSignal): Promise<number> {
  const request = url.protocol === "https:" ? secureRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const sent = request({
      method: "POST",
      hostname,
      port: url.port || (url.protocol === "https:" ? 443 : 80),
      path: `${url.pathname}${url.search}`,
      headers: { ...message.headers, host: url.host, "content-length": message.body.length, connection: "close" },
      lookup: checkedAddresses(addresses),
      agent: false,
      signal,
    });
    limitInterim(sent);
    sent.once("error", reject);
    // After 101 Node closes the connection without a response and without an error: the slot would be held for ever.
    sent.once("close", () => reject(new Error("closed without a response")));
    sent.once("response", (response) => {
      sent.off("error", reject).on("error", () => {});
      drain(response);
      // Not at the end of the body: a receiver that never ends it would hold a slot.
      resolve(response.statusCode ?? 0);
    });
    sent.end(message.body);
  });
}

function drain(response: IncomingMessage): void {
  const linger = setTimeout(() => response.destroy(), lingerMs).unref();
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxResponseBytes) response.destroy();
  });
  response.on("error", () => {});
  response.once("close", () => clearTimeout(linger));
}
