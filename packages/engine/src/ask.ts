// One request to the model and what it brought: a reply, a shorter history, or the end of the turn.
import { canCompact, compact } from "./compact.ts";
import type { Drive } from "./drive.ts";
import { charged, failedTurn, request, requestFor } from "./request.ts";

export async function ask(run: Drive): Promise<void> {
  const { log, signal } = run;
  const reply = await request(requestFor(log.state, run), run);
  if (reply.kind === "replied") {
    return log.write({ type: "model.replied", blocks: reply.blocks, ...charged(reply, run) });
  }
  if (signal.aborted) return;
  if (reply.fault.code === "context_window" && canCompact(log.state)) return compact(run);
  return log.write(failedTurn(log.state, reply.fault));
}
