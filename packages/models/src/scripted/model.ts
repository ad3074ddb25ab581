// The practice model: scripted, no network, no key. The next step depends on the conversation alone, so a resumed thread goes on.
import type { Message, Model, ModelProgress, ModelReply, ModelRequest } from "@agentcli/engine";
import type { Block } from "@agentcli/protocol";
import { finalMessage, helpMessage, label, notJudged, readSummary, succeeded, summaryMessage } from "./answer.ts";
import { readSituation, type SettledCall } from "./conversation.ts";
import { readInstructions } from "./instructions.ts";
import { answerInSchema, asksForVerdict } from "./schema-answer.ts";
import { failed, type PlannedCall } from "./script.ts";
import { carryOut, type Surroundings, type Work, withSkillSteps } from "./steps.ts";

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
  fault: { code: "interrupted", message: "The request was cancelled before the practice model had answered." },
};

type Decision = { do: "call"; call: PlannedCall } | { do: "say"; text: string; work: Work };

function decide(request: ModelRequest): Decision {
  if (request.tools.length === 0 && !isAlone(request)) return summarise(request);
  const { prompt, settled, around } = readSituation(request.messages);
  const work = workIn(prompt, around);
  if (!canFollow(work)) return { do: "say", text: helpMessage(skillsIn(work)), work };
  const call = replay(work, around, settled, (name) => request.tools.some((tool) => tool.name === name));
  return call ? { do: "call", call } : { do: "say", text: finalMessage(work), work };
}

/** One message of a program that has no agent: there is nothing behind it to sum up. */
const isAlone = ({ instructions, messages }: ModelRequest): boolean => instructions === "" && messages.length === 1;

/** A request without tools asks to sum up: before compaction, or when the budget ends. Its own prompt is not an instruction. */
function summarise({ messages }: ModelRequest): Decision {
  const asked = readSituation(messages);
  const isAsking = !canFollow(workIn(asked.prompt, asked.around));
  const { prompt, settled, around } = isAsking ? readSituation(messages.slice(0, lastUserMessage(messages))) : asked;
  const work = prompt === "" ? outOfSight() : workIn(prompt, around);
  replay(work, around, settled, () => true);
  return { do: "say", text: summaryMessage(work), work };
}

/** The oldest messages are left out of a request to sum up that would be too long. */
const outOfSight = (): Work => ({
  reports: [
    failed("The prompt was no longer in sight when the conversation was summed up. What was done before it stands."),
  ],
  left: [],
});

const lastUserMessage = (messages: Message[]): number =>
  Math.max(
    0,
    messages.findLastIndex((message) => message.role === "user"),
  );

/** What a prompt asks for, before anything of it is done; a summary of ours says how much of it is done already. */
function workIn(prompt: string, around: Surroundings): Work {
  const { reports, left } = readSummary(prompt) ?? { reports: [], left: readInstructions(prompt) };
  const steps = left.flatMap((instruction) => withSkillSteps(instruction, around));
  // "Please do the following:" asks for nothing itself.
  return { reports, left: steps.filter(({ said, step }) => step.kind !== "unclear" || !said.endsWith(":")) };
}

/** Steps that cannot be read are skipped and reported, but at least one must be readable. */
const canFollow = ({ reports, left }: Work): boolean =>
  reports.length > 0 || left.some(({ step }) => step.kind !== "unclear" && step.kind !== "skill");

const skillsIn = ({ left }: Work): string[] => left.flatMap(({ step }) => (step.kind === "skill" ? [step.name] : []));

/**
 * Runs the script over the results there are and returns the call it wants next, if any. Calls that are not its own,
 * say of another model that began the turn, are passed over.
 */
function replay(
  work: Work,
  around: Surroundings,
  settled: SettledCall[],
  isOffered: (tool: string) => boolean,
): PlannedCall | undefined {
  const rest = [...settled];
  const script = carryOut(work, around);
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
  if (decision.do === "say") return [{ type: "message", text: finalText(decision, request) }];
  const { call } = decision;
  const tool = request.tools.find((candidate) => candidate.name === call.name);
  const form = tool?.form ?? "function";
  const input = form === "freeform" ? (freeformInput(call) ?? "") : JSON.stringify(call.args);
  const wireId = `practice_${request.messages.length}`;
  return [
    { type: "message", text: `${label}: ${call.says}.` },
    { type: "call", wireId, name: call.name, form, input },
  ];
}

function finalText({ text, work }: Extract<Decision, { do: "say" }>, request: ModelRequest): string {
  if (request.outputSchema === undefined) return text;
  if (asksForVerdict(request.outputSchema)) return canFollow(work) ? `${notJudged}\n\n${text}` : notJudged;
  const steps = work.reports.filter((report) => report.outcome === "done").length;
  return JSON.stringify(answerInSchema(request.outputSchema, { message: text, succeeded: succeeded(work), steps }));
}

function announce(block: Block, onProgress: (progress: ModelProgress) => void): void {
  if (block.type === "call") onProgress({ type: "calling", name: block.name });
  if (block.type !== "message") return;
  for (const delta of block.text.match(/\S+\s*|\s+/g) ?? []) onProgress({ type: "text", delta });
}

// Four bytes a token, the same estimate the engine uses for texts it has not been billed for.
const tokensOf = (value: unknown): number => Math.ceil(new TextEncoder().encode(JSON.stringify(value)).length / 4);
