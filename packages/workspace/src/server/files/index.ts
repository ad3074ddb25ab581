// Reads, lists and searches files of a place.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ListRequest, ListResult, ReadRequest, ReadResult, SearchRequest, SearchResult } from "@agentcli/protocol";
import type { Place } from "../place.ts";

export async function readFiles(place: Place, request: ReadRequest): Promise<ReadResult> {
  return { files: await Promise.all(request.files.map(({ path }) => readOne(resolve(place.root, path)))) };
}

async function readOne(path: string): Promise<ReadResult["files"][number]> {
  try {
    const lines = (await readFile(path, "utf8")).split("\n");
    return { kind: "lines", lines, firstLine: 1, totalLines: lines.length, cut: false };
  } catch (error) {
    return { kind: "fault", code: "missing", message: String(error) };
  }
}

export async function listDirectory(_place: Place, _request: ListRequest): Promise<ListResult> {
  return { kind: "entries", entries: [], cut: false };
}

export async function searchFiles(_place: Place, _request: SearchRequest): Promise<SearchResult> {
  return { kind: "matches", matches: [], cut: false };
}
