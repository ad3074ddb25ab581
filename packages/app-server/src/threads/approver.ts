// Sends approval requests to the client that started the turn.
import type { ApprovalQuestion, Approver, Decision, Judgement, UserQuestion } from "@agentcli/engine";
import { isEditTool, patchedPaths } from "@agentcli/engine";
import type { AnswerOf, QuestionOf, ServerRequestName } from "@agentcli/protocol/app-server";
import { itemIdOf, shownCommand } from "@agentcli/surfaces/app-server";
import type { Client } from "../method.ts";
import { allowPrefix } from "./rules-file.ts";

export interface ApproverHost {
  /** The client that started the turn, if any. */
  asked(): Client | null;
  /** Ends the turn. */
  cancel(reason: string): void;
  agentHome: string;
  /** A failure that does not change the outcome. */
  warn(message: string): void;
}

export function openApprover(host: ApproverHost): Approver {
  const accepted = new Set<string>();
  return {
    remembers: (question) => keysOf(question).every((key) => accepted.has(key)),
    async approve(question, signal) {
      const judgement = await decide(question, host, signal);
      const { decision } = judgement;
      if (decision === "acceptForSession") for (const key of keysOf(question)) accepted.add(key);
      if (decision === "cancel") host.cancel("Cancelled when an approval was asked for.");
      return judgement;
    },
    async answer({ threadId, turnId, callId }, questions, signal) {
      const params = { threadId, turnId, itemId: itemIdOf(callId), questions: questions.map(open), isBlocking: true };
      const answer = await ask(host, "item/tool/requestUserInput", params, signal);
      if (!answer) return null;
      return Object.fromEntries(Object.entries(answer.answers).map(([id, { answers }]) => [id, answers]));
    },
  };
}

async function decide(question: ApprovalQuestion, host: ApproverHost, signal: AbortSignal): Promise<Judgement> {
  if (question.mcp) return { decision: await decideTool(question, host, signal) };
  if (isEditTool(question.name)) {
    const params = { ...locationOf(question), reason: question.reason };
    const answer = await ask(host, "item/fileChange/requestApproval", params, signal);
    if (!answer) return { decision: "decline" };
    const { decision, reason, refusedHunks } = answer;
    // What is accepted for the session is accepted whole.
    return { decision, reason: wordsOf(reason), refusedHunks: decision === "accept" ? (refusedHunks ?? []) : [] };
  }
  const answer = await ask(host, "item/commandExecution/requestApproval", commandQuestion(question), signal);
  return { decision: commandDecision(answer, host), reason: wordsOf(answer?.reason) };
}

const maxReasonCharacters = 4000;
const wordsOf = (reason: string | null | undefined): string | undefined =>
  reason?.trim().slice(0, maxReasonCharacters) || undefined;

function commandDecision(
  answer: AnswerOf<"item/commandExecution/requestApproval"> | null,
  { agentHome, warn }: ApproverHost,
): Decision {
  const decision = answer?.decision ?? "decline";
  if (typeof decision === "string") return decision;
  // Hosts are opened by configuration, not one by one.
  if (!("acceptWithExecpolicyAmendment" in decision)) return "decline";
  const problem = allowPrefix(agentHome, decision.acceptWithExecpolicyAmendment.execpolicy_amendment);
  if (problem) warn(problem);
  return "acceptForSession";
}

function commandQuestion(question: ApprovalQuestion): QuestionOf<"item/commandExecution/requestApproval"> {
  const { cmd, shell, justification, prefix_rule: prefix } = question.args as CommandArguments;
  const { command, cwd } = shownCommand(question.args, question.settings);
  return {
    ...locationOf(question),
    reason: justification ?? question.reason,
    command,
    cwd,
    commandActions: [{ type: "unknown", command: shell === undefined ? cmd : command }],
    proposedExecpolicyAmendment: prefix ?? null,
    availableDecisions: [
      "accept",
      "acceptForSession",
      ...(prefix ? [{ acceptWithExecpolicyAmendment: { execpolicy_amendment: prefix } }] : []),
      "decline",
      "cancel",
    ],
  };
}

interface CommandArguments {
  cmd: string;
  /** Which program reads it, if not the user's shell. */
  shell?: string;
  login?: boolean;
  workdir?: string;
  sandbox_permissions?: string;
  justification?: string;
  prefix_rule?: string[];
}

/** Approval of an MCP tool uses an elicitation with an empty form. */
async function decideTool(question: ApprovalQuestion, host: ApproverHost, signal: AbortSignal): Promise<Decision> {
  const { threadId, turnId, mcp, args, reason } = question;
  const { changedReason } = await import("@agentcli/mcp");
  const change = mcp && reason === changedReason(mcp) ? " It changed after it was approved." : "";
  const answer = await ask(
    host,
    "mcpServer/elicitation/request",
    {
      mode: "form",
      threadId,
      turnId,
      serverName: mcp?.server ?? "",
      message: `Allow the tool ${mcp?.tool} of ${mcp?.server} to run?${change}`,
      requestedSchema: { type: "object", properties: {} },
      _meta: { codex_approval_kind: "mcp_tool_call", tool: mcp?.tool ?? "", arguments: args as never },
    },
    signal,
  );
  return answer ? answer.action : "decline";
}

const locationOf = ({ threadId, turnId, callId }: ApprovalQuestion) => ({
  threadId,
  turnId,
  itemId: itemIdOf(callId),
  startedAtMs: Date.now(),
});

/** What is accepted for a session: the same command, the same files, the same tool. */
function keysOf({ name, args, mcp, settings }: ApprovalQuestion): string[] {
  if (mcp) return [JSON.stringify(["mcp", mcp.server, mcp.tool])];
  if (isEditTool(name)) return patchedPaths({ name, args }, settings.cwd).map((path) => JSON.stringify(["file", path]));
  const { cmd, workdir = ".", sandbox_permissions: permissions = "use_default" } = args as CommandArguments;
  const { shell = settings.shell, login = true } = args as CommandArguments;
  return [JSON.stringify(["command", cmd, workdir, permissions, shell, login])];
}

const open = ({ id, header, question, options }: UserQuestion) => ({
  id,
  header,
  question,
  options,
  isOther: true,
  isSecret: false,
});

/** Null without an answer: the client is gone, refuses or does not know the request. */
export async function ask<Name extends ServerRequestName>(
  { asked, warn }: Pick<ApproverHost, "asked" | "warn">,
  method: Name,
  params: QuestionOf<Name> & { threadId: string },
  signal: AbortSignal,
): Promise<AnswerOf<Name> | null> {
  const client = asked();
  if (!client || client.closed.aborted) return null;
  const { requestId, answer } = client.ask(method, params, signal);
  try {
    return await answer;
  } catch (error) {
    if (!client.closed.aborted && !signal.aborted) warn((error as Error).message);
    return null;
  } finally {
    client.notify("serverRequest/resolved", { threadId: params.threadId, requestId });
  }
}
