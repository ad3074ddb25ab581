// Reads files for the model: numbered lines of text in bounded amounts, or whole files as bytes.
import { resolve } from "node:path";
import type { ReadRequest, ReadResult } from "@agentcli/protocol";
import type { FileScope } from "../file-scope.ts";
import { fileFault, pathFaultOf } from "./fault.ts";
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

export async function readFiles(scope: FileScope, request: ReadRequest): Promise<ReadResult> {
  const files: FileAnswer[] = [];
  // One by one: twenty images at once would need 400 MiB.
  for (const file of request.files) files.push(await readOne(scope, file));
  return { files };
}

const readOne = (scope: FileScope, file: FileRequest) =>
  file.as === "lines" ? readLines(scope, file) : readBytes(scope, file);

async function readBytes(scope: FileScope, file: FileRequest): Promise<FileAnswer> {
  const content = await readRegular(resolve(scope.root, file.path), limits.bytes);
  if (content.kind === "unreadable") return fileFault("read", file.path, content.fault);
  return { kind: "bytes", base64: content.bytes.toString("base64"), size: content.bytes.length };
}

async function readLines(scope: FileScope, file: FileRequest): Promise<FileAnswer> {
  const opening = await openRegular(resolve(scope.root, file.path));
  if (opening.kind === "unreadable") return fileFault("read", file.path, opening.fault);
  try {
    const tooLarge = tooLargeFor(opening.stat.size, limits.scannedBytes);
    return tooLarge === null ? await scanLines(opening, file) : fileFault("read", file.path, tooLarge);
  } catch (error) {
    return fileFault("read", file.path, pathFaultOf(error));
  } finally {
    await opening.handle.close();
  }
}

async function scanLines({ handle, stat }: OpenFile, file: FileRequest): Promise<FileAnswer> {
  const collector = lineCollector(file.offset ?? 1, file.limit ?? limits.lines);
  const splitter = splitLines(bytesToKeep(limits.lineCharacters), collector.add);
  let binary: boolean | undefined;
  const end = await scan(handle, stat.size === 0 ? limits.unsizedBytes : limits.scannedBytes, (piece) => {
    binary ??= looksBinary(piece);
    if (binary) return "stop";
    splitter.write(piece);
    return "go on";
  });
  if (binary) return fileFault("read", file.path, { code: "binary", reason: "it is a binary file" });
  splitter.end();
  const { lines, totalLines, cut } = collector.collected();
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
