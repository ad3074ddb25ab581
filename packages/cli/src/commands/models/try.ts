// `agentcli models try`: one small question and one call of a tool, and what came of them.
import { randomUUID } from "node:crypto";
import { CommandError } from "@agentcli/command-line";
import type { Model, ModelReply, ModelRequest } from "@agentcli/engine";
import { practice, priceBook } from "@agentcli/models";
import { exitCodes, exitOf } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { configOptions } from "../../config/run-options.ts";
import { settle } from "../../config/settings.ts";
import { chooseModel } from "../../model/model.ts";
import type { Program } from "../../program.ts";

interface Trial {
  name: "answers" | "calls tools";
  works: boolean;
  durationMs: number;
  costUsd: number | null;
  problem: string | null;
  code: keyof typeof exitOf | null;
}

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = invocation.positionals[0];
  if (!name)
    throw new CommandError("usage", "No model given: agentcli models try MODEL. To list them: agentcli models");
  const { settings, loaded } = await settle(optionsFor(name, invocation), program.environment, null);
  if (settings.provider === practice) {
    await program.print("practice: scripted, without key, network and intelligence. There is nothing to try.\n");
    return exitCodes.completed.code;
  }
  const { model } = await chooseModel(settings, loaded.config, program);
  const costOf = priceBook(loaded.config.prices, loaded.config.catalogue);
  const trials: Trial[] = [];
  for (const name of ["answers", "calls tools"] as const) {
    trials.push(await attempt(name, model, { model: settings.model, costOf, signal: program.signal }));
    if (!trials[0]?.works) break;
  }
  const { provider } = settings;
  const countedTokens = (await model.countTokens?.(requestFor("answers", settings.model), program.signal)) ?? null;
  if (invocation.has("json")) {
    const report = { model: settings.model, provider, trials: trials.map(toJson), counted_tokens: countedTokens };
    await program.print(`${JSON.stringify(report, null, 2)}\n`);
  } else {
    const counted = countedTokens === null ? "" : `     counts the tokens of a request: ${countedTokens}\n`;
    await program.print(`${settings.model} of ${provider}\n${trials.map(toText).join("")}${counted}`);
  }
  const code = trials.find(({ works }) => !works)?.code;
  if (trials.every(({ works }) => works)) return exitCodes.completed.code;
  return exitCodes[code ? exitOf[code] : "failed"].code;
}

function optionsFor(model: string, invocation: Invocation) {
  const options = configOptions(invocation);
  const provider = invocation.text("provider");
  const overrides = provider === undefined ? [] : [`model_provider=${JSON.stringify(provider)}`];
  return { ...options, model, overrides: [...options.overrides, ...overrides] };
}

interface TrialContext {
  model: string;
  costOf: ReturnType<typeof priceBook>;
  signal: AbortSignal;
}

async function attempt(name: Trial["name"], port: Model, { model, costOf, signal }: TrialContext): Promise<Trial> {
  const startedAt = performance.now();
  const reply = await port.reply(requestFor(name, model), () => {}, signal);
  const durationMs = Math.round(performance.now() - startedAt);
  const usage = reply.kind === "replied" ? reply.usage : reply.fault.usage;
  const problem = problemOf(name, reply);
  const code = reply.kind === "fault" ? reply.fault.code : null;
  return { name, works: problem === null, durationMs, costUsd: usage ? costOf(model, usage) : null, problem, code };
}

const requestFor = (name: Trial["name"], model: string): ModelRequest => ({
  ...questions[name],
  model,
  cacheKey: randomUUID(),
  turnId: randomUUID(),
});

function problemOf(name: Trial["name"], reply: ModelReply): string | null {
  // A model that reasons at length is cut at the maximum, and has answered.
  if (reply.kind === "fault")
    return reply.fault.incomplete === "max_output_tokens" && name === "answers" ? null : reply.fault.message;
  if (name === "answers")
    return reply.blocks.some(({ type }) => type === "message") ? null : "It replied without a message.";
  const call = reply.blocks.find((block) => block.type === "call");
  if (!call) return "It did not call the tool. An agent needs a model that calls tools.";
  return isJson(call.input) ? null : "It called the tool with arguments that are not JSON.";
}

const question = (text: string) => ({
  instructions: "You are being tested. Do exactly what is asked.",
  messages: [{ role: "user" as const, parts: [{ type: "text" as const, text }] }],
  maxOutputTokens: 512,
});

const questions: Record<
  Trial["name"],
  Pick<ModelRequest, "instructions" | "messages" | "tools" | "maxOutputTokens">
> = {
  answers: { ...question("Reply with the word OK."), tools: [] },
  "calls tools": {
    ...question('Call the tool report with {"word": "OK"}.'),
    tools: [
      {
        form: "function",
        name: "report",
        description: "Reports a word.",
        parameters: {
          type: "object",
          properties: { word: { type: "string" } },
          required: ["word"],
          additionalProperties: false,
        },
      },
    ],
  },
};

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const toText = ({ name, works, durationMs, costUsd, problem }: Trial): string =>
  `${works ? "ok  " : "FAIL"} ${name}${problem ? `: ${problem}` : ` (${(durationMs / 1000).toFixed(1)} s${costUsd === null ? "" : `, $${costUsd.toFixed(6)}`})`}\n`;

const toJson = ({ name, works, durationMs, costUsd, problem }: Trial): object => ({
  name,
  works,
  duration_ms: durationMs,
  cost_usd: costUsd,
  problem,
});
