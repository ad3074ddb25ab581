// One try at an answer: sends a request, reads the stream, settles with a reply or with trouble.
import type { IncomingHttpHeaders } from "node:http";
import { type Ending, post, type Receiver } from "./http.ts";
import type { Provider } from "./provider.ts";
import { hideSecrets } from "./secrets.ts";
import { openSse } from "./sse.ts";
import { statusTrouble } from "./status.ts";
import { type Attempt, interrupted, quote, type Trouble, trouble } from "./trouble.ts";

/** Makes sense of the events of one wire. */
export interface StreamReader {
  /** Gives the outcome with the event that settles it. */
  take(data: string, name: string): Attempt | undefined;
  /** The outcome when nothing more comes; undefined when the answer is not whole. */
  end(): Attempt | undefined;
}

export interface Question {
  provider: Provider;
  key: string | undefined;
  url: URL;
  headers: Record<string, string>;
  body: string;
  reader: StreamReader;
}

export async function attempt(question: Question, signal: AbortSignal): Promise<Attempt> {
  const { provider, key, url, headers, body } = question;
  const answer = openAnswer(question);
  const { firstByteMs, idleMs } = provider;
  const ending = await post({ url, headers, body, firstByteMs, idleMs }, answer, signal);
  const outcome = ending.kind === "aborted" ? interrupted() : answer.outcome(ending);
  return withoutSecrets(hideSecrets(provider, key), outcome);
}

// Far above any real answer; a server that never stops must not take all memory.
const mostBytes = 256 * 1024 * 1024;

interface Answer extends Receiver {
  outcome(ending: Ending): Attempt;
}

function openAnswer({ provider, url, reader }: Question): Answer {
  let head: { status: number; headers: IncomingHttpHeaders } | undefined;
  let outcome: Attempt | undefined;
  let received = 0;
  const sse = openSse((data, name) => {
    outcome ??= reader.take(data, name);
  });
  const other = openText();
  return {
    begin(status, headers) {
      head = { status, headers };
    },
    take(bytes) {
      received += bytes.length;
      if (received > mostBytes) outcome = trouble("protocol", `${provider.name} sent more than ${mostBytes} bytes.`);
      else if (head && isEventStream(head)) sse.push(bytes);
      else return other.push(bytes);
      return outcome ? "enough" : "more";
    },
    outcome(ending) {
      if (!head) return unansweredTrouble(provider, url, ending);
      if (!isSuccess(head.status)) return statusTrouble(provider, { ...head, body: other.text() });
      if (!isEventStream(head)) return notAStream(provider, head.headers["content-type"], other.text());
      if (ending.kind === "ended") sse.end();
      return outcome ?? reader.end() ?? unfinishedTrouble(provider, ending);
    },
  };
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

// A missing type is let through: some small servers send none.
const isEventStream = ({ status, headers }: { status: number; headers: IncomingHttpHeaders }): boolean =>
  isSuccess(status) && (headers["content-type"] ?? "text/event-stream").toLowerCase().includes("text/event-stream");

const mostOtherBytes = 65_536;

/** The start of a body that is not a stream of events. */
function openText() {
  const pieces: Buffer[] = [];
  let size = 0;
  return {
    push(bytes: Buffer): "more" | "enough" {
      pieces.push(bytes);
      size += bytes.length;
      return size < mostOtherBytes ? "more" : "enough";
    },
    text: () => Buffer.concat(pieces).toString("utf8"),
  };
}

function unansweredTrouble(provider: Provider, url: URL, ending: Ending): Trouble {
  const place = `${provider.name} (${url.origin}${url.pathname})`;
  switch (ending.kind) {
    case "silent":
      return trouble("limit", `${place} did not answer within ${provider.firstByteMs} ms.`, { limit: "first-byte" });
    case "garbled":
      return trouble("protocol", `${place} did not answer in HTTP: ${ending.reason}. Check base_url.`);
    case "unsendable":
      return trouble("refused", `The request to ${place} cannot be sent: ${ending.reason}. Check its key and headers.`);
    case "unreachable":
    case "cut":
      return trouble("network", `${place} could not be reached: ${ending.reason}. Check base_url and the network.`);
    case "aborted":
      return interrupted();
    case "ended":
      throw new Error("an answer ended that never began");
  }
}

function unfinishedTrouble(provider: Provider, ending: Ending): Trouble {
  if (ending.kind === "silent") {
    return trouble("limit", `${provider.name} fell silent for ${provider.idleMs} ms in the middle of its answer.`, {
      limit: "idle",
    });
  }
  const reason = "reason" in ending ? ending.reason : "the stream ended before the answer was complete";
  return trouble("stream_cut", `The answer of ${provider.name} was cut off: ${reason}.`);
}

const notAStream = (provider: Provider, type: string | undefined, body: string): Trouble =>
  trouble(
    "protocol",
    `${provider.name} did not answer with a stream of events but with ${type}: ${quote(body)} Check base_url and wire_api of ${provider.id}.`,
  );

function withoutSecrets(hide: (text: string) => string, outcome: Attempt): Attempt {
  if (outcome.kind === "replied") return outcome;
  const { fault } = outcome;
  return { ...outcome, fault: { ...fault, message: hide(fault.message) } };
}
