// `POST /v1/inference/responses`: model calls by API clients over the Responses wire, streamed or not.
import type { InferenceRequest } from "@agentcli/protocol/api";
import { type Activity, type Api, alreadySent, type Call, type PlatformContext, schema } from "../foundation/index.ts";
import { type AdmittedCall, admitCall, eventsOf, executeCall } from "./call.ts";
import type { ResponseEvent } from "./events.ts";

/** Allows conversations with many images. */
const bodyLimitBytes = 110 * 1024 * 1024;

export interface InferenceCalls extends Activity {
  addRoute(api: Api): void;
}

export function openInferenceCalls(platform: PlatformContext): InferenceCalls {
  const active = new Map<Promise<unknown>, AbortController>();

  async function answer({ body, principal, context }: Call<unknown, unknown, InferenceRequest>) {
    const { outgoing } = context.env;
    const disconnected = new AbortController();
    const onClose = () => disconnected.abort();
    outgoing.on("close", onClose);
    if (outgoing.destroyed) onClose();
    const call = await admitCall(platform, body, principal);
    const response = body.stream
      ? stream(call, outgoing, disconnected.signal)
      : executeCall(
          platform,
          call,
          eventsOf(call, () => {}),
          disconnected.signal,
        );
    active.set(response, disconnected);
    try {
      return await response;
    } finally {
      active.delete(response);
      outgoing.off("close", onClose);
    }
  }

  /** Written directly to Node's response. Before the first event, a fault is returned as an HTTP status. */
  async function stream(call: AdmittedCall, outgoing: Outgoing, signal: AbortSignal): Promise<Response> {
    const events = eventsOf(call, (event) => {
      if (!outgoing.headersSent) outgoing.writeHead(200, streamHeaders);
      outgoing.write(encode(event));
      if (outgoing.writableLength > maxUnreadBytes) outgoing.destroy();
    });
    outgoing.setTimeout(unreadTimeoutMs, () => outgoing.destroy());
    const working = setInterval(events.stillWorking, keepAliveMs);
    try {
      await executeCall(platform, call, events, signal);
    } finally {
      clearInterval(working);
    }
    outgoing.end();
    return alreadySent();
  }

  return {
    addRoute: (api) => api.route(route, answer),
    async stop() {
      for (const disconnected of active.values()) disconnected.abort();
      await Promise.allSettled(active.keys());
    },
  };
}

const route = {
  method: "post" as const,
  path: "/v1/inference/responses",
  summary: "Call a model over the Responses API",
  tag: "Inference",
  scope: "inference:create" as const,
  body: schema("inference", "InferenceRequest"),
  bodyLimitBytes,
  bodyTexts: "any" as const,
  answer: {
    status: 200 as const,
    schema: schema("inference", "InferenceResponse"),
    contentType: "text/event-stream",
    description: "The response, or with `stream` its events",
  },
  problems: ["invalid_model" as const, "spend_limit_reached" as const, "unavailable" as const],
};

type Outgoing = Call<unknown, unknown, unknown>["context"]["env"]["outgoing"];

/** Clients time out after a minute of silence; the wire has an event to prevent that. */
const keepAliveMs = 10_000;

/** The model is not slowed down by a slow client; one further behind than a long reply is disconnected. */
const maxUnreadBytes = 16 * 1024 * 1024;

/** Longer than the keep-alive interval: a live client reads something in this time. */
const unreadTimeoutMs = 60_000;

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

const encode = (event: ResponseEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
