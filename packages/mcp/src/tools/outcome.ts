// The outcome of a call: for the model within its token limit, for programs whole up to 8 MiB.

import { type KeepContext, keepForModel, wholeOutputBytes } from "@agentcli/engine";
import type { McpOrigin, McpResult, Outcome, Part } from "@agentcli/protocol";
import type { CallResult, Fault } from "../connection/index.ts";
import { isObject, type Json, type JsonObject, textOf } from "../json.ts";

export interface CallDetails {
  origin: McpOrigin;
  args: Json;
  durationMs: number;
  /** Limits the text for the model; what is cut is kept in a file there. */
  context: KeepContext;
}

export async function resultOutcome(call: CallDetails, result: CallResult): Promise<Outcome> {
  const { origin, args, durationMs, context } = call;
  const { text, note } = await keepForModel(textFor(result), context);
  const heading = [`Wall time: ${(durationMs / 1000).toFixed(4)} seconds`, ...(note ? [note] : []), "Output:"];
  return {
    status: result.isError ? "failed" : "completed",
    parts: [
      { type: "text", text: [...heading, text].join("\n") },
      ...result.content.flatMap((block) => imageOf(block, origin)),
    ],
    reason: result.isError ? "the tool reported an error" : undefined,
    detail: { kind: "mcp", ...origin, arguments: args, result: bounded(result), error: null, durationMs },
  };
}

export function faultOutcome({ origin, args, durationMs }: Omit<CallDetails, "context">, fault: Fault): Outcome {
  const message = `MCP server ${origin.server}: ${fault.message}`;
  return {
    status: "failed",
    parts: [{ type: "text", text: `${message}${advice[fault.kind]}` }],
    reason: message,
    detail: { kind: "mcp", ...origin, arguments: args, result: null, error: message, durationMs },
  };
}

const advice: Record<Fault["kind"], string> = {
  lost: ". The call may have taken effect or not. The server is started again when it is called again.",
  "timed-out": ". The call was cancelled; it may have taken effect or not.",
  refused: "",
  stopped: "",
};

/** Structured content if there is any, else the blocks in order. */
function textFor({ structuredContent, content }: CallResult): string {
  if (structuredContent !== null) return jsonFor(structuredContent);
  return content.map(describe).join("\n");
}

const maxLineLength = 10_000;

/** In lines if it is long: whatever reads a part of it goes by lines. */
export function jsonFor(value: Json): string {
  const line = JSON.stringify(value);
  return line.length > maxLineLength ? JSON.stringify(value, null, 1) : line;
}

function describe(block: JsonObject): string {
  const type = textOf(block.type);
  if (type === "text") return textOf(block.text) ?? "";
  if (type === "image" || type === "audio") {
    return `[${type} ${textOf(block.mimeType) ?? "of unknown type"}, ${byteLength(block.data)} bytes]`;
  }
  if (type === "resource_link") return `[resource ${textOf(block.name) ?? ""}: ${textOf(block.uri) ?? ""}]`;
  if (type === "resource" && isObject(block.resource)) return describeResource(block.resource);
  return JSON.stringify(block);
}

export function describeResource(resource: JsonObject): string {
  const text = textOf(resource.text);
  const head = `[resource ${textOf(resource.uri) ?? ""}${resource.mimeType ? ` ${resource.mimeType}` : ""}]`;
  if (text !== undefined) return `${head}\n${text}`;
  return `${head} ${byteLength(resource.blob)} bytes, not text`;
}

/** Of base64. */
const byteLength = (data: Json | undefined): number =>
  Math.floor(((textOf(data) ?? "").replace(/(?<!=)=+$/, "").length * 3) / 4);

const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Only images that providers accept: a refused request would end the turn. */
export function imageOf(block: JsonObject, { server, tool }: McpOrigin): Part[] {
  const source = block.type === "resource" && isObject(block.resource) ? block.resource : block;
  const data = block.type === "image" ? textOf(block.data) : textOf(source.blob);
  const type = (textOf(source.mimeType) ?? "").toLowerCase();
  if (!data || !imageTypes.includes(type) || !/^[A-Za-z0-9+/]+=*$/.test(data)) return [];
  return [{ type: "image", url: `data:${type};base64,${data}`, detail: "high", name: `${server}/${tool}` }];
}

/** Long texts keep head and tail, with a note of how much was left out. */
function bounded({ content, structuredContent, meta }: CallResult): McpResult {
  let room = wholeOutputBytes;
  const fit = (value: Json): Json => {
    const size = JSON.stringify(value).length;
    if (size <= room) {
      room -= size;
      return value;
    }
    const shorter = shorten(value, room);
    room = 0;
    return shorter;
  };
  return { structuredContent: fit(structuredContent), content: content.map(fit), ...(meta && { meta: fit(meta) }) };
}

function shorten(value: Json, room: number): Json {
  const isText = isObject(value) && value.type === "text";
  const whole = isText ? (textOf(value.text) ?? "") : JSON.stringify(value);
  const half = Math.floor(room / 2);
  const left = whole.length - 2 * half;
  const text = `${whole.slice(0, half)}\n[… ${left} characters left out …]\n${whole.slice(whole.length - half)}`;
  return { type: "text", text };
}
