// `agentcli app-server`: other programs drive the agent.
import type { Invocation } from "../args.ts";
import type { Program } from "../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { serve } = await import("../app-server/serve.ts");
  return serve(invocation, program);
}
