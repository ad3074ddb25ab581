// `agentcli app-server generate-ts`: the protocol as TypeScript types.
import { typescriptFiles } from "../app-server/schema/typescript-files.ts";
import { writeFiles } from "../app-server/schema/write.ts";
import type { Invocation } from "../args.ts";
import type { Program } from "../program.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  writeFiles(typescriptFiles, invocation, program);
