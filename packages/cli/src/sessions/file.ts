// A session file, and in which words people are told that it cannot be kept.
import { type LineFile, LineFileFault, openLineFile } from "@agentcli/local";
import { Problem } from "../problem.ts";

export type SessionFile = LineFile;

export function openSessionFile(path: string, threadId: string): SessionFile {
  const file = inWords(() => openLineFile(path, threadId));
  return { ...file, append: (text) => inWords(() => file.append(text)) };
}

function inWords<Value>(act: () => Value): Value {
  try {
    return act();
  } catch (error) {
    throw error instanceof LineFileFault ? problems[error.attempted](error) : error;
  }
}

const problems: Record<LineFileFault["attempted"], (fault: LineFileFault) => Problem> = {
  open: ({ path, message }) =>
    new Problem(
      "usage",
      `The session cannot be kept as ${path}: ${message}. Set AGENT_HOME to a directory you can write, or keep no session with --ephemeral.`,
    ),
  write: ({ path, message }) =>
    new Problem(
      "failed",
      `The session file ${path} cannot be written: ${message}. Make room and resume, or keep no session with --ephemeral.`,
    ),
};
