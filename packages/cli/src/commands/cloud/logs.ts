// `agentcli cloud logs`: the history of an agent; a running one is followed to its end.
import type { Run } from "@agentcli/protocol/api";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { agentIdIn } from "../../cloud/agent-id.ts";
import { type CloudPlatform, openCloud } from "../../cloud/platform.ts";
import { openRenderer } from "../../cloud/render.ts";
import { modelLines } from "../../cloud/status.ts";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const cloud = await openCloud(invocation, program);
  const agentId = agentIdIn(invocation, "agentcli cloud logs");
  const runs = await cloud.listRuns(agentId);
  const shown = invocation.has("all") ? runs.reverse() : runs.slice(0, 1);
  const form = invocation.has("json") ? "json" : "text";
  for (const one of shown) await show(one, { cloud, program, form });
  return exitCodes.completed.code;
}

interface LogContext {
  cloud: CloudPlatform;
  program: Program;
  form: "json" | "text";
}

async function show(run: Run, { cloud, program, form }: LogContext): Promise<void> {
  if (form === "text")
    await program.print(
      modelLines(run)
        .map((line) => `${line}\n`)
        .join(""),
    );
  const render = openRenderer();
  await cloud.follow(run, async (frame) => {
    if (frame.event === "heartbeat") return;
    const lines = form === "json" ? [JSON.stringify(frame)] : render(frame);
    await program.print(lines.map((line) => `${line}\n`).join(""));
  });
}
