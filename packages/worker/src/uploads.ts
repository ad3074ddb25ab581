// Large artifacts of an agent go straight to the object store, sealed; the platform reads them from there. What does not arrive is
// sent over the connection like any other file.
import { createCipheriv, randomBytes } from "node:crypto";
import { constants, type ReadStream } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { WorkerRequest } from "@agentcli/protocol/worker-link";
import { loadFileSync } from "@agentcli/workspace";
import { agentOf, proxyFor } from "./connection.ts";
import { agentFiles, syncStateFile } from "./files.ts";

export interface ArtifactUploads {
  /** Those that have changed since the platform last had all files. No command may run meanwhile. */
  list(agent: string): Promise<ListedArtifact[]>;
  /** The paths of those that have arrived. No command may run meanwhile. */
  upload(request: WorkerRequest<"artifacts.upload">): Promise<string[]>;
}

export interface ListedArtifact {
  /** As in the changes that are exchanged. */
  path: string;
  sizeBytes: number;
}

/** Smaller ones are sent faster than they are announced. */
const minBytes = 1024 * 1024;
const maxFiles = 1_000;
const timeoutMs = 600_000;
const connectTimeoutMs = 10_000;

export interface UploadOptions {
  dataDirectory: string;
  /** Of the platform: without TLS, addresses without TLS are used, too. */
  url: string;
  variables: NodeJS.ProcessEnv;
  log(line: string): void;
}

export function openUploads({ dataDirectory, url: platform, variables, log }: UploadOptions): ArtifactUploads {
  const signatures = (agent: string) => listArtifacts(agentFiles(dataDirectory, agent));
  return {
    async list(agent) {
      const { readSyncState } = await loadFileSync();
      const before = (await readSyncState(syncStateFile(dataDirectory, agent)))?.listing;
      const changed = (await signatures(agent)).filter(([path, signature]) => before?.get(path) !== signature);
      return changed.flatMap(([path, signature]) => artifactOf(path, signature)).slice(0, maxFiles);
    },
    async upload({ agent, files }) {
      const found = (await signatures(agent)).flatMap(([path, signature]) => artifactOf(path, signature));
      const existing = new Map(found.map((artifact) => [artifact.path, artifact]));
      const arrived: string[] = [];
      for (const { path, url, key } of files) {
        const artifact = existing.get(path);
        if (artifact === undefined || (new URL(url).protocol !== "https:" && platform.startsWith("https:"))) continue;
        const source = { ...artifact, directory: agentFiles(dataDirectory, agent) };
        try {
          await put(source, { url: new URL(url), key: Buffer.from(key, "base64"), variables });
          arrived.push(path);
        } catch (error) {
          log(
            `The object store ${new URL(url).host} was not reached: ${(error as Error).message}. Artifacts go through the platform.`,
          );
          return arrived;
        }
      }
      return arrived;
    },
  };
}

const artifactsDirectory = ".artifacts";

/** The paths as in the changes that are exchanged. No link is followed. */
async function listArtifacts(files: string): Promise<[string, string][]> {
  const directory = join(files, artifactsDirectory);
  if (!(await lstat(directory).catch(() => undefined))?.isDirectory()) return [];
  const { listFiles } = await loadFileSync();
  return [...(await listFiles(directory))].map(([path, signature]) => [`${artifactsDirectory}/${path}`, signature]);
}

/** Regular files alone. */
function artifactOf(path: string, signature: string): ListedArtifact[] {
  const [kind, , size] = signature.split(" ");
  const sizeBytes = Number(size);
  return kind === "f" && sizeBytes >= minBytes ? [{ path, sizeBytes }] : [];
}

interface Target {
  url: URL;
  key: Buffer;
  variables: NodeJS.ProcessEnv;
}

/** AES-256-GCM: nonce, content, tag. */
async function put(source: ListedArtifact & { directory: string }, { url, key, variables }: Target): Promise<void> {
  const address = Buffer.concat([Buffer.from(`${source.directory}/`), Buffer.from(source.path, "latin1")]);
  const file = await open(address, constants.O_RDONLY | constants.O_NOFOLLOW);
  const proxy = proxyFor(url, variables);
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const request = send(url, {
    method: "PUT",
    headers: { "content-length": source.sizeBytes + sealedBytes },
    signal: AbortSignal.timeout(timeoutMs),
    ...(proxy && { agent: agentOf(proxy) }),
  });
  request.setTimeout(connectTimeoutMs, () => request.destroy(new Error("it did not answer")));
  const answered = new Promise<IncomingMessage>((resolve, reject) =>
    request.on("response", resolve).on("error", reject),
  );
  answered.catch(() => {});
  try {
    await pipeline(sealed(file.createReadStream({ end: source.sizeBytes - 1 }), key), request);
    const { statusCode = 0 } = (await answered).resume();
    if (statusCode < 200 || statusCode > 299) throw new Error(`it answered ${statusCode}`);
  } finally {
    request.destroy();
    await file.close().catch(() => {});
  }
}

const nonceBytes = 12;
const sealedBytes = nonceBytes + 16;

async function* sealed(content: ReadStream, key: Buffer): AsyncGenerator<Buffer> {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  yield nonce;
  for await (const part of content) yield cipher.update(part as Buffer);
  yield cipher.final();
  yield cipher.getAuthTag();
}
