// What the scripted services have in common: a server that can be made to refuse, to be busy and not to answer.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface FakeKeyService {
  endpoint: string;
  /** The operations of all requests, in their order. */
  operations: string[];
  /** The next requests are refused so. */
  failNext(count: number, how: Failure): void;
  /** One request is refused, after this number of others. */
  failAfter(count: number, how: Failure): void;
  /** No more of them. */
  endFailures(): void;
  /** Every request for this operation is denied from now on; null: none is any more. */
  refuse(operation: string | null): void;
  /** From now on requests get no answer, or get one again. */
  setSilent(isSilent: boolean): void;
  /** What is encrypted from now on is under a new version of the key; the old ones stay. */
  rotate(): void;
  /** Versions of the key before the newest do not decrypt any more. */
  retire(): void;
  close(): Promise<void>;
}

export type Failure = "throttled" | "denied" | "broken";

export interface Exchange {
  request: IncomingMessage;
  body: Buffer;
}

export interface Answer {
  status: number;
  body: unknown;
}

export interface Script {
  operationOf(exchange: Exchange): string;
  answer(exchange: Exchange): Answer;
  failures: Record<Failure, Answer>;
  rotate(): void;
  retire(): void;
}

export async function startKeyService({
  operationOf,
  answer,
  failures,
  rotate,
  retire,
}: Script): Promise<FakeKeyService> {
  const operations: string[] = [];
  const failing: (Failure | null)[] = [];
  let isSilent = false;
  let refused: string | null = null;
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const exchange = { request, body: Buffer.concat(pieces) };
    const operation = operationOf(exchange);
    operations.push(operation);
    if (isSilent) return;
    const failure = operation === refused ? "denied" : failing.shift();
    const { status, body } = failure === undefined || failure === null ? answer(exchange) : failures[failure];
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    operations,
    failNext: (count, how) => void failing.push(...Array.from({ length: count }, () => how)),
    failAfter: (count, how) => void failing.push(...Array.from({ length: count }, () => null), how),
    endFailures: () => void failing.splice(0),
    refuse(operation) {
      refused = operation;
    },
    setSilent(silent) {
      isSilent = silent;
    },
    rotate,
    retire,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A key that is never shown, with all its versions. */
export function newKey() {
  const versions: (Buffer | null)[] = [randomBytes(32)];
  return {
    rotate: () => void versions.push(randomBytes(32)),
    retire: () => void versions.fill(null, 0, -1),
    newest: () => versions.length,
    isRetired: (version: number) => versions[version - 1] === null,
    encrypt(text: Buffer, about: string): Buffer {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", versions.at(-1) ?? "", nonce).setAAD(Buffer.from(about));
      const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
    },
    /** Null for what was changed, or encrypted with another key, version or for something else. */
    decrypt(sealed: Buffer, about: string, version: number): Buffer | null {
      const key = versions[version - 1];
      if (!key || sealed.length < 28) return null;
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12)).setAAD(Buffer.from(about));
      decipher.setAuthTag(sealed.subarray(12, 28));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]);
      } catch {
        return null;
      }
    },
  };
}
