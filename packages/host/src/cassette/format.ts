// A recorded run as a file of JSON lines: a header, then records and model exchanges in the order they happened.
import type { ModelReply, ModelRequest, StoredRecord } from "@agentcli/engine";
import type { RunOptions } from "../run-options.ts";

/** What the run was started with, and where. */
export interface CassetteHeader {
  /** Version of the format. */
  cassette: 1;
  /** RFC 3339, UTC. */
  at: string;
  program: { name: string; version: string };
  command: "exec" | "resume" | "review" | "app-server" | "platform";
  options: Partial<RunOptions>;
  today: { date: string; timezone: string };
  environment: Record<string, string>;
}

/** Records of one thread that were written together. `past`: before the recording began. */
export interface RecordedBatch {
  type: "past" | "records";
  thread: string;
  records: StoredRecord[];
}

/** Members that equal those of the thread's previous request are left out; of the messages only new ones are kept. */
export interface RecordedExchange {
  type: "exchange";
  thread: string;
  request: Partial<Omit<ModelRequest, "messages">> & { kept: number; added: ModelRequest["messages"] };
  reply: ModelReply;
}

export type CassetteLine = RecordedBatch | RecordedExchange;
