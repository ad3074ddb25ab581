// command/exec as it was meant: what contradicts itself is refused here, what was left out is filled in.
import type { ExecRequest } from "@agentcli/protocol";
import type { CommandExecParams } from "@agentcli/protocol/app-server";
import { invalidParams } from "../method.ts";

export interface CommandRequest {
  argv: string[];
  env: Record<string, string>;
  /** Null is for ever, undefined as configured. */
  timeoutMs: number | null | undefined;
  terminal: NonNullable<ExecRequest["start"]>["terminal"];
  input: "none" | "streamed";
  /** The process id that output is streamed under; null keeps it for the answer. */
  streamAs: string | null;
  capBytes: number;
}

const usualCapBytes = 1024 * 1024;
/** What is kept for an answer has to fit into one message. */
const maxKeptBytes = 32 * 1024 * 1024;
const usualSize = { rows: 24, cols: 80 };

export function readCommand(params: CommandExecParams): CommandRequest {
  const { processId, tty, size, streamStdin, streamStdoutStderr, timeoutMs, disableTimeout } = params;
  refuseContradictions(params);
  const isStreamed = (tty || streamStdoutStderr) ?? false;
  const { rows, cols } = size ?? usualSize;
  return {
    ...programOf(params),
    timeoutMs: disableTimeout ? null : (timeoutMs ?? undefined),
    terminal: tty ? { rows, columns: cols } : undefined,
    input: tty || streamStdin ? "streamed" : "none",
    streamAs: isStreamed ? (processId ?? null) : null,
    capBytes: capOf(params, isStreamed ? "told" : "kept"),
  };
}

function refuseContradictions(params: CommandExecParams): void {
  const { command, processId, tty, size, streamStdin, streamStdoutStderr } = params;
  if (command[0] === "") throw invalidParams("command: the program has no name.");
  const needsId = (tty && "tty") || (streamStdin && "streamStdin") || (streamStdoutStderr && "streamStdoutStderr");
  if (needsId && !processId) throw invalidParams(`${needsId} needs a processId, so that the process can be spoken of.`);
  if (size && !tty) throw invalidParams("size is for tty only.");
  if (params.disableTimeout && params.timeoutMs != null) throw bothGiven("disableTimeout", "timeoutMs");
  if (params.disableOutputCap && params.outputBytesCap != null) throw bothGiven("disableOutputCap", "outputBytesCap");
  const badName = Object.keys(params.env ?? {}).find((name) => name === "" || /[=\0]/.test(name));
  if (badName !== undefined) throw invalidParams(`env: ${JSON.stringify(badName)} cannot be the name of a variable.`);
}

const bothGiven = (one: string, other: string) => invalidParams(`${one} and ${other} contradict each other.`);

/** Variables are removed by `env`, including those the sandbox sets itself. */
function programOf({ command, env }: CommandExecParams): Pick<CommandRequest, "argv" | "env"> {
  const entries = Object.entries(env ?? {});
  const removed = entries.flatMap(([name, value]) => (value === null ? ["-u", name] : []));
  return {
    argv: removed.length === 0 ? command : ["env", ...removed, "--", ...command],
    env: Object.fromEntries(entries.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))),
  };
}

function capOf({ disableOutputCap, outputBytesCap }: CommandExecParams, output: "told" | "kept"): number {
  const wanted = disableOutputCap ? Infinity : (outputBytesCap ?? usualCapBytes);
  return output === "told" ? wanted : Math.min(wanted, maxKeptBytes);
}
