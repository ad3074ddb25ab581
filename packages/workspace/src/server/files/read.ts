// Reads files for the model: numbered lines of text in bounded amounts, or whole files as bytes.
import { resolve } from "node:path";
import type { ReadRequest, ReadResult } from "@agentcli/protocol";
import type { Place } from "../place.ts";
import { fault, troubleOf } from "./fault.ts";
import { bytesToKeep, showLine, splitLines } from "./lines.ts";
import { looksBinary, type OpenFile, openRegular, readRegular, scan, tooLargeFor } from "./regular.ts";

type FileRequest = ReadRequest["files"][number];
type FileAnswer = ReadResult["files"][number];

const limits = {
  lines: 2000,
  lineCharacters: 2000,
  shownBytes: 256 * 1024,
  bytes: 20 * 1024 * 1024,
  /** All of it is scanned to count its lines. */
  scannedBytes: 256 * 1024 * 1024,
  /** Files of the kernel state no size, and some never end. */
  unsizedBytes: 1024 * 1024,
};

export async function readFiles(place: Place, request: ReadRequest): Promise<ReadResult> {
  const files: FileAnswer[] = [];
  // One by one: twenty images at once would need 400 MiB.
  for (const file of request.files) files.push(await readOne(place, file));
  return { files };
}

const readOne = (place: Place, file: FileRequest) =>
  file.as === "lines" ? readLines(place, file) : readBytes(place, file);

async function readBytes(place: Place, file: FileRequest): Promise<FileAnswer> {
  const content = await readRegular(resolve(place.root, file.path), limits.bytes);
  if (content.kind === "closed") return fault("read", file.path, content.trouble);
  return { kind: "bytes", base64: content.bytes.toString("base64"), size: content.bytes.length };
}

async function readLines(place: Place, file: FileRequest): Promise<FileAnswer> {
  const opening = await openRegular(resolve(place.root, file.path));
  if (opening.kind === "closed") return fault("read", file.path, opening.trouble);
  try {
    const tooLarge = tooLargeFor(opening.stat.size, limits.scannedBytes);
    return tooLarge === null ? await scanLines(opening, file) : fault("read", file.path, tooLarge);
  } catch (error) {
    return fault("read", file.path, troubleOf(error));
  } finally {
    await opening.handle.close();
  }
}

async function scanLines({ handle, stat }: OpenFile, file: FileRequest): Promise<FileAnswer> {
  const wanted = lineCollector(file.offset ?? 1, file.limit ?? limits.lines);
  const splitter = splitLines(bytesToKeep(limits.lineCharacters), wanted.add);
  let binary: boolean | undefined;
  const end = await scan(handle, stat.size === 0 ? limits.unsizedBytes : limits.scannedBytes, (piece) => {
    binary ??= looksBinary(piece);
    if (binary) return "stop";
    splitter.write(piece);
    return "go on";
  });
  if (binary) return fault("read", file.path, { code: "binary", reason: "it is a binary file" });
  splitter.end();
  const { lines, totalLines, cut } = wanted.collected();
  return { kind: "lines", lines, firstLine: file.offset ?? 1, totalLines, cut: cut || end === "cut" };
}

/** Keeps the lines from `first` on, until there are `limit` of them or the size limit is reached; counts all. */
function lineCollector(first: number, limit: number) {
  const lines: string[] = [];
  let totalLines = 0;
  let shownBytes = 0;
  let cut = false;
  return {
    add(line: { head: Buffer; bytes: number }) {
      totalLines += 1;
      if (totalLines < first || lines.length >= limit || cut) return;
      const text = showLine(line, limits.lineCharacters);
      shownBytes += Buffer.byteLength(text) + 1;
      cut = shownBytes > limits.shownBytes;
      if (!cut) lines.push(text);
    },
    collected: () => ({ lines, totalLines, cut }),
  };
}
