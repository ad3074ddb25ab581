// Runs the scenario of e2e/sdk/platform-scenario.json with this SDK: one function per call.
import {
  Agent,
  type AgentOptions,
  Platform,
  type Run,
  type SDKAgent,
  type SDKMessage,
  type SendOptions,
} from "../src/index.ts";
import type { PlatformFixture } from "./platform-fixture.ts";

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
  /** Collect what commands print while the run goes on, for `output`. */
  observe?: boolean;
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

/** What a step comes to, as JSON that every language has. */
export type StepRunner = (step: Step) => Promise<unknown>;

// One function per call of the scenario, of a line or two each.
export function scenarioRunner(fixture: PlatformFixture): StepRunner {
  const agents = new Map<string, SDKAgent>();
  const runs = new Map<string, Run>();
  const outputs = new Map<string, string>();
  const connection = ({ key }: Step) => ({ backendUrl: fixture.url, apiKey: key ?? fixture.key });
  const agent = ({ agent: name = "" }: Step) => found(agents, name);
  const run = ({ run: name = "" }: Step) => found(runs, name);
  const nameOf = (id: string) => [...runs].find(([, known]) => known.id === id)?.[0];

  const calls: Record<string, StepRunner> = {
    me: (step) => Platform.me(connection(step)),
    models: async (step) => (await Platform.models.list(connection(step))).map(({ id }) => id),
    repositories: (step) => Platform.repositories.list(connection(step)),
    async create(step) {
      agents.set(step.agent ?? "", await Agent.create({ ...connection(step), ...optionsOf(step) }));
    },
    async resume(step) {
      agents.set(step.agent ?? "", await Agent.resume(found(agents, step.of ?? "").agentId, connection(step)));
    },
    async send(step) {
      const key = step.idempotencyKey === undefined ? {} : { idempotencyKey: step.idempotencyKey };
      const onDelta: SendOptions["onDelta"] = ({ update }) => {
        if (update.type !== "shell-output-delta") return;
        outputs.set(step.run ?? "", (outputs.get(step.run ?? "") ?? "") + update.event.value.data);
      };
      const sent = await agent(step).send(step.text ?? "", { ...key, ...(step.observe && { onDelta }) });
      runs.set(step.run ?? "", sent);
      return { status: sent.status };
    },
    stream: (step) => read(run(step), step, fixture),
    wait: (step) => run(step).wait(),
    output: async ({ run: name = "" }) => outputs.get(name),
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
    prompt: (step) => Agent.prompt(step.text ?? "", { ...connection(step), ...optionsOf(step) }),
    getAgent: (step) => Agent.get(agent(step).agentId, connection(step)),
    listAgents: async (step) => (await Agent.list({ ...connection(step), limit: 10 })).items.map(({ name }) => name),
    getRun: (step) => Agent.getRun(run(step).id, { ...connection(step), agentId: agent(step).agentId }),
    async listRuns(step) {
      const newest = await Agent.listRuns(agent(step).agentId, { ...connection(step), limit: 2 });
      const cursor = newest.nextCursor === undefined ? {} : { cursor: newest.nextCursor };
      const older = await Agent.listRuns(agent(step).agentId, { ...connection(step), ...cursor });
      return [...newest.items, ...older.items].map(({ id }) => nameOf(id));
    },
    sameRun: async ({ runs: names = [] }) => new Set(names.map((name) => found(runs, name).id)).size === 1,
    archive: (step) => Agent.archive(agent(step).agentId, connection(step)),
    unarchive: (step) => Agent.unarchive(agent(step).agentId, connection(step)),
    delete: (step) => Agent.delete(agent(step).agentId, connection(step)),
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

/** After so many pieces of text the connection is cut, or the reader leaves. */
async function read(run: Run, { cutAfterText, leaveAfterText }: Step, fixture: PlatformFixture) {
  const messages: SDKMessage[] = [];
  for await (const message of run.stream()) {
    messages.push(message);
    if (message.type !== "assistant") continue;
    const texts = messages.filter(({ type }) => type === "assistant").length;
    if (texts === cutAfterText) await fixture.cut();
    if (texts === leaveAfterText) break;
  }
  return summary(messages);
}

/** A stream in short. */
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
  if (value === undefined) throw new Error(`The scenario has no ${name} yet.`);
  return value;
}
