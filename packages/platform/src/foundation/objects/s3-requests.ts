// Signed requests to a bucket. Errors say what the server said, without keys.
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { AwsClient } from "aws4fetch";
import { readXmlText } from "../xml/index.ts";
import { ObjectStoreFault } from "./object-store.ts";

export interface S3Requests {
  /** Throws ObjectStoreFault for a status that is neither a success nor `allowed`. */
  send(method: string, path: string, options?: RequestOptions): Promise<Response>;
  /** Reads the answer to its end. */
  end(method: string, path: string, options?: RequestOptions): Promise<S3Answer>;
}

export interface RequestOptions {
  body?: Buffer;
  headers?: Record<string, string>;
  allowed?: number[];
  signal?: AbortSignal | undefined;
}

export interface S3Answer {
  status: number;
  headers: Headers;
  text: string;
}

export interface S3RequestsOptions {
  /** The address of the bucket. */
  root: string;
  client(): AwsClient;
  /** Before the second attempt of a request whose connection broke, and each later one. */
  pausesMs?: number[] | undefined;
}

export function openS3Requests({ root, client, pausesMs = usualPausesMs }: S3RequestsOptions): S3Requests {
  const send: S3Requests["send"] = async (method, path, { body, headers, allowed = [], signal } = {}) => {
    const digest = createHash("sha256")
      .update(body ?? "")
      .digest("hex");
    const request = {
      method,
      headers: { ...headers, "x-amz-content-sha256": digest },
      ...(body && { body: new Uint8Array(body) }),
      ...(signal && { signal }),
    };
    const response = await fetchAgain(() => client().fetch(`${root}${path}`, request), { root, pausesMs }, signal);
    if (response.ok || allowed.includes(response.status)) return response;
    throw errorOf({ status: response.status, headers: response.headers, text: await response.text() }, "refused");
  };
  return {
    send,
    async end(method, path, options) {
      const response = await send(method, path, options);
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
}

/** A server that restarts is back by then. */
const usualPausesMs = [200, 1_000, 5_000, 20_000];

/** Server errors are tried again by aws4fetch; a connection that broke is tried again here. Each request may be repeated. */
async function fetchAgain(
  request: () => Promise<Response>,
  { root, pausesMs }: { root: string; pausesMs: number[] },
  signal: AbortSignal | undefined,
): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await request();
    } catch (error) {
      if (signal?.aborted) throw error;
      const pauseMs = pausesMs[attempt];
      if (pauseMs === undefined)
        throw new ObjectStoreFault(
          `The object store ${root} did not answer: ${reasonOf(error)}. Check object_store.endpoint and the network.`,
          { cause: error },
        );
      await pause(pauseMs, undefined, signal && { signal });
    }
  }
}

const reasonOf = (error: unknown): string => {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
};

const remedies: Record<string, string> = {
  NoSuchBucket: "Create the bucket, or change object_store.bucket.",
  AccessDenied: "Allow these credentials to read, write, list and delete objects of the bucket.",
  InvalidAccessKeyId: "Check the variable that object_store.access_key_id_env names.",
  SignatureDoesNotMatch: "Check the variable that object_store.secret_access_key_env names.",
};

export function errorOf({ status, text }: S3Answer, what: string): ObjectStoreFault {
  const code = readXmlText(text, "Code") ?? String(status);
  const message = readXmlText(text, "Message") ?? "";
  const remedy = remedies[code] ?? "See the log of the object store.";
  return new ObjectStoreFault(
    `The object store ${what}: ${code} ${message.slice(0, 200)}`.trimEnd().concat(`. ${remedy}`),
  );
}
