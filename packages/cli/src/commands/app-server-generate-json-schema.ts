// `agentcli app-server generate-json-schema`: the protocol as JSON Schema files.
import { jsonSchemaFiles } from "../app-server/schema/json-files.ts";
import { writeFiles } from "../app-server/schema/write.ts";
import type { Invocation } from "../args.ts";
import type { Program } from "../program.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  writeFiles(jsonSchemaFiles, invocation, program);
