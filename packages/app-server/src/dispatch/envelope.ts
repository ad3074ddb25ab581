// Messages as they cross the wire: JSON-RPC without its version member.
import { rpcCodes } from "@agentcli/protocol/app-server/codes";
import { RpcError } from "../method.ts";
import type { Notice } from "./pieces.ts";

export type RequestId = string | number;

export type Message =
  | { kind: "request"; id: RequestId; method: string; params: unknown }
  | { kind: "notification"; method: string; params: unknown }
  | { kind: "answer"; id: RequestId; outcome: { result: unknown } | { error: unknown } }
  /** A request that waits for an answer but names no method. */
  | { kind: "unclear"; id: RequestId; reason: string }
  /** Without an id there is no answer. */
  | { kind: "noise"; reason: string };

export function readMessage(text: string): Message {
  const value = parse(text);
  if (!isRecord(value)) return { kind: "noise", reason: "not a JSON object" };
  const { id, method, params } = value;
  if (id !== undefined && !isId(id)) return { kind: "noise", reason: "its id is neither a string nor an integer" };
  if (typeof method === "string")
    return id === undefined ? { kind: "notification", method, params } : { kind: "request", id, method, params };
  if (id === undefined) return { kind: "noise", reason: "it has neither a method nor an id" };
  if ("result" in value) return { kind: "answer", id, outcome: { result: value.result } };
  if ("error" in value) return { kind: "answer", id, outcome: { error: value.error } };
  return { kind: "unclear", id, reason: "missing field `method`" };
}

/** The id of a message that is too large to be read, if it comes before everything nested. */
export function idAtTheStart(head: string): RequestId | undefined {
  const found = /^\s*\{(?:\s*"[\w/]*"\s*:\s*"[\w/]*"\s*,)*\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*,/.exec(head)?.[1];
  const id = found === undefined ? undefined : parse(found);
  return isId(id) ? id : undefined;
}

export const answerText = (id: RequestId, result: unknown): string => JSON.stringify({ id, result });

export function refusalText(id: RequestId, error: unknown): string {
  if (error instanceof RpcError) {
    const { code, message, data } = error;
    return JSON.stringify({ id, error: { code, message, ...(data !== undefined && { data }) } });
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return JSON.stringify({ id, error: { code: rpcCodes.internal, message: `Internal error: ${message}` } });
}

export const questionText = (id: number, method: string, params: unknown): string =>
  JSON.stringify({ id, method, params });

export const noticeText = ({ method, params }: Notice): string =>
  JSON.stringify({ method, params, emittedAtMs: Date.now() });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isId = (id: unknown): id is RequestId => typeof id === "string" || Number.isSafeInteger(id);
