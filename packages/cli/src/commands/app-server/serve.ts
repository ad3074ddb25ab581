// `agentcli app-server`: other programs drive the agent.
import { serve } from "@agentcli/app-server";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { openAgent } from "./agent.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  serve(invocation, program, openAgent(invocation, program));
