// A scripted S3: one bucket in memory. Every request must be signed; lists come in pages of three.
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type AwsKeys, signatureError } from "../aws/index.ts";

export interface FakeS3 extends AwsKeys {
  endpoint: string;
  bucket: string;
  /** By key. */
  objects: Map<string, Buffer>;
  /** Uploads in parts that were begun and neither joined nor removed. */
  unfinishedUploads(): number;
  /** The next requests get this status, as an overloaded server answers. */
  failNext(count: number, status?: number): void;
  close(): Promise<void>;
}

export async function startFakeS3(): Promise<FakeS3> {
  const keys: AwsKeys = { accessKeyId: "AKIATEST", secretAccessKey: "test secret/+", region: "eu-test-1" };
  const state: State = { bucket: "test-bucket", objects: new Map(), uploads: new Map(), modified: new Map() };
  const failing = { count: 0, status: 503 };
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    if (failing.count > 0) {
      failing.count -= 1;
      fail(response, failing.status, "SlowDown");
      return;
    }
    const error = signatureError({ request, body }, keys, "s3");
    if (error !== null) fail(response, 403, error);
    else answer({ request, response, body }, state);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    ...keys,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bucket: state.bucket,
    objects: state.objects,
    unfinishedUploads: () => state.uploads.size,
    failNext(count, status = 503) {
      Object.assign(failing, { count, status });
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface State {
  bucket: string;
  objects: Map<string, Buffer>;
  modified: Map<string, Date>;
  uploads: Map<string, Map<number, Buffer>>;
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  body: Buffer;
}

function answer(exchange: Exchange, state: State): ServerResponse {
  const { request, response } = exchange;
  const url = new URL(request.url ?? "/", "http://host");
  const [, bucket, ...rest] = url.pathname.split("/").map(decodeURIComponent);
  const key = rest.join("/");
  const query = url.searchParams;
  if (bucket !== state.bucket) return fail(response, 404, "NoSuchBucket");
  if (key === "") return list(response, query, state);
  if (query.has("uploads")) return begin(response, state);
  const uploadId = query.get("uploadId");
  if (uploadId !== null) return continueUpload(exchange, { key, uploadId, query }, state);
  if (request.method === "PUT") return store(exchange, { key, content: exchange.body }, state);
  if (request.method === "DELETE") {
    state.objects.delete(key);
    return response.writeHead(204).end();
  }
  const found = state.objects.get(key);
  if (found === undefined) return fail(response, 404, "NoSuchKey");
  return response.writeHead(200, { "content-length": found.length }).end(found);
}

function store(
  { request, response }: Exchange,
  { key, content }: { key: string; content: Buffer },
  state: State,
): ServerResponse {
  if (request.headers["if-none-match"] === "*" && state.objects.has(key))
    return fail(response, 412, "PreconditionFailed");
  state.objects.set(key, content);
  state.modified.set(key, new Date());
  return response.writeHead(200, { etag: etagOf(content) }).end("<Result></Result>");
}

function begin(response: ServerResponse, { uploads }: State): ServerResponse {
  const id = randomUUID();
  uploads.set(id, new Map());
  return response.end(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
}

const minPartBytes = 5 * 1024 * 1024;

function continueUpload(
  exchange: Exchange,
  { key, uploadId, query }: { key: string; uploadId: string; query: URLSearchParams },
  state: State,
): ServerResponse {
  const { request, response, body } = exchange;
  const parts = state.uploads.get(uploadId);
  if (parts === undefined) return fail(response, 404, "NoSuchUpload");
  if (request.method === "PUT") {
    parts.set(Number(query.get("partNumber")), body);
    return response.writeHead(200, { etag: etagOf(body) }).end();
  }
  if (request.method === "DELETE") {
    state.uploads.delete(uploadId);
    return response.writeHead(204).end();
  }
  const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)];
  const chosen = named.map(([, number, tag]) => ({ content: parts.get(Number(number)), tag }));
  if (!chosen.every(({ content, tag }) => content !== undefined && etagOf(content) === tag))
    return fail(response, 400, "InvalidPart");
  if (chosen.slice(0, -1).some(({ content }) => (content?.length ?? 0) < minPartBytes))
    return fail(response, 400, "EntityTooSmall");
  const content = Buffer.concat(chosen.flatMap((part) => part.content ?? []));
  if (request.headers["if-none-match"] !== "*" || !state.objects.has(key)) state.uploads.delete(uploadId);
  return store(exchange, { key, content }, state);
}

const pageSize = 3;

function list(response: ServerResponse, query: URLSearchParams, { objects, modified }: State): ServerResponse {
  const after = query.get("continuation-token") ?? "";
  const keys = [...objects.keys()]
    .filter((key) => key.startsWith(query.get("prefix") ?? "") && key > after)
    .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  const page = keys.slice(0, pageSize);
  const contents = page.map(
    (key) =>
      `<Contents><Key>${key}</Key><LastModified>${modified.get(key)?.toISOString()}</LastModified><Size>${objects.get(key)?.length}</Size></Contents>`,
  );
  const isTruncated = keys.length > page.length;
  const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "";
  return response.end(
    `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${contents.join("")}${next}</ListBucketResult>`,
  );
}

const etagOf = (content: Buffer): string => `"${createHash("md5").update(content).digest("hex")}"`;

function fail(response: ServerResponse, status: number, code: string): ServerResponse {
  return response.writeHead(status).end(`<Error><Code>${code}</Code><Message>${code} was answered</Message></Error>`);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
