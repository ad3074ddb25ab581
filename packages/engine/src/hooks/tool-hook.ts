// A hook that is a tool of an MCP server: what the tool says is read like the output of a command.
import type { HookOf, Outcome } from "@agentcli/protocol";
import type { Json } from "../json.ts";
import type { Drive } from "../running.ts";
import { textOf } from "./outcome-text.ts";
import type { HookRun } from "./port.ts";

export async function callServer(definition: HookOf<"mcp_tool">, payload: object, drive: Drive): Promise<HookRun> {
  const { server, tool: name, key, timeoutMs } = definition;
  const startedAt = performance.now();
  const tool = drive.tools.find(({ mcp }) => mcp?.server === server && mcp.tool === name);
  if (!tool) {
    const reason = `MCP server ${server} has no tool ${name} in this run; see agentcli mcp list`;
    return { kind: "unanswered", reason, durationMs: 0 };
  }
  const { workspace, signal, log } = drive;
  const context = {
    callId: key,
    workspace,
    state: log.state,
    toolLimitMs: timeoutMs,
    outputTokens: mostTokens,
    signal,
    makes: "",
  };
  const outcome = await tool.run(filledIn(definition.input, payload), { ...context, run: drive });
  const durationMs = performance.now() - startedAt;
  if (outcome.status !== "completed") return { kind: "unanswered", reason: textOf(outcome), durationMs };
  return { kind: "ran", exitCode: 0, stdout: saidIn(outcome), stderr: "", timedOut: false, durationMs };
}

const mostTokens = 10_000;

/** The texts of the result; a tool that answers in structure alone answers in JSON. */
function saidIn(outcome: Outcome): string {
  const { detail } = outcome;
  if (detail.kind !== "mcp" || detail.result === null) return textOf(outcome);
  const texts = detail.result.content.flatMap((block) => {
    const { type, text } = block as { type?: unknown; text?: unknown };
    return type === "text" && typeof text === "string" ? [text] : [];
  });
  const { structuredContent } = detail.result;
  return texts.length === 0 && structuredContent !== null ? JSON.stringify(structuredContent) : texts.join("\n");
}

const reference = /\$\{([^}]*)\}/g;

/** `${tool_input.file_path}` in a text stands for what the payload has there; alone, for the value itself. */
export function filledIn(template: Json, payload: object): Json {
  if (Array.isArray(template)) return template.map((item) => filledIn(item, payload));
  if (typeof template === "object" && template !== null) {
    return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, filledIn(value, payload)]));
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
