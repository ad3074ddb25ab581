// Thread and turn ids: UUID version 7, so that they sort by time.
import { closeSync, openSync, readSync } from "node:fs";

/** `seed`: 16 bytes from which the rest of the id is made, so that the same seed gives the same id. */
export function newId(nowMs: number, seed?: Uint8Array): string {
  const bytes = seed ? Buffer.from(seed) : randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Creation time of an id; the current time for an id of another format. */
export function timeOf(id: string): Date {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id) ?? [];
  return high && low ? new Date(Number.parseInt(high + low, 16)) : new Date();
}

/** From the kernel directly: loading node:crypto for it costs 3 ms at every start. */
function randomBytes(length: number): Buffer {
  const file = openSync("/dev/urandom", "r");
  try {
    const bytes = Buffer.alloc(length);
    readSync(file, bytes, 0, length, null);
    return bytes;
  } finally {
    closeSync(file);
  }
}
