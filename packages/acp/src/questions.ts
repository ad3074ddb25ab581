// Approvals and questions of the agent, answered in the editor. Without an answer the agent goes on without.

import type { Question } from "@agentcli/tui/client";
import type {
  AgentContext,
  ClientCapabilities,
  ElicitationPropertySchema,
  PermissionOption,
  RequestPermissionRequest,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { commandText, diffsOf, editTitle, textContent } from "./tool-calls.ts";
import type { Updates } from "./updates.ts";

export interface Editor {
  client: AgentContext;
  capabilities: ClientCapabilities;
}

export interface QuestionContext {
  sessionId: string;
  cwd: string;
  updates: Pick<Updates, "begun">;
  /** Aborted when the question is over without an answer. */
  signal: AbortSignal;
}

type QuestionNamed<Name extends Question["method"]> = Extract<Question, { method: Name }>;

export async function askEditor(editor: Editor, question: Question, context: QuestionContext): Promise<void> {
  switch (question.method) {
    case "item/commandExecution/requestApproval":
      return approveCommand(editor, question, context);
    case "item/fileChange/requestApproval":
      return approveEdit(editor, question, context);
    case "mcpServer/elicitation/request":
      return elicit(editor, question, context);
    case "item/tool/requestUserInput":
      return askUser(editor, question, context);
    case "item/permissions/requestApproval":
    case "item/tool/call":
      return;
  }
}

const accept: PermissionOption = { optionId: "accept", name: "Yes, once", kind: "allow_once" };
const decline: PermissionOption = { optionId: "decline", name: "No, continue without it", kind: "reject_once" };
const cancel: PermissionOption = { optionId: "cancel", name: "No, and stop", kind: "reject_once" };
const forSession = (what: string): PermissionOption => ({
  optionId: "acceptForSession",
  name: `Yes, and ${what} again in this session`,
  kind: "allow_always",
});

type Permission = Pick<RequestPermissionRequest, "toolCall" | "options">;

/** The id of the chosen option. A prompt that was cancelled, or an editor that cannot ask, is a no. */
async function requestPermission(
  { client }: Editor,
  { toolCall, options }: Permission,
  { sessionId, signal }: QuestionContext,
): Promise<string> {
  try {
    const request = { sessionId, toolCall, options };
    const sending = { cancellationSignal: signal };
    const { outcome } = await client.request("session/request_permission", request, sending);
    return outcome.outcome === "selected" ? outcome.optionId : "cancel";
  } catch {
    return "decline";
  }
}

type Decision = "accept" | "acceptForSession" | "decline" | "cancel";

/** Only an answer that was offered counts. */
const decisionOf = (optionId: string): Decision =>
  optionId === "accept" || optionId === "acceptForSession" || optionId === "cancel" ? optionId : "decline";

async function approveCommand(
  editor: Editor,
  { params, answer }: QuestionNamed<"item/commandExecution/requestApproval">,
  context: QuestionContext,
): Promise<void> {
  const command = commandText(params);
  const prefix = params.proposedExecpolicyAmendment ?? null;
  const rule: PermissionOption[] = prefix
    ? [
        {
          optionId: "rule",
          name: `Yes, and always for commands that begin with: ${prefix.join(" ")}`,
          kind: "allow_always",
        },
      ]
    : [];
  const toolCall: ToolCallUpdate = {
    toolCallId: params.itemId,
    title: command,
    kind: "execute",
    status: "pending",
    rawInput: { command, cwd: params.cwd ?? context.cwd },
    content: params.reason ? [textContent(params.reason)] : [],
  };
  const options = [accept, forSession("the same command"), ...rule, decline, cancel];
  const optionId = await requestPermission(editor, { toolCall, options }, context);
  if (optionId === "rule" && prefix)
    return answer({ decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: prefix } } });
  answer({ decision: decisionOf(optionId) });
}

async function approveEdit(
  editor: Editor,
  { params, answer }: QuestionNamed<"item/fileChange/requestApproval">,
  context: QuestionContext,
): Promise<void> {
  const item = context.updates.begun(params.itemId);
  const changes = item?.type === "fileChange" ? item.changes : [];
  const toolCall: ToolCallUpdate = {
    toolCallId: params.itemId,
    title: editTitle(changes),
    kind: "edit",
    status: "pending",
    content: [...(params.reason ? [textContent(params.reason)] : []), ...diffsOf(changes, context.cwd, "before")],
  };
  const options = [accept, forSession("the same files"), decline, cancel];
  answer({ decision: decisionOf(await requestPermission(editor, { toolCall, options }, context)) });
}

/** The approval of a tool has an empty form; other forms need an editor that shows them. */
async function elicit(
  editor: Editor,
  { id, params, answer }: QuestionNamed<"mcpServer/elicitation/request">,
  context: QuestionContext,
): Promise<void> {
  const { message, serverName } = params;
  const { elicitation } = editor.capabilities;
  if (params.mode === "form" && isEmptyForm(params.requestedSchema)) {
    const { arguments: given } = (params._meta ?? {}) as { arguments?: unknown };
    const toolCall = {
      toolCallId: `question-${id}`,
      title: message,
      kind: "other",
      status: "pending",
      rawInput: given,
    } as const;
    const optionId = await requestPermission(editor, { toolCall, options: [accept, decline, cancel] }, context);
    const action = optionId === "accept" || optionId === "cancel" ? optionId : "decline";
    return answer({ action, content: action === "accept" ? {} : null });
  }
  const mode = params.mode === "form" ? elicitation?.form && "form" : elicitation?.url && "url";
  if (!mode) return answer({ action: "decline" });
  const { sessionId, signal } = context;
  const asked = { sessionId, message: `${serverName}: ${message}` };
  const request =
    params.mode === "form"
      ? { ...asked, mode: "form", requestedSchema: params.requestedSchema }
      : { ...asked, mode: "url", url: params.url, elicitationId: params.elicitationId };
  answer(await create(editor, request, signal));
}

const isEmptyForm = (schema: unknown): boolean =>
  Object.keys((schema as { properties?: object } | null)?.properties ?? {}).length === 0;

interface Elicited {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, string | number | boolean | string[]> | null;
}

async function create({ client }: Editor, request: object, signal: AbortSignal): Promise<Elicited> {
  try {
    const answer = await client.request<Elicited>("elicitation/create", request, { cancellationSignal: signal });
    const { action, content } = answer;
    return action === "accept" || action === "cancel" ? { action, content: content ?? null } : { action: "decline" };
  } catch {
    return { action: "decline" };
  }
}

type UserQuestions = QuestionNamed<"item/tool/requestUserInput">;

/** As a form where the editor has forms, else one choice after the other. */
async function askUser(editor: Editor, { params, answer }: UserQuestions, context: QuestionContext): Promise<void> {
  const { questions, itemId } = params;
  if (editor.capabilities.elicitation?.form) {
    const { content } = await create(editor, questionForm(params, context.sessionId), context.signal);
    const given = Object.entries(content ?? {}).map(([id, value]) => [id, { answers: [value].flat().map(String) }]);
    return answer({ answers: Object.fromEntries(given) });
  }
  const answers: Record<string, { answers: string[] }> = {};
  for (const { id, question, options } of questions) {
    const toolCall: ToolCallUpdate = { toolCallId: itemId, title: question, kind: "think", status: "pending" };
    const offered = (options ?? []).map(
      ({ label }, index): PermissionOption => ({ optionId: `option-${index}`, name: label, kind: "allow_once" }),
    );
    if (offered.length === 0) continue;
    const skip: PermissionOption = { optionId: "skip", name: "No answer", kind: "reject_once" };
    const optionId = await requestPermission(editor, { toolCall, options: [...offered, skip] }, context);
    const chosen = offered.find((option) => option.optionId === optionId);
    if (chosen) answers[id] = { answers: [chosen.name] };
  }
  answer({ answers });
}

function questionForm({ questions }: UserQuestions["params"], sessionId: string): object {
  const properties = Object.fromEntries(
    questions.map(({ id, header, question, options }): [string, ElicitationPropertySchema] => [
      id,
      {
        type: "string",
        title: header,
        description: question,
        ...(options && options.length > 0 && { oneOf: options.map(({ label }) => ({ const: label, title: label })) }),
      },
    ]),
  );
  const message = questions.map(({ question }) => question).join("\n");
  return { sessionId, mode: "form", message, requestedSchema: { type: "object", properties } };
}
