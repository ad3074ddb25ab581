// Tells the story of e2e/platform-sdk-story.json with this SDK: one function per call.
import { Agent, type AgentOptions, Platform, type Run, type SDKAgent, type SDKMessage } from "../src/index.ts";
import type { Stage } from "./stage.ts";

export interface Step {
  call: string;
  expect?: unknown;
  fails?: Record<string, unknown>;
  agent?: string;
  run?: string;
  runs?: string[];
  of?: string;
  key?: string;
  text?: string;
  path?: string;
  idempotencyKey?: string;
  cutAfterText?: number;
  leaveAfterText?: number;
  options?: {
    model?: string;
    name?: string;
    agentId?: string;
    metadata?: Record<string, string>;
    envVars?: Record<string, string>;
  };
}

/** What a step comes to, as JSON that every language can say. */
export type Teller = (step: Step) => Promise<unknown>;

// One function per call of the story, of a line or two each.
export function storyteller(stage: Stage): Teller {
  const agents = new Map<string, SDKAgent>();
  const runs = new Map<string, Run>();
  const door = ({ key }: Step) => ({ backendUrl: stage.url, apiKey: key ?? stage.key });
  const agent = ({ agent: name = "" }: Step) => found(agents, name);
  const run = ({ run: name = "" }: Step) => found(runs, name);
  const nameOf = (id: string) => [...runs].find(([, known]) => known.id === id)?.[0];

  const calls: Record<string, Teller> = {
    me: (step) => Platform.me(door(step)),
    models: async (step) => (await Platform.models.list(door(step))).map(({ id }) => id),
    repositories: (step) => Platform.repositories.list(door(step)),
    async create(step) {
      agents.set(step.agent ?? "", await Agent.create({ ...door(step), ...optionsOf(step) }));
    },
    async resume(step) {
      agents.set(step.agent ?? "", await Agent.resume(found(agents, step.of ?? "").agentId, door(step)));
    },
    async send(step) {
      const key = step.idempotencyKey === undefined ? {} : { idempotencyKey: step.idempotencyKey };
      const sent = await agent(step).send(step.text ?? "", key);
      runs.set(step.run ?? "", sent);
      return { status: sent.status };
    },
    stream: (step) => read(run(step), step, stage),
    wait: (step) => run(step).wait(),
    cancel: (step) => run(step).cancel(),
    steer: (step) => run(step).steer(step.text ?? ""),
    async conversation(step) {
      const turns = await run(step).conversation();
      return turns.map(({ turn }) => ({
        user: turn.userMessage?.text,
        steps: turn.steps.map((one) => (one.type === "toolCall" ? `toolCall ${one.message.type}` : one.type)),
      }));
    },
    artifacts: (step) => agent(step).listArtifacts(),
    download: async (step) => (await agent(step).downloadArtifact(step.path ?? "")).toString("utf8"),
    async usage(step) {
      const usage = await agent(step).getUsage();
      return { runs: usage.runs.length, oldest: usage.runs.at(-1)?.usage, total: usage.usage };
    },
    prompt: (step) => Agent.prompt(step.text ?? "", { ...door(step), ...optionsOf(step) }),
    getAgent: (step) => Agent.get(agent(step).agentId, door(step)),
    listAgents: async (step) => (await Agent.list({ ...door(step), limit: 10 })).items.map(({ name }) => name),
    getRun: (step) => Agent.getRun(run(step).id, { ...door(step), agentId: agent(step).agentId }),
    async listRuns(step) {
      const newest = await Agent.listRuns(agent(step).agentId, { ...door(step), limit: 2 });
      const cursor = newest.nextCursor === undefined ? {} : { cursor: newest.nextCursor };
      const older = await Agent.listRuns(agent(step).agentId, { ...door(step), ...cursor });
      return [...newest.items, ...older.items].map(({ id }) => nameOf(id));
    },
    sameRun: async ({ runs: names = [] }) => new Set(names.map((name) => found(runs, name).id)).size === 1,
    archive: (step) => Agent.archive(agent(step).agentId, door(step)),
    unarchive: (step) => Agent.unarchive(agent(step).agentId, door(step)),
    delete: (step) => Agent.delete(agent(step).agentId, door(step)),
  };
  return (step) => found(new Map(Object.entries(calls)), step.call)(step);
}

export function optionsOf({ options = {} }: Step): AgentOptions {
  const { model, name, agentId, metadata, envVars } = options;
  return {
    ...(model !== undefined && { model: { id: model } }),
    ...(name !== undefined && { name }),
    ...(agentId !== undefined && { agentId }),
    cloud: { ...(metadata && { metadata }), ...(envVars && { envVars }) },
  };
}

/** After so many pieces of text the door is slammed, or the reader leaves. */
async function read(run: Run, { cutAfterText, leaveAfterText }: Step, stage: Stage) {
  const messages: SDKMessage[] = [];
  for await (const message of run.stream()) {
    messages.push(message);
    if (message.type !== "assistant") continue;
    const texts = messages.filter(({ type }) => type === "assistant").length;
    if (texts === cutAfterText) await stage.cut();
    if (texts === leaveAfterText) break;
  }
  return summary(messages);
}

/** A stream as a few words. */
export function summary(messages: SDKMessage[]) {
  const textOf = (role: "user" | "assistant") =>
    messages
      .flatMap((message) =>
        message.type === role && "message" in message && typeof message.message === "object"
          ? message.message.content
          : [],
      )
      .map(({ text }) => text)
      .join("");
  return {
    types: [...new Set(messages.map(({ type }) => type))],
    user: textOf("user"),
    text: textOf("assistant"),
    thinking: messages.map((message) => (message.type === "thinking" ? message.text : "")).join(""),
    tools: messages.flatMap((message) => (message.type === "tool_call" ? `${message.name} ${message.status}` : [])),
    usage: messages.flatMap((message) => (message.type === "usage" ? message.usage : [])).at(-1),
    lastStatus: messages.flatMap((message) => (message.type === "status" ? message.status : [])).at(-1),
  };
}

function found<Value>(known: Map<string, Value>, name: string): Value {
  const value = known.get(name);
  if (value === undefined) throw new Error(`The story has no ${name} yet.`);
  return value;
}
