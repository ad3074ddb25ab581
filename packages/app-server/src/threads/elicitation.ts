// Elicitation requests of MCP servers, sent to the client that started the turn; request and answer are logged.
import type { Log } from "@agentcli/engine";
import type { McpHost } from "@agentcli/mcp";
import type { NoteData, NoteOf } from "@agentcli/protocol";
import { type ApproverHost, ask } from "./approver.ts";
import type { RunningTurn } from "./turn.ts";

export interface ElicitationHost extends Pick<ApproverHost, "asked" | "warn"> {
  threadId: string;
  /** Null between turns, when no client is asked. */
  turn(): { running: RunningTurn; log: Log } | null;
}

type Elicit = NonNullable<McpHost["elicit"]>;

export function elicitation(host: ElicitationHost): Elicit {
  let asked = 0;
  return async (server, question) => {
    const turn = host.turn();
    if (!turn) return { action: "decline" };
    const { running, log } = turn;
    asked += 1;
    const callId = `elicitation-${running.id}-${asked}`;
    const message = String(question.message ?? "");
    await log.write(note({ asked: true, callId, server, message }));
    const params = { threadId: host.threadId, turnId: running.id, serverName: server, message, ...formOf(question) };
    const answer = await ask(host, "mcpServer/elicitation/request", params, running.signal);
    const action = answer?.action ?? "decline";
    if (log.state.turn) await log.write(note({ callId, action }));
    if (action !== "accept") return { action };
    return { action, content: (answer?.content ?? {}) as Record<string, never> };
  };
}

/** A form, unless the server sends the user to a page. */
function formOf(question: Parameters<Elicit>[1]) {
  const { mode, url, elicitationId, requestedSchema = { type: "object", properties: {} } } = question;
  if (mode !== "url") return { mode: "form" as const, requestedSchema };
  return { mode: "url" as const, url: String(url), elicitationId: String(elicitationId) };
}

const note = (data: NoteData<"approval">): NoteOf<"approval"> => ({ type: "noted", kind: "approval", data });
