// The threads that the editor has open, and the turn of each.
import { isAbsolute } from "node:path";
import type { Model, ThreadStartResponse, Turn } from "@agentcli/protocol/app-server";
import type { Notice } from "@agentcli/surfaces/app-server";
import { type Client, initPrompt, interactiveDefaults, type ThreadOverrides } from "@agentcli/tui/client";
import {
  type AvailableCommand,
  type ContentBlock,
  type McpServer,
  type PromptResponse,
  RequestError,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { type Choices, configuredPermissions, type TurnChange } from "./options.ts";
import { inputOf, type SlashCommand, slashCommandOf } from "./prompt.ts";
import { serverConfig } from "./servers.ts";
import { openTurn, type RunningTurn } from "./turn.ts";
import { openUpdates, type Updates } from "./updates.ts";

export interface Session {
  id: string;
  choices: Choices;
  /** For the next turn and those after it. */
  change: TurnChange;
  updates: Updates;
  /** Names of skills, which are commands in the editor. */
  skills: AvailableCommand[];
  turn: RunningTurn | null;
  /** What happened before the editor opened it. */
  earlier: Turn[];
}

export interface SessionContext {
  client: Client;
  overrides: ThreadOverrides;
  hasTerminals: boolean;
}

export interface OpenRequest {
  cwd: string;
  mcpServers?: McpServer[];
  /** Of a thread that exists; null begins one. */
  sessionId: string | null;
}

export async function openSession(context: SessionContext, request: OpenRequest): Promise<Session> {
  const { client, hasTerminals } = context;
  const { cwd } = request;
  if (!isAbsolute(cwd)) throw RequestError.invalidParams(undefined, `cwd has to be an absolute path, this is ${cwd}.`);
  const answer = await startThread(context, request);
  const [{ data: models }, { data: skills }] = await Promise.all([
    client.request("model/list", {}),
    client.request("skills/list", { cwds: [answer.cwd] }),
  ]);
  return {
    id: answer.thread.id,
    choices: choicesOf(answer, models),
    change: {},
    updates: openUpdates({ cwd: answer.cwd, hasTerminals }),
    skills: skills
      .flatMap((each) => each.skills)
      .filter(({ enabled }) => enabled)
      .map(({ name, description }) => ({ name, description, input: { hint: "what to do with it" } })),
    turn: null,
    earlier: answer.thread.turns,
  };
}

async function startThread(
  { client, overrides }: SessionContext,
  { cwd, mcpServers = [], sessionId }: OpenRequest,
): Promise<ThreadStartResponse> {
  const config = serverConfig(mcpServers);
  const wanted = await interactiveDefaults(client, { ...overrides, cwd });
  if (sessionId === null) return client.request("thread/start", { ...wanted, config });
  const params = { ...overrides, cwd, approvalPolicy: wanted.approvalPolicy, config, threadId: sessionId };
  try {
    return await client.request("thread/resume", params);
  } catch (error) {
    // A thread without a sandbox is continued in one; the editor's mode gives up the sandbox again.
    if (!(error as Error).message.includes("danger-full-access")) throw error;
    return client.request("thread/resume", { ...params, sandbox: "workspace-write" });
  }
}

function choicesOf(answer: ThreadStartResponse, models: Model[]): Choices {
  const { model, reasoningEffort, cwd, sandbox, approvalPolicy: approval } = answer;
  const settings = { model, effort: reasoningEffort ?? null, cwd, sandbox, approval };
  return { settings, models, configured: configuredPermissions(settings) };
}

const ownCommands: AvailableCommand[] = [
  { name: "compact", description: "Summarise the history" },
  { name: "review", description: "Review uncommitted changes, or against a branch", input: { hint: "[branch]" } },
  { name: "init", description: "Let the agent write AGENTS.md" },
];

export const commandsOf = ({ skills }: Session): SessionUpdate => ({
  sessionUpdate: "available_commands_update",
  availableCommands: [...ownCommands, ...skills],
});

/** Settles when the turn is over. A prompt while another one runs ends that one first. */
export async function runPrompt(
  session: Session,
  prompt: ContentBlock[],
  { client, signal }: { client: Client; signal: AbortSignal },
): Promise<PromptResponse> {
  while (session.turn) {
    cancelTurn(session, client);
    await session.turn.over;
  }
  const turn = openTurn();
  session.turn = turn;
  const onAbort = () => cancelTurn(session, client);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await startTurn(session, prompt, client);
  } catch (error) {
    session.turn = null;
    turn.fail(error as Error);
  }
  try {
    return await turn.answer;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function startTurn(session: Session, prompt: ContentBlock[], client: Client): Promise<void> {
  const command = slashCommandOf(prompt);
  const threadId = session.id;
  if (command?.name === "compact") return void (await client.request("thread/compact/start", { threadId }));
  if (command?.name === "review") {
    const { argument: branch } = command;
    const target = branch ? ({ type: "baseBranch", branch } as const) : ({ type: "uncommittedChanges" } as const);
    return void (await client.request("review/start", { threadId, target, delivery: "inline" }));
  }
  const { change } = session;
  const input = inputOf(written(session, prompt, command));
  await client.request("turn/start", { threadId, input, ...change });
  session.change = {};
}

/** A command as the text that the model reads. */
function written({ skills }: Session, prompt: ContentBlock[], command: SlashCommand | null): ContentBlock[] {
  const replaced = (text: string): ContentBlock[] => [{ type: "text", text }, ...prompt.slice(1)];
  if (command?.name === "init") return replaced(initPrompt);
  if (command && skills.some(({ name }) => name === command.name))
    return replaced(`$${command.name} ${command.argument}`.trim());
  return prompt;
}

export function cancelTurn({ id, turn }: Session, client: Client): void {
  if (!turn) return;
  turn.isCancelled = true;
  if (turn.id === null) return;
  // It may be over meanwhile.
  client.request("turn/interrupt", { threadId: id, turnId: turn.id }).catch(() => {});
}

/** The parts of a notification that concern the turn; whether there is something to show too is a matter of its updates. */
export function followTurn(session: Session, notice: Notice, client: Client): void {
  const { turn } = session;
  if (!turn) return;
  if (notice.method === "turn/started") {
    turn.id = notice.params.turn.id;
    if (turn.isCancelled) cancelTurn(session, client);
  }
  if (notice.method !== "turn/completed") return;
  session.turn = null;
  turn.finish(notice.params.turn);
}
