// `agentcli app-server generate-ts`: the protocol as TypeScript types.
import { typescriptFiles, writeFiles } from "@agentcli/app-server/schema";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  writeFiles(typescriptFiles, invocation, program);
