// A client of API v1 for tests: plain HTTP, and streams read to their end.
import type { OutgoingHttpHeaders } from "node:http";
import type { CreateAgent, CreateRun, Run } from "@agentcli/protocol/api";
import { type ApiResponse, readStream, type StreamFrame, sendRequest, splitFrames } from "./http.ts";

/** Not a port but a test client: more than eight methods, because tests call many routes. */
export interface PlatformClient {
  url: string;
  key: string;
  /** Sends JSON where there is a body; resolves with any status. */
  send(method: string, path: string, body?: unknown, headers?: OutgoingHttpHeaders): Promise<ApiResponse>;
  get(path: string, headers?: OutgoingHttpHeaders): Promise<ApiResponse>;
  post(path: string, body?: unknown, headers?: OutgoingHttpHeaders): Promise<ApiResponse>;
  delete(path: string): Promise<ApiResponse>;
  /** The body of a successful GET; rejects on any other status. */
  getJson<Body>(path: string): Promise<Body>;
  create(request: string | CreateAgent, more?: object): Promise<RunIds>;
  followUp(agentId: string, request: string | CreateRun): Promise<RunIds>;
  read(ids: RunIds): Promise<Run>;
  /** The run, once it has ended. */
  waitForRun(ids: RunIds): Promise<Run>;
  /** All frames up to the end of the stream. */
  stream(ids: RunIds, lastEventId?: string): Promise<StreamFrame[]>;
  streamText(ids: RunIds, lastEventId?: string): Promise<string>;
  /** Frames as they come, until `signal` is aborted or the stream ends. */
  follow(ids: RunIds, onFrame: (frame: StreamFrame) => void, signal: AbortSignal): Promise<void>;
}

export interface RunIds {
  agentId: string;
  runId: string;
}

const streamTimeoutMs = 120_000;

export function openClient(url: string, key: string): PlatformClient {
  const authorization = `Bearer ${key}`;
  const send: PlatformClient["send"] = (method, path, body, headers) =>
    sendRequest(url, {
      method,
      path,
      headers: { authorization, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const json = async (method: string, path: string, body?: unknown) => {
    const response = await send(method, path, body);
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
    return JSON.parse(response.text);
  };
  const read: PlatformClient["read"] = ({ agentId, runId }) => json("GET", `/v1/agents/${agentId}/runs/${runId}`);
  const streams = openStreams(url, authorization);
  return {
    url,
    key,
    send,
    get: (path, headers) => send("GET", path, undefined, headers),
    post: (path, body, headers) => send("POST", path, body, headers),
    delete: (path) => send("DELETE", path),
    getJson: (path) => json("GET", path),
    async create(request, more) {
      const { agent, run } = await json("POST", "/v1/agents", { ...promptOf(request), ...more });
      return { agentId: agent.id, runId: run.id };
    },
    async followUp(agentId, request) {
      const { run } = await json("POST", `/v1/agents/${agentId}/runs`, promptOf(request));
      return { agentId, runId: run.id };
    },
    read,
    async waitForRun(ids) {
      await streams.streamText(ids);
      return read(ids);
    },
    ...streams,
  };
}

const promptOf = <Request>(request: string | Request) =>
  typeof request === "string" ? { prompt: { text: request } } : request;

function openStreams(url: string, authorization: string) {
  const streamUrl = ({ agentId, runId }: RunIds) => `${url}/v1/agents/${agentId}/runs/${runId}/stream`;
  const resumed = (lastEventId?: string) => ({
    authorization,
    ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
  });
  const read = (ids: RunIds, lastEventId: string | undefined, onText: (text: string) => void) =>
    readStream(streamUrl(ids), {
      headers: resumed(lastEventId),
      onText,
      signal: AbortSignal.timeout(streamTimeoutMs),
    });
  return {
    async stream(ids: RunIds, lastEventId?: string) {
      const frames: StreamFrame[] = [];
      await read(
        ids,
        lastEventId,
        splitFrames((frame) => frames.push(frame)),
      );
      return frames;
    },
    async streamText(ids: RunIds, lastEventId?: string) {
      const texts: string[] = [];
      await read(ids, lastEventId, (text) => texts.push(text));
      return texts.join("");
    },
    follow: (ids: RunIds, onFrame: (frame: StreamFrame) => void, signal: AbortSignal) =>
      readStream(streamUrl(ids), { headers: resumed(), onText: splitFrames(onFrame), signal }),
  };
}
