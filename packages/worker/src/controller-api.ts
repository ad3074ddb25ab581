// The API of workers as a controller uses it: JSON requests, and the stream of pending requests.
import { CommandError } from "@agentcli/command-line";

export interface ControllerApi {
  get(path: string, query: Record<string, string>): Promise<unknown>;
  /** False for 404. */
  exists(path: string): Promise<boolean>;
  /** Null if the platform refuses it because of what has happened since (400, 404, 409). */
  post(path: string, body: object): Promise<unknown>;
  /** Settles when the stream has ended, or its cursor has expired. */
  watch(query: Record<string, string>, onEvent: (event: string, data: unknown) => void): Promise<void>;
}

const base = "/v0/private-workers";
const timeoutMs = 60_000;
/** Two heartbeats and some. */
const silenceMs = 50_000;

export function openControllerApi(
  { url, readKey }: { url: string; readKey(): string },
  signal: AbortSignal,
): ControllerApi {
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = { authorization: `Bearer ${readKey()}`, "content-type": "application/json" };
    const response = await fetch(`${url}${base}${path}`, { headers, ...init });
    if (response.status === 401 || response.status === 403)
      throw new CommandError("auth", `The platform refused the key: ${await messageOf(response)}`);
    return response;
  };
  const within = () => AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  return {
    async get(path, query) {
      const response = await send(`${path}?${new URLSearchParams(query)}`, { signal: within() });
      if (!response.ok) throw new Error(`${response.status} ${await messageOf(response)}`);
      return response.json();
    },
    async exists(path) {
      const response = await send(path, { signal: within() });
      await response.body?.cancel();
      if (response.ok || response.status === 404) return response.ok;
      throw new Error(`The platform answered ${response.status}.`);
    },
    async post(path, body) {
      const response = await send(path, { method: "POST", body: JSON.stringify(body), signal: within() });
      if ([400, 404, 409].includes(response.status)) return null;
      if (!response.ok) throw new Error(`${response.status} ${await messageOf(response)}`);
      return response.json();
    },
    async watch(query, onEvent) {
      const end = new AbortController();
      const path = `/pending-requests/stream?${new URLSearchParams(query)}`;
      const response = await send(path, { signal: AbortSignal.any([signal, end.signal]) });
      if (response.status === 410) return;
      if (!response.ok || response.body === null) throw new Error(`${response.status} ${await messageOf(response)}`);
      let silence = setTimeout(() => end.abort(), silenceMs);
      try {
        for await (const { event, data } of readEvents(response.body)) {
          clearTimeout(silence);
          silence = setTimeout(() => end.abort(), silenceMs);
          onEvent(event, data);
        }
      } catch (error) {
        if (!end.signal.aborted) throw error;
      } finally {
        clearTimeout(silence);
      }
    },
  };
}

/** Unknown fields and events are ignored: a newer platform may send more. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; data: unknown }> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const blocks = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
      const [event, data] = [field("event"), field("data")];
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) };
    }
  }
}

async function messageOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { error, message } = JSON.parse(text) as { error?: string | { message?: string }; message?: string };
    return (typeof error === "object" ? error.message : error) ?? message ?? text.slice(0, 300);
  } catch {
    return text.slice(0, 300);
  }
}
