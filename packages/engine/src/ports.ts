// What the engine needs from its host. Each line of doc is a promise the implementer makes.
import type {
  Block,
  ContextMessage,
  ErrorCode,
  Part,
  ThreadRecord,
  ToolSpec,
  Usage,
  Workspace,
} from "@agentcli/protocol";

export type { Workspace };

/** One thing said in the conversation, in the order the model reads it. */
export type Message =
  | ContextMessage
  | { role: "assistant"; blocks: Block[] }
  | { role: "tool"; wireId: string; form: "function" | "freeform"; parts: Part[] };

export interface ModelRequest {
  model: string;
  instructions: string;
  messages: Message[];
  tools: ToolSpec[];
  effort?: string;
  /** How to summarise reasoning: auto, concise, detailed or none. */
  reasoningSummary?: string;
  /** How long answers should be: low, medium or high. */
  verbosity?: string;
  /** The final message must satisfy this JSON Schema. */
  outputSchema?: object;
  maxOutputTokens?: number;
  /** The same for all requests of a thread, so that providers can reuse their prompt cache. */
  cacheKey: string;
  turnId: string;
}

/** Cosmetic news while a reply is on its way; the reply itself is the truth. */
export type ModelProgress =
  | { type: "text"; delta: string }
  | { type: "reasoning"; delta: string }
  /** The model has begun to write a tool call; the workspace may be warmed up. */
  | { type: "calling"; name: string }
  /** The block is whole, in its place among those of the reply. Not every wire knows before the reply is there. */
  | { type: "settled"; block: Block }
  /** The attempt was given up; what it streamed does not count. */
  | { type: "retrying"; attempt: number; of: number; delayMs: number; reason: string };

export type FaultCode = Extract<
  ErrorCode,
  | "auth"
  | "rate_limited"
  | "overloaded"
  | "network"
  | "stream_cut"
  | "protocol"
  | "context_window"
  | "refused"
  | "limit"
  | "interrupted"
>;

export interface ModelFault {
  code: FaultCode;
  /** A sentence for people: what was asked, what came back, what to do. */
  message: string;
  /** HTTP status, where there was one. */
  status?: number;
  retryAfterMs?: number;
  /** Which named limit was reached, for code `limit`. */
  limit?: "first-byte" | "idle" | "wall";
  /** Why an answer that had begun stops early, where the server says so. */
  incomplete?: "max_output_tokens" | "content_filter";
  /** What it cost all the same, where the server says so. */
  usage?: Usage;
}

export type ModelReply =
  | { kind: "replied"; blocks: Block[]; usage: Usage; model: string }
  | { kind: "fault"; fault: ModelFault };

export interface Model {
  /** Settles in every case and never throws for what a server or network can do: that is a fault. Stops at once on abort. */
  reply(request: ModelRequest, onProgress: (progress: ModelProgress) => void, signal: AbortSignal): Promise<ModelReply>;
}

export interface StoredRecord {
  seq: number;
  /** RFC 3339, UTC. */
  at: string;
  record: ThreadRecord;
}

export class StaleWriter extends Error {
  constructor(threadId: string, detail: string) {
    super(`Thread ${threadId} is being written by another process${detail ? ` (${detail})` : ""}.`);
    this.name = "StaleWriter";
  }
}

export interface SessionStore {
  /**
   * Writes the records right behind number `after` and returns them as stored, or throws StaleWriter and writes nothing.
   * They are on disk before this settles when one of them begins or ends a turn or begins a tool marked `once`.
   */
  append(threadId: string, after: number, records: ThreadRecord[]): Promise<StoredRecord[]>;
  /** All records after number `after`, in order, in batches of the store's choosing. */
  read(threadId: string, after?: number): AsyncIterable<StoredRecord[]>;
}

export interface Clock {
  now(): number;
}
