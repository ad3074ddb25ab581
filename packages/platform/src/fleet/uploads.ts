// Large artifacts come from a worker through the object store: it puts them there by a signed address, sealed with a key that this
// server has made for each, and this server reads them from there.
import { createDecipheriv, randomBytes, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { FileSync } from "@agentcli/workspace";
import { z } from "zod";
import type { ObjectStore } from "../foundation/index.ts";
import { type Caller, readAnswer } from "./calls.ts";

export interface UploadContext {
  /** Name of the agent's directories. */
  name: string;
  /** The agent's files on this server. */
  directory: string;
  /** Of all files that come from the worker. */
  allowed: Parameters<FileSync["applyChanges"]>[2];
  store: ObjectStore;
}

/** As many and as large as artifacts may be. */
const maxFiles = 1_000;
const maxFileBytes = 200 * 1024 * 1024;
const expiresSeconds = 900;
const nonceBytes = 12;
const tagBytes = 16;

const Listed = z.object({
  files: z.array(z.object({ path: z.string().max(4_096), sizeBytes: z.int().positive() })).max(maxFiles),
});
const Uploaded = z.object({ uploaded: z.array(z.string()).max(maxFiles) });

export interface FetchedArtifacts {
  paths: string[];
  bytes: number;
}

/**
 * Those that are here now; all others come with the files of the agent, also after the first failure: it costs the run
 * nothing but time. A lost connection is noticed by what is asked next.
 */
export async function fetchArtifacts(call: Caller, context: UploadContext, sync: FileSync): Promise<FetchedArtifacts> {
  const fetched: FetchedArtifacts = { paths: [], bytes: 0 };
  const { maxBytes } = context.allowed;
  try {
    for (const file of await announced(call, context)) {
      if (maxBytes !== null && fetched.bytes + file.sizeBytes > maxBytes) break;
      if (!(await fetchOne(call, { ...context, file }, sync))) break;
      fetched.paths.push(file.path);
      fetched.bytes += file.sizeBytes;
    }
  } catch {
    // The time limit, the object store, or an answer that is not one.
  }
  return fetched;
}

type Announced = z.infer<typeof Listed>["files"][number];

/** Each path once, and artifacts alone. */
async function announced(call: Caller, { name }: UploadContext): Promise<Announced[]> {
  const { files } = readAnswer("artifacts.list", Listed, await call.plain("artifacts.list", { agent: name }));
  const artifacts = files.filter(({ path, sizeBytes }) => path.startsWith(".artifacts/") && sizeBytes <= maxFileBytes);
  return [...new Map(artifacts.map((file) => [file.path, file])).values()];
}

/** False if it did not arrive, or is not what the worker has announced. */
async function fetchOne(
  call: Caller,
  { file, ...context }: UploadContext & { file: Announced },
  sync: FileSync,
): Promise<boolean> {
  const offer = await makeOffer(file, context);
  // This store has no addresses.
  if (offer === null) return false;
  const { path, url, key, objectKey } = offer;
  try {
    const files = [{ path, url, key: key.toString("base64") }];
    const answer = await call.plain("artifacts.upload", { agent: context.name, files });
    const { uploaded } = readAnswer("artifacts.upload", Uploaded, answer);
    return uploaded.includes(path) && (await write(offer, context, sync));
  } finally {
    await context.store.remove([objectKey]).catch(() => {});
  }
}

interface Offer {
  path: string;
  sizeBytes: number;
  objectKey: string;
  url: string;
  key: Buffer;
}

/** Its object is removed with the artifacts of the agent at the latest. */
async function makeOffer(
  { path, sizeBytes }: { path: string; sizeBytes: number },
  { name, store }: UploadContext,
): Promise<Offer | null> {
  const objectKey = `artifacts/${name}/upload-${randomUUID()}`;
  const size = sizeBytes + nonceBytes + tagBytes;
  const url = await store.sign(objectKey, { method: "PUT", expiresSeconds, sizeBytes: size });
  return url === null ? null : { path, sizeBytes, objectKey, url, key: randomBytes(32) };
}

/** By the rules for files of workers. False if it is not what the worker has announced. */
async function write(offer: Offer, { directory, allowed, store }: UploadContext, sync: FileSync): Promise<boolean> {
  const found = await store.get(offer.objectKey);
  if (found === null || found.sizeBytes !== offer.sizeBytes + nonceBytes + tagBytes) {
    found?.stream.destroy();
    return false;
  }
  // Its errors are those of the reader below, which may have stopped by then.
  const change = Readable.from(asChange(offer, found.stream), { objectMode: false }).on("error", () => {});
  try {
    await sync.applyChanges(change, directory, allowed);
    return true;
  } finally {
    change.destroy();
    found.stream.destroy();
  }
}

/** The last part is passed on once the whole was authentic. */
async function* asChange({ path, sizeBytes, key }: Offer, from: Readable): AsyncGenerator<Buffer> {
  const header = Buffer.from(JSON.stringify({ kind: "file", path, mode: 0o600, size: sizeBytes }));
  yield lengthOf(header.length);
  yield header;
  let rest = Buffer.alloc(0);
  let decipher: ReturnType<typeof openDecipher> | undefined;
  for await (const part of from) {
    rest = Buffer.concat([rest, part as Buffer]);
    if (decipher === undefined && rest.length >= nonceBytes) {
      decipher = openDecipher(key, rest.subarray(0, nonceBytes));
      rest = rest.subarray(nonceBytes);
    }
    if (decipher === undefined || rest.length <= keptBytes) continue;
    yield decipher.update(rest.subarray(0, -keptBytes));
    rest = rest.subarray(-keptBytes);
  }
  if (decipher === undefined) return;
  const last = decipher.update(rest.subarray(0, -tagBytes));
  decipher.setAuthTag(rest.subarray(-tagBytes));
  decipher.final();
  yield last;
  yield lengthOf(0);
}

/** More than the tag, so that the file is not complete before it was checked. */
const keptBytes = tagBytes + 1;

const openDecipher = (key: Buffer, nonce: Buffer) => createDecipheriv("aes-256-gcm", key, nonce);

function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes);
  return length;
}
