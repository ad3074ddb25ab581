// `agentcli app-server generate-json-schema`: the protocol as JSON Schema files.
import { jsonSchemaFiles, writeFiles } from "@agentcli/app-server/schema";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  writeFiles(jsonSchemaFiles, invocation, program);
