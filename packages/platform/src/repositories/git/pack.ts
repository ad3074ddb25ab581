// Formats objects as a pack and its index, as git stores them. Pure.
import { createHash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import { formatOf } from "./layout.ts";
import type { GitObject, ObjectType } from "./loose-object.ts";

export interface Pack {
  /** Of its content. */
  name: string;
  pack: Buffer;
  index: Buffer;
}

/** Of at least one object, each once; without deltas. */
export function formatPack(objects: GitObject[]): Pack {
  const format = formatOf(objects[0]?.name ?? "");
  const sealed = (parts: Buffer[]): Buffer => {
    const content = Buffer.concat(parts);
    return Buffer.concat([content, createHash(format).update(content).digest()]);
  };
  const entries = objects.map(entryOf);
  const pack = sealed([Buffer.from("PACK"), numbers([2, objects.length]), ...entries]);
  const checksum = pack.subarray(-createHash(format).digest().length);
  let offset = 12;
  const packed = objects.map(({ name }, index) => {
    const entry = entries[index] ?? Buffer.alloc(0);
    const record = { name: Buffer.from(name, "hex"), check: crc32(entry), offset };
    offset += entry.length;
    return record;
  });
  packed.sort((one, other) => Buffer.compare(one.name, other.name));
  const upTo = (byte: number) => packed.filter(({ name }) => (name[0] ?? 0) <= byte).length;
  const index = sealed([
    Buffer.from([0xff, 0x74, 0x4f, 0x63]),
    numbers([2, ...Array.from({ length: 256 }, (_, byte) => upTo(byte))]),
    ...packed.map(({ name }) => name),
    numbers(packed.map(({ check }) => check)),
    numbers(packed.map((record) => record.offset)),
    checksum,
  ]);
  return { name: checksum.toString("hex"), pack, index };
}

const typeNumbers: Record<ObjectType, number> = { commit: 1, tree: 2, blob: 3, tag: 4 };

/** The size follows the type: its lowest four bits, then seven at a time; the highest bit of a byte says that more follow. */
function entryOf({ type, content }: GitObject): Buffer {
  const head: number[] = [(typeNumbers[type] << 4) | (content.length & 15)];
  for (let rest = content.length >>> 4; rest > 0; rest >>>= 7) {
    head[head.length - 1] = (head.at(-1) ?? 0) | 0x80;
    head.push(rest & 0x7f);
  }
  return Buffer.concat([Buffer.from(head), deflateSync(content)]);
}

function numbers(values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}
