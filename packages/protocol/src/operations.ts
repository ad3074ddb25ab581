// The wire to a workspace: seven coarse operations, caller-chosen process ids.
import { z } from "zod";

export const Terminal = z.object({ columns: z.int().positive(), rows: z.int().positive() });
export type Terminal = z.infer<typeof Terminal>;

export const ExecRequest = z.object({
  id: z.string().describe("Of the process. Within one incarnation an id is never reused for another process"),
  start: z
    .object({
      argv: z.array(z.string()).min(1),
      cwd: z.string().optional().describe("Relative paths resolve against the workspace root"),
      env: z.record(z.string(), z.string()).optional().describe("Added to the environment of the workspace"),
      loginShell: z.string().optional().describe("Apply the login environment of this shell first"),
      terminal: Terminal.optional().describe("Run on a real pty of this size"),
      timeoutMs: z.int().positive().optional().describe("The whole group is ended after this long"),
    })
    .optional()
    .describe("Ignored when the process exists already: then this call re-attaches"),
  input: z.string().optional().describe("Written to standard input"),
  endInput: z.boolean().optional(),
  resize: Terminal.optional(),
  signal: z.enum(["SIGINT", "SIGTERM", "SIGKILL", "SIGHUP"]).optional(),
  afterSeq: z.int().nonnegative().default(0).describe("Output after this chunk is replayed"),
  waitMs: z.int().nonnegative().optional().describe("Answer `running` after this long; absent: wait for the end"),
  fileAfterBytes: z
    .int()
    .nonnegative()
    .optional()
    .describe("If the process has written more than this, its whole output is kept in a file of the workspace"),
});
export type ExecRequest = z.input<typeof ExecRequest>;

export const Chunk = z.object({
  seq: z.int().positive(),
  stream: z.enum(["stdout", "stderr", "terminal"]),
  text: z.string(),
});
export type Chunk = z.infer<typeof Chunk>;

export const OutputFile = z.object({
  path: z.string().describe("Absolute, where commands and file tools of this workspace find it"),
  bytes: z.int(),
  isWhole: z.boolean().describe("False if the output is too long, or the disk was full"),
});
export type OutputFile = z.infer<typeof OutputFile>;

const RepositoryStates = z
  .record(z.string(), z.string())
  .optional()
  .describe("Of repositories that commands see a copy of: a text that changes with branches, HEAD or index");

export const ExecResult = z.discriminatedUnion("state", [
  z.object({
    state: z.literal("running"),
    seq: z.int(),
    outputFile: OutputFile.optional(),
    repositories: RepositoryStates,
  }),
  z.object({
    state: z.literal("exited"),
    seq: z.int(),
    exitCode: z.int().describe("128 + n after signal n, 124 after the timeout"),
    durationMs: z.number(),
    timedOut: z.boolean(),
    droppedBytes: z.int().describe("Output cut from the middle of the replay buffer"),
    outputFile: OutputFile.optional(),
    repositories: RepositoryStates,
  }),
  z.object({ state: z.literal("unknown"), message: z.string().describe("No such process, and nothing to start") }),
  z.object({ state: z.literal("not-started"), message: z.string() }),
]);
export type ExecResult = z.infer<typeof ExecResult>;

export const FileFault = z.object({
  kind: z.literal("fault"),
  code: z.enum(["missing", "not-a-file", "not-a-directory", "denied", "too-large", "binary", "invalid", "failed"]),
  message: z.string(),
});
export type FileFault = z.infer<typeof FileFault>;

export const ReadRequest = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      as: z.enum(["lines", "bytes"]),
      offset: z.int().positive().optional().describe("First line, counted from 1"),
      limit: z.int().positive().optional().describe("How many lines"),
    }),
  ),
});
export type ReadRequest = z.infer<typeof ReadRequest>;

export const ReadResult = z.object({
  files: z.array(
    z.discriminatedUnion("kind", [
      z.object({
        kind: z.literal("lines"),
        lines: z.array(z.string()),
        firstLine: z.int(),
        totalLines: z.int(),
        cut: z.boolean().describe("Stopped early by the size limit"),
      }),
      z.object({ kind: z.literal("bytes"), base64: z.string(), size: z.int() }),
      FileFault,
    ]),
  ),
});
export type ReadResult = z.infer<typeof ReadResult>;

export const ListRequest = z.object({
  path: z.string(),
  depth: z.int().positive().default(1),
  limit: z.int().positive().default(500),
  glob: z.string().optional().describe("Files at any depth whose path below matches this, instead of a list"),
});
export type ListRequest = z.input<typeof ListRequest>;

export const ListResult = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("entries"),
    entries: z.array(
      z.object({
        path: z.string().describe("Relative to the listed directory, with forward slashes"),
        kind: z.enum(["file", "directory", "symlink", "other"]),
        size: z.int().nullable(),
        omitted: z.int().optional().describe("Entries of this directory that are left out"),
      }),
    ),
    cut: z.boolean(),
    omitted: z.int().optional().describe("Entries of the listed directory itself that are left out"),
    ignored: z.array(z.string()).optional().describe("Names in the listed directory that git ignores"),
  }),
  FileFault,
]);
export type ListResult = z.infer<typeof ListResult>;

export const SearchRequest = z.object({
  pattern: z.string().describe("A regular expression"),
  path: z.string().default("."),
  include: z.string().optional().describe("Only files whose path matches this glob"),
  limit: z.int().positive().default(200),
  type: z.string().optional().describe("Only files of this type, such as `ts`, or with this extension"),
  filesOnly: z.boolean().optional().describe("The first match of each file"),
  context: z.int().nonnegative().optional().describe("Lines before and after each match"),
});
export type SearchRequest = z.input<typeof SearchRequest>;

export const SearchResult = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("matches"),
    matches: z.array(z.object({ path: z.string(), line: z.int(), text: z.string(), context: z.boolean().optional() })),
    cut: z.boolean(),
  }),
  FileFault,
]);
export type SearchResult = z.infer<typeof SearchResult>;

export const EditChunk = z.object({
  anchors: z.array(z.string()).describe("Lines after `@@`, each located in turn before the chunk is matched"),
  before: z.array(z.string()).describe("Lines expected in the file: context and removed"),
  after: z.array(z.string()).describe("Lines that replace them: context and added"),
  endOfFile: z.boolean(),
  line: z.int().positive().optional().describe("Where a unified diff says it begins; decides between equal places"),
});
export type EditChunk = z.infer<typeof EditChunk>;

export const EditRequest = z.object({
  edits: z.array(
    z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("add"), path: z.string(), content: z.string() }),
      z.object({ kind: z.literal("delete"), path: z.string() }),
      z.object({
        kind: z.literal("update"),
        path: z.string(),
        moveTo: z.string().optional(),
        chunks: z.array(EditChunk),
      }),
      z.object({
        kind: z.literal("replace"),
        path: z.string(),
        old: z.string(),
        new: z.string(),
        all: z.boolean().describe("Every occurrence; otherwise there must be exactly one"),
        count: z.int().positive().optional().describe("There must be exactly so many occurrences; all are replaced"),
      }),
      z.object({
        kind: z.literal("cell"),
        path: z.string().describe("Of a Jupyter notebook"),
        action: z.enum(["replace", "insert", "delete"]),
        cell: z.union([z.int(), z.string()]).optional().describe("Index from 0, or id"),
        source: z.string().optional(),
        cellType: z.enum(["code", "markdown", "raw"]).optional(),
      }),
    ]),
  ),
  asWritten: z
    .boolean()
    .optional()
    .describe("Refuses absolute paths that links lead elsewhere: a person approved them as they are written"),
});
export type EditRequest = z.infer<typeof EditRequest>;
export type Edit = EditRequest["edits"][number];
/** An edit that a patch can express. */
export type PatchEdit = Extract<Edit, { kind: "add" | "delete" | "update" }>;

export const EditResult = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("edited"),
    files: z.array(
      z.object({
        path: z.string(),
        kind: z.enum(["add", "delete", "update"]),
        movedTo: z.string().optional(),
        lines: z
          .array(z.object({ from: z.int(), to: z.int(), removed: z.int() }))
          .optional()
          .describe("New lines of an update, as numbered afterwards; `to` before `from` where lines were only removed"),
        notes: z.array(z.string()).optional().describe("What was not exactly as the edit says, for the model"),
      }),
    ),
  }),
  z.object({ kind: z.literal("refused"), message: z.string().describe("Nothing was changed") }),
]);
export type EditResult = z.infer<typeof EditResult>;

export const StatusResult = z.object({
  root: z.string(),
  incarnation: z.string(),
  shell: z.string(),
  git: z
    .object({
      root: z.string(),
      branch: z.string().nullable(),
      commit: z.string().nullable(),
    })
    .nullable(),
  processes: z.array(z.object({ id: z.string(), state: z.enum(["running", "exited"]) })),
  repositories: RepositoryStates,
});
export type StatusResult = z.infer<typeof StatusResult>;

/** Files and processes that the agent may use, wherever they are. */
export interface Workspace {
  readonly root: string;
  /** Changes on reboot, on a fresh machine, with a new CLI process; process ids are unique within one. */
  readonly incarnation: string;
  /** Starts the process called `id`, or re-attaches to it. On abort the process group is ended before this settles. */
  exec(request: ExecRequest, onChunk: (chunk: Chunk) => void, signal: AbortSignal): Promise<ExecResult>;
  /** One result per file, in order; a missing file is a result, not an exception. */
  read(request: ReadRequest): Promise<ReadResult>;
  list(request: ListRequest): Promise<ListResult>;
  search(request: SearchRequest): Promise<SearchResult>;
  /** All edits or none. */
  edit(request: EditRequest): Promise<EditResult>;
  status(): Promise<StatusResult>;
  /** Ends these processes and their descendants, and drops their ids. An empty list means all. */
  release(ids: string[]): Promise<void>;
}

/** Frames of the byte-stream form, one JSON object a line. */
export const OperationFrame = z.discriminatedUnion("frame", [
  z.object({
    frame: z.literal("hello"),
    root: z.string(),
    incarnation: z.string(),
  }),
  z.object({
    frame: z.literal("call"),
    call: z.int(),
    operation: z.enum(["exec", "read", "list", "search", "edit", "status", "release"]),
    request: z.json(),
  }),
  z.object({ frame: z.literal("abort"), call: z.int() }),
  z.object({ frame: z.literal("chunk"), call: z.int(), chunk: Chunk }),
  z.object({ frame: z.literal("result"), call: z.int(), result: z.json() }),
  z.object({ frame: z.literal("error"), call: z.int(), message: z.string() }),
]);
export type OperationFrame = z.infer<typeof OperationFrame>;
