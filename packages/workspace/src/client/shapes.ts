// Validates what a workspace server sends, by hand: it runs inside the sandbox and is not trusted.
import type {
  Chunk,
  EditResult,
  ExecResult,
  FileFault,
  ListResult,
  OperationFrame,
  OutputFile,
  ReadResult,
  SearchResult,
  StatusResult,
} from "@agentcli/protocol";

export type Shape<Value> = (value: unknown) => value is Value;

const text: Shape<string> = (value) => typeof value === "string";
const flag: Shape<boolean> = (value) => typeof value === "boolean";
const finite: Shape<number> = (value): value is number => typeof value === "number" && Number.isFinite(value);
const whole: Shape<number> = (value): value is number => Number.isSafeInteger(value);
const positive: Shape<number> = (value): value is number => whole(value) && value > 0;

const oneOf = <Value extends string>(...values: Value[]): Shape<Value> =>
  ((value) => values.includes(value as Value)) as Shape<Value>;
const orNull = <Value>(shape: Shape<Value>): Shape<Value | null> =>
  ((value) => value === null || shape(value)) as Shape<Value | null>;
const optional = <Value>(shape: Shape<Value>): Shape<Value | undefined> =>
  ((value) => value === undefined || shape(value)) as Shape<Value | undefined>;
const listOf = <Value>(shape: Shape<Value>): Shape<Value[]> =>
  ((value) => Array.isArray(value) && value.every(shape)) as Shape<Value[]>;
const either = <Value>(...shapes: Shape<Value>[]): Shape<Value> =>
  ((value) => shapes.some((shape) => shape(value))) as Shape<Value>;

const mapOf = <Value>(shape: Shape<Value>): Shape<Record<string, Value>> =>
  ((value) =>
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(shape)) as Shape<
    Record<string, Value>
  >;

/** Other members are allowed and ignored. */
function record<Value extends object>(fields: { [Name in keyof Value]-?: Shape<Value[Name]> }): Shape<Value> {
  const entries = Object.entries(fields) as [string, Shape<unknown>][];
  return ((value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    entries.every(([name, shape]) => shape((value as Record<string, unknown>)[name]))) as Shape<Value>;
}

type Of<Union, Key extends string, Value> = Extract<Union, Record<Key, Value>>;

export const isChunk = record<Chunk>({ seq: positive, stream: oneOf("stdout", "stderr", "terminal"), text });

const isFault = record<FileFault>({
  kind: oneOf("fault"),
  code: oneOf("missing", "not-a-file", "not-a-directory", "denied", "too-large", "binary", "invalid", "failed"),
  message: text,
});

const isOutputFile = record<OutputFile>({ path: text, bytes: whole, isWhole: flag });

export const isExecResult = either<ExecResult>(
  record<Of<ExecResult, "state", "running">>({
    state: oneOf("running"),
    seq: whole,
    outputFile: optional(isOutputFile),
    repositories: optional(mapOf(text)),
  }),
  record<Of<ExecResult, "state", "exited">>({
    state: oneOf("exited"),
    seq: whole,
    exitCode: whole,
    durationMs: finite,
    timedOut: flag,
    droppedBytes: whole,
    outputFile: optional(isOutputFile),
    repositories: optional(mapOf(text)),
  }),
  record<Of<ExecResult, "state", "unknown">>({ state: oneOf("unknown"), message: text }),
  record<Of<ExecResult, "state", "not-started">>({ state: oneOf("not-started"), message: text }),
);

type ReadFile = ReadResult["files"][number];

export const isReadResult = record<ReadResult>({
  files: listOf(
    either<ReadFile>(
      record<Of<ReadFile, "kind", "lines">>({
        kind: oneOf("lines"),
        lines: listOf(text),
        firstLine: whole,
        totalLines: whole,
        cut: flag,
      }),
      record<Of<ReadFile, "kind", "bytes">>({ kind: oneOf("bytes"), base64: text, size: whole }),
      isFault,
    ),
  ),
});

type Entries = Of<ListResult, "kind", "entries">;

export const isListResult = either<ListResult>(
  record<Entries>({
    kind: oneOf("entries"),
    entries: listOf(
      record<Entries["entries"][number]>({
        path: text,
        kind: oneOf("file", "directory", "symlink", "other"),
        size: orNull(whole),
        omitted: optional(whole),
      }),
    ),
    cut: flag,
    omitted: optional(whole),
    ignored: optional(listOf(text)),
  }),
  isFault,
);

type Matches = Of<SearchResult, "kind", "matches">;

export const isSearchResult = either<SearchResult>(
  record<Matches>({
    kind: oneOf("matches"),
    matches: listOf(record<Matches["matches"][number]>({ path: text, line: whole, text, context: optional(flag) })),
    cut: flag,
  }),
  isFault,
);

type Edited = Of<EditResult, "kind", "edited">;
type EditedLines = NonNullable<Edited["files"][number]["lines"]>[number];

const isLineChange = record<EditedLines>({ from: whole, to: whole, removed: whole });

export const isEditResult = either<EditResult>(
  record<Edited>({
    kind: oneOf("edited"),
    files: listOf(
      record<Edited["files"][number]>({
        path: text,
        kind: oneOf("add", "delete", "update"),
        movedTo: optional(text),
        lines: optional(listOf(isLineChange)),
        notes: optional(listOf(text)),
      }),
    ),
  }),
  record<Of<EditResult, "kind", "refused">>({ kind: oneOf("refused"), message: text }),
);

export const isStatusResult = record<StatusResult>({
  root: text,
  incarnation: text,
  shell: text,
  git: orNull(record<NonNullable<StatusResult["git"]>>({ root: text, branch: orNull(text), commit: orNull(text) })),
  processes: listOf(record<StatusResult["processes"][number]>({ id: text, state: oneOf("running", "exited") })),
  repositories: optional(mapOf(text)),
});

export const isNothing: Shape<null> = (value) => value === null;

/** The frames a server may send. */
export type ServerFrame = Extract<OperationFrame, { frame: "hello" | "chunk" | "result" | "error" }>;

const isServerFrame = either<ServerFrame>(
  record<Of<ServerFrame, "frame", "chunk">>({ frame: oneOf("chunk"), call: whole, chunk: isChunk }),
  record<Of<ServerFrame, "frame", "result">>({
    frame: oneOf("result"),
    call: whole,
    result: ((value) => value !== undefined) as Shape<Of<ServerFrame, "frame", "result">["result"]>,
  }),
  record<Of<ServerFrame, "frame", "error">>({ frame: oneOf("error"), call: whole, message: text }),
  record<Of<ServerFrame, "frame", "hello">>({ frame: oneOf("hello"), root: text, incarnation: text }),
);

/** Undefined for anything that is not a server frame. */
export function parseServerFrame(line: string): ServerFrame | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isServerFrame(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
