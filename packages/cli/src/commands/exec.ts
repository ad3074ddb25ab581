// `agentcli exec`: one prompt, one turn, one final message.
import { emptyThread, freeze } from "@agentcli/engine";
import type { Invocation } from "../args.ts";
import { joinServers } from "../mcp/join.ts";
import type { Program } from "../program.ts";
import { readPrompt } from "../prompt-input.ts";
import { carryOut, openRun, type Run } from "../run.ts";
import { runOptions } from "../run-options.ts";
import { newId } from "../sessions/thread-id.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const run = await openRun(runOptions(invocation), program, null);
  try {
    const [prompt = null] = invocation.positionals;
    const text = await readPrompt({ argument: prompt, stdinLimitMs: run.limits.stdinMs, say: program.reporter.say });
    const joined = await joinServers(run);
    return await carryOut(await startThread(text, joined), joined);
  } finally {
    await run.close();
  }
}

async function startThread(prompt: string, run: Run) {
  const threadId = newId(Date.now());
  const { settings, surroundings, tools, traits, sandbox } = run;
  const log = run.openLog(emptyThread(threadId), run.program.reporter.show);
  await log.write(
    {
      type: "thread.created",
      threadId,
      frozen: freeze(settings, surroundings, tools, traits),
      settings,
      program: { name: "agentcli", version: run.program.version },
    },
    { type: "noted", kind: "sandbox", data: { ...sandbox } },
    { type: "turn.begun", turnId: newId(Date.now()), input: [{ type: "text", text: prompt }], settings },
    ...run.notes,
  );
  return log;
}
