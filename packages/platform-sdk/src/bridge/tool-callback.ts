// Custom tools of a program in another language: described in the call, run by asking the program.
import { ConfigurationError } from "../errors.ts";
import { exchange, readBody } from "../http.ts";
import type { CustomTool, CustomToolContext, CustomToolResult } from "../local-options.ts";
import { fieldsOf } from "../refusal.ts";

/** Where the program listens, and what shows it that the bridge asks. */
export interface ToolCallback {
  url: URL;
  token: string;
}

export function readToolCallback(value: unknown): ToolCallback | undefined {
  if (value === undefined) return undefined;
  const { url, token } = fieldsOf(value);
  if (typeof url !== "string" || !URL.canParse(url) || typeof token !== "string" || token === "")
    throw invalid("toolCallback: must have url and token.");
  const address = new URL(url);
  if (address.protocol !== "http:" || !["127.0.0.1", "localhost", "[::1]"].includes(address.hostname))
    throw invalid("toolCallback.url: must be http on this machine's loopback.");
  return { url: address, token };
}

/** The same tools with something to carry them out. */
export function withCallback(tools: unknown, callback: ToolCallback | undefined): Record<string, CustomTool> {
  if (!callback) throw invalid("customTools: need toolCallback { url, token } beside options.");
  return Object.fromEntries(
    Object.entries(fieldsOf(tools)).map(([name, tool]) => [
      name,
      { ...fieldsOf(tool), execute: (args, context) => ask(callback, { name, args }, context) } as CustomTool,
    ]),
  );
}

/** The program may take as long as it needs; cancelling the run closes the connection. */
const silenceMs = 2 ** 31 - 1;

async function ask(
  { url, token }: ToolCallback,
  call: { name: string; args: Record<string, unknown> },
  { toolCallId, signal = new AbortController().signal }: CustomToolContext,
): Promise<CustomToolResult> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ ...call, toolCallId });
  const answer = await exchange({ method: "POST", url, headers, body, silenceMs }, signal);
  const text = (await readBody(answer)).toString("utf8");
  const { result, error } = fieldsOf(JSON.parse(text === "" ? "{}" : text));
  if (answer.statusCode === 200 && error === undefined) return result as CustomToolResult;
  const { message } = fieldsOf(error);
  throw new Error(typeof message === "string" ? message : `${call.name} answered ${answer.statusCode}`);
}

const invalid = (message: string): ConfigurationError =>
  new ConfigurationError(message, { code: "invalid_option", operation: "bridge" });
