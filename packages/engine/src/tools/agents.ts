// What a model does with sub-agents.
import type { AgentState, Outcome, Part, ToolArguments } from "@agentcli/protocol";
import { textPart } from "../state/messages.ts";
import type { ThreadState } from "../state/state.ts";
import { wireStatus } from "../subagents/status.ts";
import type { Subagents } from "../subagents/subagents.ts";
import { failed, type ToolContext } from "./tool.ts";

export async function spawnAgent(args: ToolArguments["spawn_agent"], context: ToolContext): Promise<Outcome> {
  const input = inputOf(args);
  if (typeof input === "string") return failed(input);
  const subagents = await subagentsOf(context);
  const { roles } = subagents;
  const role = roles.find(({ name }) => name === (args.agent_type ?? "default"));
  if (!role)
    return failed(`Unknown agent type "${args.agent_type}". Available: ${roles.map(({ name }) => name).join(", ")}.`);
  const background = args.fork_context ? [transcript(context.state)] : [];
  const worker = { role, model: args.model, effort: args.reasoning_effort };
  const request = { id: context.createdId ?? subagents.newId(), input, background, ...worker };
  const spawned = await subagents.spawn(request);
  if ("refused" in spawned) return failed(spawned.refused);
  const { id, nickname } = spawned;
  return report({ agent_id: id, nickname }, promptOf(input), subagents.states([id]));
}

export async function sendInput(args: ToolArguments["send_input"], context: ToolContext): Promise<Outcome> {
  const input = inputOf(args);
  if (typeof input === "string") return failed(input);
  const subagents = await subagentsOf(context);
  const { target, interrupt } = args;
  const turnId = context.createdId ?? subagents.newId();
  const request = { target, input, turnId, when: interrupt ? "now" : "when-it-rests" } as const;
  const sent = await subagents.send(request);
  if ("refused" in sent) return failed(sent.refused);
  return report({ submission_id: turnId }, promptOf(input), subagents.states([sent.id]));
}

export async function waitAgent(args: ToolArguments["wait_agent"], context: ToolContext): Promise<Outcome> {
  const subagents = await subagentsOf(context);
  if (args.targets.length === 0) return failed("No agents given. Pass at least one in targets.");
  await waitForFirst(subagents, args, context);
  const agents = subagents.states(args.targets);
  const rested = Object.entries(agents).filter(([, state]) => state.status !== "running");
  const status = Object.fromEntries(rested.map(([id, state]) => [id, wireStatus(state)]));
  return report({ status, timed_out: rested.length === 0 }, null, agents);
}

export async function closeAgent(args: ToolArguments["close_agent"], context: ToolContext): Promise<Outcome> {
  const subagents = await subagentsOf(context);
  const [before] = Object.values(subagents.states([args.target]));
  await subagents.close(args.target);
  return report({ previous_status: before && wireStatus(before) }, null, subagents.states([args.target]));
}

export async function resumeAgent(args: ToolArguments["resume_agent"], context: ToolContext): Promise<Outcome> {
  const subagents = await subagentsOf(context);
  const opened = subagents.reopen(args.id);
  if ("refused" in opened) return failed(opened.refused);
  const agents = subagents.states([opened.id]);
  return report({ status: wireStatus(agents[opened.id] as AgentState) }, null, agents);
}

async function subagentsOf({ subagents }: ToolContext): Promise<Subagents> {
  if (!subagents) throw new Error("a tool for sub-agents was called where they are disabled");
  return subagents.agents();
}

async function waitForFirst(
  subagents: Subagents,
  { targets, timeout_ms = 30_000 }: { targets: string[]; timeout_ms?: number },
  { signal, wait }: ToolContext,
): Promise<void> {
  const timeoutMs = Math.min(3_600_000, Math.max(10_000, timeout_ms));
  const over = new AbortController();
  const stop = () => over.abort();
  signal.addEventListener("abort", stop, { once: true });
  await Promise.race([subagents.anyResting(targets, over.signal), wait(timeoutMs, over.signal)]);
  signal.removeEventListener("abort", stop);
  stop();
}

type Task = {
  message?: string;
  items?: { type: string; text?: string; image_url?: string; path?: string; name?: string }[];
};

/** The task as parts, or what is wrong with it. */
function inputOf({ message, items }: Task): Part[] | string {
  if (message !== undefined && items !== undefined) return "Give either message or items, not both.";
  const parts = message === undefined ? (items ?? []).flatMap(partOf) : [textPart(message)];
  const isEmpty = parts.every((part) => part.type === "text" && part.text.trim() === "");
  return isEmpty ? "The agent needs a task: give it a message." : parts;
}

function partOf({ type, text, image_url, path, name }: NonNullable<Task["items"]>[number]): Part[] {
  if (type === "text" && text !== undefined) return [textPart(text)];
  if (type === "image" && image_url !== undefined) return [{ type: "image", url: image_url }];
  return path || name ? [textPart(`[${type}: ${path ?? name}]`)] : [];
}

const promptOf = (parts: Part[]): string =>
  parts.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n");

/** The conversation as text, for a child that receives it as context. */
function transcript(state: ThreadState): string {
  const lines = state.messages.flatMap((message) => {
    if (message.role === "assistant") {
      return message.blocks.flatMap((block) => (block.type === "message" ? [`assistant: ${block.text}`] : []));
    }
    return message.role === "tool"
      ? []
      : message.parts.flatMap((part) => (part.type === "text" ? [`${message.role}: ${part.text}`] : []));
  });
  return `<parent_conversation>\n${lines.join("\n")}\n</parent_conversation>`;
}

function report(result: object, prompt: string | null, agents: Record<string, AgentState>): Outcome {
  return { status: "completed", parts: [textPart(JSON.stringify(result))], detail: { kind: "agents", prompt, agents } };
}
