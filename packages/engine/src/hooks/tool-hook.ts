// A hook that calls a tool of an MCP server: its result is read like the output of a command.
import type { HookOf, Outcome } from "@agentcli/protocol";
import type { Json } from "../json.ts";
import type { HookContext } from "../thread-hooks.ts";
import type { HookRun } from "./hook-run.ts";
import { outcomeText } from "./outcome-text.ts";

export async function runToolHook(
  definition: HookOf<"mcp_tool">,
  payload: object,
  thread: HookContext,
): Promise<HookRun> {
  const { server, tool: name, key, timeoutMs } = definition;
  const startedAt = performance.now();
  const tool = thread.tools.find(({ mcp }) => mcp?.server === server && mcp.tool === name);
  if (!tool) {
    const reason = `MCP server ${server} has no tool ${name} in this run; see agentcli mcp list`;
    return { kind: "unanswered", reason, durationMs: 0 };
  }
  const { workspace, signal, log, onProgress, wait } = thread;
  const context = {
    callId: key,
    workspace,
    state: log.state,
    toolTimeoutMs: timeoutMs,
    outputTokens: maxTokens,
    signal,
    onProgress,
    wait,
  };
  const outcome = await tool.run(fillTemplate(definition.input, payload), context);
  const durationMs = performance.now() - startedAt;
  if (outcome.status !== "completed") return { kind: "unanswered", reason: outcomeText(outcome), durationMs };
  return { kind: "ran", exitCode: 0, stdout: resultText(outcome), stderr: "", timedOut: false, durationMs };
}

const maxTokens = 10_000;

/** The texts of the result, or its structured content as JSON if it has no text. */
function resultText(outcome: Outcome): string {
  const { detail } = outcome;
  if (detail.kind !== "mcp" || detail.result === null) return outcomeText(outcome);
  const texts = detail.result.content.flatMap((block) => {
    const { type, text } = block as { type?: unknown; text?: unknown };
    return type === "text" && typeof text === "string" ? [text] : [];
  });
  const { structuredContent } = detail.result;
  return texts.length === 0 && structuredContent !== null ? JSON.stringify(structuredContent) : texts.join("\n");
}

const reference = /\$\{([^}]*)\}/g;

/** `${tool_input.file_path}` in a text is replaced by that value of the payload; a template that is only a reference keeps its type. */
export function fillTemplate(template: Json, payload: object): Json {
  if (Array.isArray(template)) return template.map((item) => fillTemplate(item, payload));
  if (typeof template === "object" && template !== null) {
    return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fillTemplate(value, payload)]));
  }
  if (typeof template !== "string") return template;
  const [whole] = template.match(/^\$\{[^}]*\}$/) ?? [];
  if (whole !== undefined) return valueAt(whole.slice(2, -1), payload) ?? "";
  return template.replace(reference, (_, path: string) => inText(valueAt(path, payload)));
}

function valueAt(path: string, payload: object): Json | undefined {
  let value: unknown = payload;
  for (const step of path.trim().split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value as Json;
}

const inText = (value: Json | undefined): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
