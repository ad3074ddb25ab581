// One attempt: sends a request, reads the stream, and resolves to a reply or a failure.
import type { IncomingHttpHeaders } from "node:http";
import type { EventFraming } from "./endpoints/endpoint.ts";
import { type Attempt, type AttemptFailure, failAttempt, interrupted, quote } from "./failure.ts";
import { post, type Receiver, type ResponseEnd } from "./http.ts";
import type { Provider } from "./provider.ts";
import { hideSecrets } from "./secrets.ts";
import { openSse, type Skim } from "./sse.ts";
import { statusFailure } from "./status.ts";

/** The event that settles the response gives its outcome; one that says nothing about the response is a keep-alive. */
export type EventOutcome = Attempt | "keep-alive" | undefined;

/** For an event that a reader does not know by its type. */
export const keepAliveOf = (type: string): EventOutcome =>
  type === "ping" || type === "keepalive" ? "keep-alive" : undefined;

/** Reads the events of one wire. */
export interface StreamReader {
  take(data: string, name: string): EventOutcome;
  /** Takes events that say nothing about the outcome, with the text of the stream alone. */
  skim?: Skim;
  /** The outcome at the end of the stream; undefined if the response is incomplete. */
  end(): Attempt | undefined;
}

export interface AttemptRequest {
  provider: Provider;
  key: string | undefined;
  url: URL;
  headers: Record<string, string>;
  body: string;
  reader: StreamReader;
  /** The model that is asked, for messages. */
  model: string;
  /** How events are framed; absent: as server-sent events. */
  events?: EventFraming | undefined;
}

export async function attempt(request: AttemptRequest, signal: AbortSignal): Promise<Attempt> {
  const { provider, key, url, headers, body } = request;
  const collector = openCollector(request);
  const { firstByteMs, idleMs } = provider;
  const ending = await post({ url, headers, body, firstByteMs, idleMs }, collector, signal);
  const outcome = ending.kind === "aborted" ? interrupted() : collector.outcome(ending);
  return withoutSecrets(hideSecrets(provider, key), outcome);
}

// Far above any real response: a server that never stops must not use up the memory.
const maxBytes = 256 * 1024 * 1024;

interface ResponseCollector extends Receiver {
  outcome(ending: ResponseEnd): Attempt;
}

function openCollector({
  provider,
  url,
  reader,
  model,
  events: framing = serverSentEvents,
}: AttemptRequest): ResponseCollector {
  let head: { status: number; headers: IncomingHttpHeaders } | undefined;
  let outcome: Attempt | undefined;
  let received = 0;
  let events = 0;
  const skim: Skim = (stream, start) => {
    const end = outcome || !reader.skim ? start : reader.skim(stream, start);
    if (end > start) events += 1;
    return end;
  };
  const parser = framing.open((data, name) => {
    if (outcome) return;
    const read = reader.take(data, name);
    if (read === "keep-alive") return;
    events += 1;
    outcome = read;
  }, skim);
  const otherText = openTextBuffer();
  return {
    begin(status, headers) {
      head = { status, headers };
    },
    take(bytes) {
      received += bytes.length;
      const before = events;
      if (received > maxBytes) outcome = failAttempt("protocol", `${provider.name} sent more than ${maxBytes} bytes.`);
      else if (head && isEventStream(head, framing)) parser.push(bytes);
      else return otherText.push(bytes);
      if (outcome) return "enough";
      // Comments, keep-alives and single bytes may come from a proxy whose model is gone.
      return events > before ? "progress" : "more";
    },
    outcome(ending) {
      if (!head) return noResponse(provider, url, ending);
      if (!isSuccess(head.status)) return statusFailure({ ...provider, model }, { ...head, body: otherText.text() });
      if (!isEventStream(head, framing)) return notAStream(provider, head.headers["content-type"], otherText.text());
      if (ending.kind === "ended") parser.end();
      return outcome ?? reader.end() ?? incompleteStream(provider, ending);
    },
  };
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

// A missing type is accepted: some small servers send none.
const isEventStream = (
  { status, headers }: { status: number; headers: IncomingHttpHeaders },
  { contentType }: EventFraming,
): boolean => isSuccess(status) && (headers["content-type"] ?? contentType).toLowerCase().includes(contentType);

const serverSentEvents: EventFraming = { contentType: "text/event-stream", open: openSse };

const maxTextBytes = 65_536;

/** The start of a body that is not a stream of events. */
function openTextBuffer() {
  const pieces: Buffer[] = [];
  let size = 0;
  return {
    push(bytes: Buffer): "more" | "enough" {
      pieces.push(bytes);
      size += bytes.length;
      return size < maxTextBytes ? "more" : "enough";
    },
    text: () => Buffer.concat(pieces).toString("utf8"),
  };
}

function noResponse(provider: Provider, url: URL, ending: ResponseEnd): AttemptFailure {
  const server = `${provider.name} (${url.origin}${url.pathname})`;
  switch (ending.kind) {
    case "silent":
      return failAttempt("limit", `${server} did not respond within ${provider.firstByteMs} ms.`, {
        limit: "first-byte",
      });
    case "garbled":
      return failAttempt("protocol", `${server} did not respond with HTTP: ${ending.reason}. Check base_url.`);
    case "unsendable":
      return failAttempt(
        "refused",
        `Could not send the request to ${server}: ${ending.reason}. Check its key and headers.`,
      );
    case "unreachable":
    case "cut":
      return failAttempt(
        "network",
        `${server} could not be reached: ${ending.reason}. Check base_url and the network.`,
      );
    case "aborted":
      return interrupted();
    case "ended":
      throw new Error("a response ended that never began");
  }
}

function incompleteStream(provider: Provider, ending: ResponseEnd): AttemptFailure {
  if (ending.kind === "silent") {
    return failAttempt(
      "limit",
      `${provider.name} sent no event for ${provider.idleMs} ms in the middle of its response (limit idle).`,
      {
        limit: "idle",
      },
    );
  }
  const reason = "reason" in ending ? ending.reason : "the stream ended before the response was complete";
  return failAttempt("stream_cut", `The response of ${provider.name} was cut off: ${reason}.`);
}

const notAStream = (provider: Provider, type: string | undefined, body: string): AttemptFailure =>
  failAttempt(
    "protocol",
    `${provider.name} did not respond with an event stream but with ${type}: ${quote(body)} Check base_url and wire_api of ${provider.id}.`,
  );

function withoutSecrets(hide: (text: string) => string, outcome: Attempt): Attempt {
  if (outcome.kind === "replied") return outcome;
  const { fault } = outcome;
  return { ...outcome, fault: { ...fault, message: hide(fault.message) } };
}
