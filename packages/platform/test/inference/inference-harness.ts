// Calls models through a platform, as any client of the Responses API and with our own client.
import type { ModelRequest } from "@agentcli/engine";
import { openModel, providerDefaults } from "@agentcli/models";
import type { ApiResponse, PlatformClient } from "@agentcli/testkit/platform";
import { expect } from "vitest";
import type { RunHarness } from "../runs/run-harness.ts";

export const path = "/v1/inference/responses";

export interface SentEvent {
  type: string;
  sequence_number: number;
  [member: string]: unknown;
}

/** Each event has its type twice: as its name and in its data. */
export function eventsOf({ bytes: body }: ApiResponse): SentEvent[] {
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

/** Reads streams to their end, unlike `client.send`. */
export async function ask({ url, key }: PlatformClient, body: object): Promise<ApiResponse> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "scripted", ...body }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = bytes.toString("utf8");
  const headers = Object.fromEntries(response.headers);
  return { status: response.status, headers, bytes, text, body: /^\{/.test(text) ? JSON.parse(text) : undefined };
}
export const json = ({ bytes: body }: ApiResponse) => JSON.parse(body.toString());

/** Calls the model as the SDK's local runtime does. */
export function modelThrough({ client, fixture }: RunHarness) {
  const provider = {
    ...providerDefaults,
    id: "platform",
    name: "platform",
    baseUrl: `${client.url}/v1/inference`,
    wireApi: "responses" as const,
    apiKey: fixture.key,
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

export const callsIn = ({ platform: { db } }: RunHarness["fixture"]) =>
  db.selectFrom("inference_calls").selectAll().orderBy("created_at").execute();
