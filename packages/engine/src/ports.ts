// The interfaces that a host implements. The comments are part of the contract.
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
import type { ExitName } from "@agentcli/protocol/exit-codes";

export type { Workspace };

/** One message of the conversation, in the order the model reads it. */
export type Message =
  | ContextMessage
  | { role: "assistant"; blocks: Block[] }
  | {
      role: "tool";
      wireId: string;
      form: "function" | "freeform";
      parts: Part[];
      /** The call did not do what it was meant to. */
      failed?: true;
    };

export interface ModelRequest {
  model: string;
  instructions: string;
  messages: Message[];
  tools: ToolSpec[];
  /** `none`: the tools are there only for the prompt cache; the model must not call any. Absent: it may. */
  toolChoice?: "none";
  effort?: string;
  /** How to summarise reasoning: auto, concise, detailed or none. */
  reasoningSummary?: string;
  /** Length of answers: low, medium or high. */
  verbosity?: string;
  /** As the provider names it. */
  serviceTier?: string;
  /** The final message must satisfy this JSON Schema. */
  outputSchema?: object;
  /** The provider may search the web itself; not every wire can. */
  webSearch?: HostedSearch;
  maxOutputTokens?: number;
  /** Absent: as the provider does by default. */
  sampling?: { temperature?: number; topP?: number };
  /** The same for all requests of a thread, so that providers can reuse their prompt cache. */
  cacheKey: string;
  turnId: string;
}

export interface HostedSearch {
  /** Pages as the provider has stored them, or as they are now. */
  access: "cached" | "live";
  /** Empty: any. */
  allowedDomains: string[];
}

/** Progress of a reply; the reply itself is authoritative. */
export type ModelProgress =
  | { type: "text"; delta: string }
  | { type: "reasoning"; delta: string }
  /** The model has begun to write a tool call; the workspace can be opened in advance. */
  | { type: "calling"; name: string }
  /** A complete block, in reply order. Not every wire reports blocks before the reply is complete. */
  | { type: "settled"; block: Block }
  /** The attempt failed; discard what it streamed. */
  | {
      type: "retrying";
      attempt: number;
      of: number;
      delayMs: number;
      reason: string;
      /** What failed, where the same model is asked again. */
      fault?: ModelFault;
      /** The model that is asked in place of this one. */
      instead?: string;
    };

/** Progress while something runs; records are authoritative. */
export type Progress =
  | ModelProgress
  | { type: "output"; callId: string; text: string }
  /** A hook that the thread waits for has begun; this is its own message. */
  | { type: "hook"; statusMessage: string };

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
  /** A sentence for users: the request, the response, and what to do. */
  message: string;
  /** HTTP status, if there was one. */
  status?: number;
  retryAfterMs?: number;
  /** Which named limit was reached, for code `limit`. */
  limit?: "first-byte" | "idle" | "wall";
  /** Why a reply stopped early, if the server reports it. */
  incomplete?: "max_output_tokens" | "content_filter";
  /** What was paid for is used up: only another account or provider helps. */
  quota?: true;
  /** Charged despite the fault, if the server reports it. */
  usage?: Usage;
  /** For code `context_window`, if it is known: the tokens that a request may have. */
  maxTokens?: number;
}

export type ModelReply =
  | { kind: "replied"; blocks: Block[]; usage: Usage; model: string }
  | { kind: "fault"; fault: ModelFault };

export interface Model {
  /** Always resolves; failures of server or network are a fault, never thrown. Stops at once on abort. */
  reply(request: ModelRequest, onProgress: (progress: ModelProgress) => void, signal: AbortSignal): Promise<ModelReply>;
  /** The tokens of the request as the provider counts them; null if it does not say. Absent where there is no such request. */
  countTokens?(request: ModelRequest, signal: AbortSignal): Promise<number | null>;
}

export interface NamedModel {
  model: Model;
  /** As its provider knows it. */
  name: string;
}

export interface StoredRecord {
  seq: number;
  /** RFC 3339, UTC. */
  at: string;
  record: ThreadRecord;
}

export class StaleWriter extends Error {
  /** Exit code of a program that ends with this error. */
  readonly exit: ExitName = "usage";
  constructor(threadId: string, detail: string) {
    super(`Thread ${threadId} is being written by another process${detail ? ` (${detail})` : ""}.`);
    this.name = "StaleWriter";
  }
}

export interface SessionStore {
  /**
   * Writes the records directly after number `after` and returns them as stored, or throws StaleWriter and writes nothing.
   * They are on disk before this settles when one of them begins or ends a turn or begins a tool marked `once`.
   */
  append(threadId: string, after: number, records: ThreadRecord[]): Promise<StoredRecord[]>;
  /** All records after number `after`, in order, in batches of the store's choosing. */
  read(threadId: string, after?: number): AsyncIterable<StoredRecord[]>;
}

export interface Clock {
  now(): number;
}
