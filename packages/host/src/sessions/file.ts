// A session file, with errors that tell the user what to do.

import { closeSync, existsSync } from "node:fs";
import { HostError } from "../host-error.ts";
import { type LineFile, LineFileFault, openLineFile } from "../line-file.ts";

import { checkDirectories, openTrusted } from "./trusted-file.ts";

export type SessionFile = LineFile;

export function openSessionFile(path: string, threadId: string): SessionFile {
  checkDirectories(path);
  if (existsSync(path)) closeSync(openTrusted(path));
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

const problems: Record<LineFileFault["attempted"], (fault: LineFileFault) => HostError> = {
  open: ({ path, message }) =>
    new HostError(
      "usage",
      `The session cannot be saved as ${path}: ${message}. ${isFull(message) ? "The disk is full: free some space on it, or set AGENT_HOME to a directory on another" : "Set AGENT_HOME to a directory you can write"}, or run without a session file: --ephemeral.`,
    ),
  write: ({ path, message }) =>
    new HostError(
      "failed",
      `The session file ${path} cannot be written: ${message}. Free some space and resume, or run without a session file: --ephemeral.`,
    ),
};

const isFull = (message: string): boolean => /ENOSPC|EDQUOT/.test(message);
