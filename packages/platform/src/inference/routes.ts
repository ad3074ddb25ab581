// `POST /v1/inference/responses`: models for programs outside, over the Responses wire, as a stream or in one piece.
import { InferenceRequest, InferenceResponse } from "@agentcli/protocol/api";
import { type Api, alreadySent, type Call } from "../http/index.ts";
import type { Activity, Platform } from "../platform.ts";
import { type AdmittedCall, admitCall, carryOut, eventsOf } from "./call.ts";
import type { ResponseEvent } from "./events.ts";

/** Conversations with many images. */
const bodyLimitBytes = 110 * 1024 * 1024;

export interface Inference extends Activity {
  addRoute(api: Api): void;
}

export function openInference(platform: Platform): Inference {
  const underWay = new Map<Promise<unknown>, AbortController>();

  async function answer({ body, principal, context }: Call<unknown, unknown, InferenceRequest>) {
    const { outgoing } = context.env;
    const gone = new AbortController();
    const leave = () => gone.abort();
    outgoing.on("close", leave);
    if (outgoing.destroyed) leave();
    const call = await admitCall(platform, body, principal);
    const answering = body.stream
      ? stream(call, outgoing, gone.signal)
      : carryOut(
          platform,
          call,
          eventsOf(call, () => {}),
          gone.signal,
        );
    underWay.set(answering, gone);
    try {
      return await answering;
    } finally {
      underWay.delete(answering);
      outgoing.off("close", leave);
    }
  }

  /** Written on Node's own response. Until the first event a fault is answered with its status. */
  async function stream(call: AdmittedCall, outgoing: Outgoing, signal: AbortSignal): Promise<Response> {
    const events = eventsOf(call, (event) => {
      if (!outgoing.headersSent) outgoing.writeHead(200, streamHeaders);
      outgoing.write(encode(event));
      if (outgoing.writableLength > mostUnreadBytes) outgoing.destroy();
    });
    outgoing.setTimeout(longestUnreadMs, () => outgoing.destroy());
    const working = setInterval(events.stillWorking, betweenSignsMs);
    try {
      await carryOut(platform, call, events, signal);
    } finally {
      clearInterval(working);
    }
    outgoing.end();
    return alreadySent();
  }

  return {
    addRoute: (api) => api.route(route, answer),
    async stop() {
      for (const gone of underWay.values()) gone.abort();
      await Promise.allSettled(underWay.keys());
    },
  };
}

const route = {
  method: "post" as const,
  path: "/v1/inference/responses",
  summary: "Ask a model, as over the Responses API",
  tag: "Inference",
  scope: "inference:create" as const,
  body: InferenceRequest,
  bodyLimitBytes,
  bodyTexts: "any" as const,
  answer: {
    status: 200 as const,
    schema: InferenceResponse,
    contentType: "text/event-stream",
    description: "The response, or with `stream` its events",
  },
  problems: ["invalid_model" as const, "spend_limit_reached" as const, "unavailable" as const],
};

type Outgoing = Call<unknown, unknown, unknown>["context"]["env"]["outgoing"];

/** Clients give up on a server that says nothing for a minute; their wire has an event for that. */
const betweenSignsMs = 10_000;

/** Models do not wait for whoever reads. One who falls further behind than a long answer has left. */
const mostUnreadBytes = 16 * 1024 * 1024;

/** Signs that the answer is on its way come more often, so that in this time a reader takes in something. */
const longestUnreadMs = 60_000;

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

const encode = (event: ResponseEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
