// Asks models through a platform, as any client of the Responses wire and as our own.
import type { ModelRequest } from "@agentcli/engine";
import { openModel, providerDefaults } from "@agentcli/models";
import { expect } from "vitest";
import type { Answer, Client } from "./client.ts";
import type { RunBench } from "./run-bench.ts";

export const path = "/v1/inference/responses";

export interface SentEvent {
  type: string;
  sequence_number: number;
  [member: string]: unknown;
}

/** Each event twice said: by its name and by its type. */
export function eventsOf({ body }: Answer): SentEvent[] {
  const text = body.toString();
  expect(text).not.toContain("\r");
  const blocks = text.split("\n\n");
  expect(blocks.pop()).toBe("");
  return blocks.map((block) => {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
    const event = JSON.parse(data ?? "") as SentEvent;
    expect(event.type).toBe(name);
    return event;
  });
}

export const ask = (client: Client, body: object) => client.send("POST", path, { model: "scripted", ...body });
export const json = ({ body }: Answer) => JSON.parse(body.toString());

/** As the SDK's local runtime asks. */
export function modelThrough({ client, spine }: RunBench) {
  const provider = {
    ...providerDefaults,
    id: "platform",
    name: "platform",
    baseUrl: `${client.url}/v1/inference`,
    wireApi: "responses" as const,
    apiKey: spine.key,
    retryBaseMs: 1,
  };
  return openModel(provider, { clientName: "test", clientVersion: "0", random: Math.random });
}

export const question: ModelRequest = {
  model: "scripted",
  instructions: "Be brief.",
  messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }],
  tools: [],
  cacheKey: "thread",
  turnId: "turn",
};
export const never = new AbortController().signal;

export const callsIn = ({ platform: { db } }: RunBench["spine"]) =>
  db.selectFrom("inference_calls").selectAll().orderBy("created_at").execute();
