// A client of API v1 for tests: plain HTTP, and streams read to their end.
import { request } from "node:http";
import type { CreateAgent, CreateRun, Run } from "@agentcli/protocol/api";

export interface Client {
  url: string;
  get<Body>(path: string): Promise<Body>;
  /** Whatever it answers. */
  send(method: string, path: string, body?: unknown): Promise<Answer>;
  create(body: CreateAgent): Promise<Ids>;
  followUp(agentId: string, body: CreateRun): Promise<Ids>;
  read(ids: Ids): Promise<Run>;
  /** All frames up to `done`. */
  stream(ids: Ids, lastEventId?: string): Promise<SentFrame[]>;
  /** Frames as they come, until the caller has enough. */
  follow(ids: Ids, onFrame: (frame: SentFrame) => void, signal: AbortSignal): Promise<void>;
}

export interface Ids {
  agentId: string;
  runId: string;
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

export interface SentFrame {
  id: string | undefined;
  event: string;
  data: Record<string, unknown>;
}

export function openClient(url: string, key: string): Client {
  const send = (method: string, path: string, body?: unknown) => exchange(new URL(path, url), { method, key, body });
  const json = async (method: string, path: string, body?: unknown) => {
    const answer = await send(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body.toString());
  };
  const follow: Client["follow"] = ({ agentId, runId }, onFrame, signal) =>
    readStream(new URL(`/v1/agents/${agentId}/runs/${runId}/stream`, url), { key, onFrame, signal });
  return {
    url,
    send,
    get: (path) => json("GET", path),
    async create(body) {
      const { agent, run } = await json("POST", "/v1/agents", body);
      return { agentId: agent.id, runId: run.id };
    },
    async followUp(agentId, body) {
      const { run } = await json("POST", `/v1/agents/${agentId}/runs`, body);
      return { agentId, runId: run.id };
    },
    read: ({ agentId, runId }) => json("GET", `/v1/agents/${agentId}/runs/${runId}`),
    async stream({ agentId, runId }, lastEventId) {
      const frames: SentFrame[] = [];
      const target = new URL(`/v1/agents/${agentId}/runs/${runId}/stream`, url);
      const never = new AbortController().signal;
      await readStream(target, { key, lastEventId, onFrame: (frame) => frames.push(frame), signal: never });
      return frames;
    },
    follow,
  };
}

interface Sending {
  method: string;
  key: string;
  body: unknown;
}

function exchange(target: URL, { method, key, body }: Sending): Promise<Answer> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = { authorization: `Bearer ${key}`, ...(text !== undefined && { "content-type": "application/json" }) };
  return new Promise((resolve, reject) => {
    const sent = request(target, { method, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece) => pieces.push(piece));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) }),
      );
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

interface Reading {
  key: string;
  lastEventId?: string | undefined;
  onFrame(frame: SentFrame): void;
  signal: AbortSignal;
}

/** Settles when the stream ends, is cut off, or is no longer wanted. */
function readStream(target: URL, { key, lastEventId, onFrame, signal }: Reading): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, ...(lastEventId && { "last-event-id": lastEventId }) };
  return new Promise((resolve, reject) => {
    const sent = request(target, { headers, signal }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`stream: ${response.statusCode}`));
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        const blocks = (rest + text).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) onFrame(readFrame(block));
      });
      response.on("close", resolve);
      response.on("error", () => resolve());
    });
    sent.on("error", () => resolve());
    sent.end();
  });
}

function readFrame(block: string): SentFrame {
  const fields = new Map(
    block.split("\n").map((line): [string, string] => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  return { id: fields.get("id"), event: fields.get("event") ?? "", data: JSON.parse(fields.get("data") ?? "{}") };
}
