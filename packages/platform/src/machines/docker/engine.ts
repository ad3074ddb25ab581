// The Docker Engine API over its Unix socket: requests with JSON, archives in both directions, and streams of processes.
import { type IncomingMessage, request } from "node:http";
import { Duplex, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { MachineUnavailable } from "../provider.ts";

export interface Engine {
  /** The answer; null for 404. Throws with the reason of the daemon for every other failure. */
  call<Answer>(method: "GET" | "POST" | "DELETE", path: string, body?: object): Promise<Answer | null>;
  /** Throws too if the answer is not complete in time. */
  callWithin(limitMs: number, method: "GET" | "POST", path: string): Promise<unknown>;
  /** Sends an archive; settles with the end of the answer. */
  upload(path: string, archive: Readable): Promise<string>;
  download(path: string): Promise<Readable>;
  /** The streams of a process: stdin to write, stdout to read; stderr is passed to `onErrors`. */
  attach(path: string, body: object | null, onErrors?: (data: Buffer) => void): Promise<Duplex>;
}

/** Of Docker 20.10, the oldest that is supported. */
const version = "v1.41";

export function openEngine(socketPath: string): Engine {
  const send = (method: string, path: string, options: SendOptions = {}) =>
    sendRequest(socketPath, { method, path: `/${version}${path}`, ...options });
  const ask = async (method: string, path: string, options: SendOptions) => {
    const response = await send(method, path, options);
    const answer = await text(response);
    if (response.statusCode === 404) return null;
    throwIfFailed(response, answer);
    return answer === "" ? ({} as never) : JSON.parse(answer);
  };
  return {
    call: (method, path, body) => ask(method, path, { body }),
    async callWithin(limitMs, method, path) {
      const signal = AbortSignal.timeout(limitMs);
      try {
        return await ask(method, path, { signal });
      } catch (error) {
        if (!signal.aborted) throw error;
        throw new MachineUnavailable(`The Docker daemon did not answer ${path} within ${limitMs / 1_000} seconds.`);
      }
    },
    async upload(path, archive) {
      const response = await send("POST", path, { archive });
      const answer = await text(response);
      throwIfFailed(response, answer);
      return answer;
    },
    async download(path) {
      const response = await send("GET", path);
      if ((response.statusCode ?? 0) >= 300) throwIfFailed(response, await text(response));
      return response;
    },
    attach: (path, body, onErrors = () => {}) => attach({ socketPath, path: `/${version}${path}`, body, onErrors }),
  };
}

interface SendOptions {
  body?: object | undefined;
  archive?: Readable;
  signal?: AbortSignal;
}

function sendRequest(
  socketPath: string,
  { method, path, body, archive, signal }: SendOptions & { method: string; path: string },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const type = archive ? "application/x-tar" : "application/json";
    const sent = request({ socketPath, method, path, headers: { "content-type": type }, ...(signal && { signal }) });
    sent.once("response", resolve);
    sent.once("error", (error: NodeJS.ErrnoException) => reject(unreachable(socketPath, error)));
    if (archive) archive.once("error", (error) => sent.destroy(error)).pipe(sent);
    else sent.end(body && JSON.stringify(body));
  });
}

interface AttachOptions {
  socketPath: string;
  path: string;
  body: object | null;
  onErrors(data: Buffer): void;
}

function attach({ socketPath, path, body, onErrors }: AttachOptions): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const headers = { connection: "Upgrade", upgrade: "tcp", "content-type": "application/json" };
    const sent = request({ socketPath, method: "POST", path, headers });
    sent.once("upgrade", (_response, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve(separate(socket, onErrors));
    });
    sent.once("response", (response) => {
      void text(response).then((answer) => reject(refusal(answer)), reject);
    });
    sent.once("error", (error: NodeJS.ErrnoException) => reject(unreachable(socketPath, error)));
    sent.end(body ? JSON.stringify(body) : undefined);
  });
}

const headerBytes = 8;
const errorStream = 2;

/** The daemon puts a header before each piece of output: which stream, and how long. */
export function separate(socket: Duplex, onErrors: (data: Buffer) => void): Duplex {
  let rest: Buffer = Buffer.alloc(0);
  const output = new Duplex({
    read: () => void socket.resume(),
    write: (chunk, _encoding, done) => void socket.write(chunk, () => done()),
    final: (done) => void socket.end(() => done()),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (data: Buffer) => {
    rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
    while (rest.length >= headerBytes) {
      const end = headerBytes + rest.readUInt32BE(4);
      if (rest.length < end) break;
      const payload = rest.subarray(headerBytes, end);
      if (rest[0] === errorStream) onErrors(payload);
      else if (!output.push(payload)) socket.pause();
      rest = rest.subarray(end);
    }
  });
  socket.once("end", () => output.push(null));
  socket.once("error", () => output.destroy());
  socket.once("close", () => output.destroy());
  return output;
}

function throwIfFailed({ statusCode = 0 }: IncomingMessage, answer: string): void {
  if (statusCode >= 400) throw refusal(answer);
}

function refusal(answer: string): MachineUnavailable {
  return new MachineUnavailable(`The Docker daemon refused: ${messageOf(answer)}`);
}

function messageOf(answer: string): string {
  try {
    return (JSON.parse(answer) as { message?: string }).message ?? answer;
  } catch {
    return answer;
  }
}

const unreachable = (socketPath: string, { code, message }: NodeJS.ErrnoException): MachineUnavailable =>
  new MachineUnavailable(
    `The Docker daemon cannot be reached at ${socketPath} (${code ?? message}). Start it, or set machines.docker_socket to its socket.`,
  );
