// What every object store promises; the contract suite in test/foundation/objects checks it.
import type { Readable } from "node:stream";
import { Fault } from "../fault.ts";

/** Bytes under keys such as `artifacts/bc-1/2`. An object is complete or not there, and is never changed in part. */
export interface ObjectStore {
  /** For people: a directory or an address, without secrets. */
  readonly description: string;
  /** Replaces an object with the same key. Throws ObjectExists with `onlyIfAbsent` where there is one. */
  put(key: string, content: Content, options?: PutOptions): Promise<StoredObject>;
  /** Null if there is none. The stream fails if the object cannot be read to its end. */
  get(key: string, signal?: AbortSignal): Promise<ObjectContent | null>;
  /** Of objects whose keys begin so, ordered by key. */
  list(prefix: string): AsyncIterable<ObjectEntry>;
  /** Those that are not there count as removed. */
  remove(keys: string[]): Promise<void>;
  /** Every object below this directory of keys, such as `artifacts/bc-1`. */
  removeAll(directory: string): Promise<void>;
  /** An address that needs no other credentials until it expires; null where the store has no addresses. */
  sign(key: string, access: SignedAccess): Promise<string | null>;
}

export type Content = Uint8Array | AsyncIterable<Uint8Array>;

export interface PutOptions {
  onlyIfAbsent?: boolean;
  signal?: AbortSignal;
}

export interface StoredObject {
  sizeBytes: number;
  /** In hexadecimal digits. */
  sha256: string;
}

export interface ObjectContent {
  sizeBytes: number;
  stream: Readable;
}

export interface ObjectEntry {
  key: string;
  sizeBytes: number;
  modifiedAt: Date;
}

export interface SignedAccess {
  method: "GET" | "PUT";
  expiresSeconds: number;
  /** Exactly so much may be put there; absent: any size. */
  sizeBytes?: number;
}

/** The store refused or did not answer. */
export class ObjectStoreFault extends Fault {
  override name = "ObjectStoreFault";
  readonly code = "object_store_unavailable";
}

export class ObjectExists extends Error {
  override name = "ObjectExists";

  constructor(key: string) {
    super(`The object ${key} exists already.`);
  }
}

/** Keys become paths and addresses: names of letters, digits, dots, dashes and underscores, separated by slashes. */
export function assertKey(key: string): void {
  const names = key.split("/");
  if (key.length > 900 || !names.every((name) => /^[\w.-]+$/.test(name) && !/^\.+$/.test(name)))
    throw new Error(`Invalid object key ${JSON.stringify(key.slice(0, 200))}.`);
}

export async function* piecesOf(content: Content): AsyncGenerator<Uint8Array> {
  if (content instanceof Uint8Array) yield content;
  else yield* content;
}

export async function readAll({ stream }: ObjectContent): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
