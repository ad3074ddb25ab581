// The practice model: scripted, no network, no key. The next step depends only on the conversation, so a resumed thread continues.
import type { Message, Model, ModelProgress, ModelReply, ModelRequest } from "@agentcli/engine";
import type { Block } from "@agentcli/protocol";
import { finalMessage, helpMessage, label, notReviewed, readSummary, succeeded, summaryMessage } from "./answer.ts";
import { readSituation, type SettledCall } from "./conversation.ts";
import { readInstructions } from "./instructions.ts";
import { answerInSchema, asksForVerdict } from "./schema-answer.ts";
import { failed, type PlannedCall } from "./script.ts";
import { executeSteps, type PracticeEnvironment, type Work, withSkillSteps } from "./steps.ts";

export const practiceModelName = "practice";

export function openPracticeModel(): Model {
  return {
    async reply(request, onProgress, signal): Promise<ModelReply> {
      const blocks = blocksFor(decide(request), request);
      for (const block of blocks) {
        if (signal.aborted) return interrupted;
        announce(block, onProgress);
      }
      const usage = {
        inputTokens: tokensOf([request.instructions, request.messages, request.tools]),
        cachedInputTokens: 0,
        cacheWriteInputTokens: 0,
        outputTokens: tokensOf(blocks),
        reasoningOutputTokens: 0,
      };
      return { kind: "replied", blocks, usage, model: practiceModelName };
    },
  };
}

const interrupted: ModelReply = {
  kind: "fault",
  fault: { code: "interrupted", message: "The request was cancelled before the practice model replied." },
};

type Decision = { do: "call"; call: PlannedCall } | { do: "answer"; text: string; work: Work };

function decide(request: ModelRequest): Decision {
  const mayCall = request.tools.length > 0 && request.toolChoice !== "none";
  if (!mayCall && !isAlone(request)) return summarise(request);
  const { prompt, settled, environment } = readSituation(request.messages);
  const work = workIn(prompt, environment);
  if (!canFollow(work)) return { do: "answer", text: helpMessage(skillsIn(work)), work };
  const call = replay(work, environment, settled, (name) => request.tools.some((tool) => tool.name === name));
  return call ? { do: "call", call } : { do: "answer", text: finalMessage(work), work };
}

/** A single message without an agent: there is no conversation to summarise. */
const isAlone = ({ instructions, messages }: ModelRequest): boolean => instructions === "" && messages.length === 1;

/** A request without tools asks for a summary: before compaction, or at the end of the budget. Its prompt is not an instruction. */
function summarise({ messages }: ModelRequest): Decision {
  const current = readSituation(messages);
  const isSummaryPrompt = !canFollow(workIn(current.prompt, current.environment));
  const { prompt, settled, environment } = isSummaryPrompt
    ? readSituation(messages.slice(0, lastUserMessage(messages)))
    : current;
  const work = prompt === "" ? promptMissing() : workIn(prompt, environment);
  replay(work, environment, settled, () => true);
  return { do: "answer", text: summaryMessage(work), work };
}

/** A request for a summary leaves out the oldest messages if it would be too long. */
const promptMissing = (): Work => ({
  reports: [
    failed("The prompt was no longer in sight when the conversation was summed up. What was done before it stands."),
  ],
  remaining: [],
});

const lastUserMessage = (messages: Message[]): number =>
  Math.max(
    0,
    messages.findLastIndex((message) => message.role === "user"),
  );

/** The steps of a prompt. A summary also has the steps that are already done. */
function workIn(prompt: string, environment: PracticeEnvironment): Work {
  const { reports, remaining } = readSummary(prompt) ?? { reports: [], remaining: readInstructions(prompt) };
  const steps = remaining.flatMap((instruction) => withSkillSteps(instruction, environment));
  // "Please do the following:" is not a step.
  return { reports, remaining: steps.filter(({ text, step }) => step.kind !== "unclear" || !text.endsWith(":")) };
}

/** Unreadable steps are skipped and reported, but at least one must be readable. */
const canFollow = ({ reports, remaining }: Work): boolean =>
  reports.length > 0 || remaining.some(({ step }) => step.kind !== "unclear" && step.kind !== "skill");

const skillsIn = ({ remaining }: Work): string[] =>
  remaining.flatMap(({ step }) => (step.kind === "skill" ? [step.name] : []));

/**
 * Runs the script over the existing results and returns its next call, if any. Calls of another model, which may have
 * started the turn, are skipped.
 */
function replay(
  work: Work,
  environment: PracticeEnvironment,
  settled: SettledCall[],
  isOffered: (tool: string) => boolean,
): PlannedCall | undefined {
  const rest = [...settled];
  const script = executeSteps(work, environment);
  for (let next = script.next(); !next.done; ) {
    const call = next.value;
    const at = rest.findIndex((done) => isSame(call, done));
    if (at < 0 && isOffered(call.name)) return call;
    const result = at < 0 ? `unsupported call: ${call.name} is not offered in this run` : rest[at]?.result;
    rest.splice(0, at + 1);
    next = script.next(result ?? "");
  }
  return undefined;
}

const isSame = (call: PlannedCall, done: SettledCall): boolean =>
  call.name === done.name && (done.input === JSON.stringify(call.args) || done.input === freeformInput(call));

const freeformInput = (call: PlannedCall): string | undefined =>
  call.name === "apply_patch" ? call.args.input : undefined;

function blocksFor(decision: Decision, request: ModelRequest): Block[] {
  if (decision.do === "answer") return [{ type: "message", text: finalText(decision, request) }];
  const { call } = decision;
  const tool = request.tools.find((candidate) => candidate.name === call.name);
  const form = tool?.form ?? "function";
  const input = form === "freeform" ? (freeformInput(call) ?? "") : JSON.stringify(call.args);
  const wireId = `practice_${request.messages.length}`;
  return [
    { type: "message", text: `${label}: ${call.activity}.` },
    { type: "call", wireId, name: call.name, form, input },
  ];
}

function finalText({ text, work }: Extract<Decision, { do: "answer" }>, request: ModelRequest): string {
  if (request.outputSchema === undefined) return text;
  if (asksForVerdict(request.outputSchema)) return canFollow(work) ? `${notReviewed}\n\n${text}` : notReviewed;
  const steps = work.reports.filter((report) => report.outcome === "done").length;
  return JSON.stringify(answerInSchema(request.outputSchema, { message: text, succeeded: succeeded(work), steps }));
}

function announce(block: Block, onProgress: (progress: ModelProgress) => void): void {
  if (block.type === "call") onProgress({ type: "calling", name: block.name });
  if (block.type !== "message") return;
  for (const delta of block.text.match(/\S+\s*|\s+/g) ?? []) onProgress({ type: "text", delta });
}

// Four bytes per token, the same estimate as in the engine.
const tokensOf = (value: unknown): number => Math.ceil(new TextEncoder().encode(JSON.stringify(value)).length / 4);
