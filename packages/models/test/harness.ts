// A model on either wire with a scripted server, and delays that take no time and are recorded.
import type { ModelFault, ModelProgress, ModelReply, ModelRequest } from "@agentcli/engine";
import type { Block } from "@agentcli/protocol";
import { type LoggedRequest, type Reply, type Script, startModelServer } from "@agentcli/testkit";
import { onTestFinished } from "vitest";
import { type Client, openModel, type Provider, providerDefaults } from "../src/index.ts";
import { expectDescribed } from "./described.ts";

export type WireName = Provider["wireApi"];

export interface Exchange {
  reply: ModelReply;
  /** Without `settled`, which only some wires report. */
  progress: ModelProgress[];
  settled: Block[];
}

export interface ModelHarness {
  /** Milliseconds of each delay between attempts. */
  waits: number[];
  requests(): LoggedRequest[];
  closeServer(): Promise<void>;
  ask(request?: Partial<ModelRequest>, options?: AskOptions): Promise<Exchange>;
}

export interface AskOptions {
  signal?: AbortSignal;
  onProgress?: (progress: ModelProgress) => void;
}

export const secretKey = "sk-test-0123456789abcdef";

export async function openHarness(
  wireApi: WireName,
  script: Script | Reply[],
  changes: Partial<Provider> & Pick<Partial<Client>, "delay" | "random"> = {},
): Promise<ModelHarness> {
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  onTestFinished(() => expectDescribed(wireApi, server.requests()));
  const waits: number[] = [];
  const { delay, random, ...provider } = changes;
  const client: Client = {
    clientName: "agentcli",
    clientVersion: "1.2.3",
    random: random ?? (() => 0.5),
    delay: delay ?? (async (ms) => void waits.push(ms)),
  };
  const model = openModel({ ...testProvider(server.url, wireApi), ...provider }, client);
  return {
    waits,
    requests: server.requests,
    closeServer: server.close,
    async ask(request = {}, { signal = new AbortController().signal, onProgress } = {}) {
      const progress: ModelProgress[] = [];
      const settled: Block[] = [];
      const collect = (update: ModelProgress) => {
        if (update.type === "settled") settled.push(update.block);
        else progress.push(update);
        onProgress?.(update);
      };
      return { reply: await model.reply({ ...plainRequest, ...request }, collect, signal), progress, settled };
    },
  };
}

export const testProvider = (baseUrl: string, wireApi: WireName): Provider => ({
  ...providerDefaults,
  id: "test",
  name: "Test server",
  baseUrl,
  wireApi,
  apiKey: secretKey,
});

export const plainRequest: ModelRequest = {
  model: "gpt-5.4",
  instructions: "Be brief.",
  messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }],
  tools: [],
  cacheKey: "thread-1",
  turnId: "turn-1",
};

export const textOf = (progress: ModelProgress[], type: "text" | "reasoning"): string =>
  progress.map((update) => (update.type === type ? update.delta : "")).join("");

export async function faultOf(exchange: Promise<Exchange>): Promise<ModelFault> {
  const { reply } = await exchange;
  if (reply.kind !== "fault") throw new Error(`expected a fault, got ${JSON.stringify(reply)}`);
  return reply.fault;
}
