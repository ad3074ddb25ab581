// Sends one message to a receiver: to the address that was checked, without following anybody, and not for long.
import { request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { hostText, readHost } from "@agentcli/workspace/hosts";
import { checkedAddresses, type NetworkPolicy } from "../network/index.ts";

export interface Message {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** What became of it, for whoever looks after the receiver. */
export type Outcome =
  | { kind: "delivered"; responseStatus: number }
  /** Answered with anything but 2xx; a redirect is not followed. */
  | { kind: "refused"; responseStatus: number }
  | { kind: "timed_out" }
  | { kind: "unreachable" }
  /** It leads to a private network. */
  | { kind: "forbidden" };

export interface Sending {
  policy: NetworkPolicy;
  /** For all of it: name, connection, answer. */
  limitMs: number;
}

/** Rejects only where the signal says so: everything else is an outcome. */
export async function send(message: Message, { policy, limitMs }: Sending, signal: AbortSignal): Promise<Outcome> {
  const limit = AbortSignal.timeout(limitMs);
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

interface Dialling {
  message: Message;
  hostname: string;
  /** Checked; no resolver is asked again. */
  addresses: string[];
}

/** What the receiver has to say beside its status is of no interest, and it may be without end. */
const mostAnswerBytes = 64 * 1024;

function post(url: URL, { message, hostname, addresses }: Dialling, signal: AbortSignal): Promise<number> {
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
    sent.once("error", reject);
    sent.once("response", (response) => {
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > mostAnswerBytes) response.destroy();
      });
      // The status has been said; an answer that breaks off behind it, or goes on for too long, changes nothing.
      sent.off("error", reject).on("error", () => {});
      response.on("error", () => {});
      response.once("close", () => resolve(response.statusCode ?? 0));
    });
    sent.end(message.body);
  });
}
