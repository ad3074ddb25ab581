// An object store in a bucket of S3 or of a server that speaks its protocol; requests are signed by aws4fetch.
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { AwsClient } from "aws4fetch";
import { readXmlText } from "../xml/index.ts";
import {
  assertKey,
  type Content,
  type ObjectEntry,
  ObjectExists,
  type ObjectStore,
  type PutOptions,
  piecesOf,
  type StoredObject,
} from "./object-store.ts";
import { errorOf, openS3Requests, type S3Requests } from "./s3-requests.ts";
import { readListing } from "./s3-xml.ts";

export interface S3Options {
  /** Without a slash at its end. */
  endpoint: string;
  region: string;
  bucket: string;
  /** What all keys begin with: empty, or with a slash at its end. */
  prefix: string;
  credentials(): S3Credentials;
  /** Between the attempts of a request whose connection broke; 26 seconds in all unless given. */
  pausesMs?: number[];
  /** Of a request that the server answered with an error of its own; four unless given. */
  retries?: number;
}

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

/** The smallest part that S3 accepts is 5 MiB; larger ones take memory for each upload. */
const partBytes = 8 * 1024 * 1024;

export function openS3Store(options: S3Options): ObjectStore {
  const { endpoint, region, bucket, prefix, credentials, pausesMs, retries = 4 } = options;
  const client = () => new AwsClient({ ...definedOnly(credentials()), service: "s3", region, retries });
  const root = `${endpoint}/${bucket}`;
  const requests = openS3Requests({ root, client, pausesMs });
  const pathOf = (key: string): string => {
    assertKey(key);
    return `/${prefix}${key}`;
  };
  const remove = async (keys: string[]): Promise<void> => {
    for (let at = 0; at < keys.length; at += maxConcurrent)
      await Promise.all(keys.slice(at, at + maxConcurrent).map((key) => requests.end("DELETE", pathOf(key))));
  };
  return {
    description: `bucket ${bucket} at ${endpoint}`,
    put: (key, content, options = {}) => putObject(requests, { key, path: pathOf(key) }, { content, options }),
    async get(key, signal) {
      const response = await requests.send("GET", pathOf(key), { signal, allowed: [404] });
      if (response.status === 404) {
        await response.body?.cancel();
        return null;
      }
      const sizeBytes = Number(response.headers.get("content-length"));
      return { sizeBytes, stream: Readable.fromWeb(response.body as ReadableStream) };
    },
    list: (wanted) => listObjects(requests, { prefix, wanted }),
    remove,
    async removeAll(directory) {
      const keys: string[] = [];
      for await (const { key } of listObjects(requests, { prefix, wanted: `${directory}/` })) keys.push(key);
      await remove(keys);
    },
    async sign(key, { method, expiresSeconds, sizeBytes }) {
      const url = `${root}${pathOf(key)}?X-Amz-Expires=${expiresSeconds}`;
      const headers: Record<string, string> = sizeBytes === undefined ? {} : { "content-length": String(sizeBytes) };
      return (await client().sign(url, { method, headers, aws: { signQuery: true, allHeaders: true } })).url;
    },
  };
}

const maxConcurrent = 8;

const definedOnly = ({ sessionToken, ...keys }: S3Credentials) => ({ ...keys, ...(sessionToken && { sessionToken }) });

interface Target {
  key: string;
  path: string;
}

interface Upload {
  content: Content;
  options: PutOptions;
}

/** What fits into one part is one request; more of it is uploaded in parts, which appear together. */
async function putObject(requests: S3Requests, target: Target, { content, options }: Upload): Promise<StoredObject> {
  const { signal } = options;
  const hash = createHash("sha256");
  const parts = inParts(content, hash);
  const first = (await parts.next()).value ?? Buffer.alloc(0);
  const second = await parts.next();
  const headers: Record<string, string> = options.onlyIfAbsent ? { "if-none-match": "*" } : {};
  if (second.done) {
    const response = await requests.end("PUT", target.path, { body: first, headers, signal, allowed: conflicts });
    if (conflicts.includes(response.status)) throw new ObjectExists(target.key);
    return { sizeBytes: first.length, sha256: hash.digest("hex") };
  }
  const sizeBytes = await putParts(
    requests,
    { ...target, headers },
    { first, second: second.value, rest: parts, signal },
  );
  return { sizeBytes, sha256: hash.digest("hex") };
}

const conflicts = [409, 412];

interface Parts {
  first: Buffer;
  second: Buffer;
  rest: AsyncGenerator<Buffer>;
  signal: AbortSignal | undefined;
}

async function putParts(
  requests: S3Requests,
  { key, path, headers }: Target & { headers: Record<string, string> },
  { first, second, rest, signal }: Parts,
): Promise<number> {
  const begun = await requests.end("POST", `${path}?uploads=`, { signal });
  const uploadId = readXmlText(begun.text, "UploadId");
  if (uploadId === null) throw errorOf(begun, "did not begin an upload in parts");
  const query = `uploadId=${encodeURIComponent(uploadId)}`;
  try {
    const tags: string[] = [];
    let sizeBytes = 0;
    for await (const part of concatenated([first, second], rest)) {
      const sent = await requests.end("PUT", `${path}?partNumber=${tags.length + 1}&${query}`, { body: part, signal });
      tags.push(sent.headers.get("etag") ?? "");
      sizeBytes += part.length;
    }
    const body = Buffer.from(completion(tags));
    const ended = await requests.end("POST", `${path}?${query}`, { body, headers, signal, allowed: conflicts });
    if (conflicts.includes(ended.status)) throw new ObjectExists(key);
    // The status is sent before the parts are joined.
    if (readXmlText(ended.text, "Code") !== null) throw errorOf(ended, "did not join the parts");
    return sizeBytes;
  } catch (error) {
    // Parts take space until they are removed. The first error counts.
    await requests.end("DELETE", `${path}?${query}`).catch(() => {});
    throw error;
  }
}

async function* concatenated(first: Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield* first;
  yield* rest;
}

const completion = (tags: string[]): string =>
  `<CompleteMultipartUpload>${tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</ETag></Part>`).join("")}</CompleteMultipartUpload>`;

/** Each but the last has `partBytes`. */
async function* inParts(content: Content, hash: { update(piece: Uint8Array): unknown }): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const piece of piecesOf(content)) {
    hash.update(piece);
    for (let at = 0; at < piece.length; ) {
      const taken = Buffer.from(piece.subarray(at, at + partBytes - size));
      waiting.push(taken);
      size += taken.length;
      at += taken.length;
      if (size < partBytes) continue;
      yield Buffer.concat(waiting);
      waiting = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(waiting);
}

async function* listObjects(
  requests: S3Requests,
  { prefix, wanted }: { prefix: string; wanted: string },
): AsyncGenerator<ObjectEntry> {
  let token: string | null = null;
  do {
    const query = new URLSearchParams({ "list-type": "2", prefix: prefix + wanted });
    if (token !== null) query.set("continuation-token", token);
    const { entries, next } = readListing((await requests.end("GET", `?${query}`)).text);
    for (const entry of entries) yield { ...entry, key: entry.key.slice(prefix.length) };
    token = next;
  } while (token !== null);
}
