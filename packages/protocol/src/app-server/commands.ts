// Commands that a client runs outside any thread.
import { z } from "zod";
import { maybe, whole } from "./maybe.ts";
import { SandboxPolicy } from "./policies.ts";

const processId = z.string();
const TerminalSize = z.object({ rows: whole.min(1), cols: whole.min(1) });

export const CommandExecParams = z.object({
  command: z.array(z.string()).min(1).describe("Program and arguments"),
  cwd: maybe(z.string()),
  env: maybe(z.record(z.string(), z.string().nullable())).describe("null removes a variable"),
  timeoutMs: maybe(whole.min(0)),
  disableTimeout: maybe(z.boolean()),
  outputBytesCap: maybe(whole.min(0)),
  disableOutputCap: maybe(z.boolean()),
  sandboxPolicy: maybe(SandboxPolicy),
  processId: maybe(processId),
  tty: maybe(z.boolean()),
  size: maybe(TerminalSize),
  streamStdin: maybe(z.boolean()),
  streamStdoutStderr: maybe(z.boolean()),
});
export type CommandExecParams = z.infer<typeof CommandExecParams>;
export const CommandExecResponse = z.object({ exitCode: whole, stdout: z.string(), stderr: z.string() });

export const CommandExecWriteParams = z.object({
  processId,
  deltaBase64: maybe(z.string()),
  closeStdin: maybe(z.boolean()),
});
export const CommandExecResizeParams = z.object({ processId, size: TerminalSize });
export const CommandExecTerminateParams = z.object({ processId });

export const CommandExecOutputDeltaNotification = z.object({
  processId,
  stream: z.enum(["stdout", "stderr"]),
  deltaBase64: z.string(),
  capReached: z.boolean(),
});
