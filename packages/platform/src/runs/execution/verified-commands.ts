// The commands of a run that say whether its work is right, with their last results. Pure.
import type { ThreadRecord } from "@agentcli/protocol";
import type { VerifiedCommand } from "../../repositories/index.ts";

/** Each command once, in the order of their last runs. Commands that only look, or move files, are left out. */
export function verifiedCommands(records: ThreadRecord[]): VerifiedCommand[] {
  const begun = new Map<string, string>();
  const sessions = new Map<number, string>();
  const results = new Map<string, number | null>();
  const settle = (command: string | undefined, exitCode: number | null) => {
    if (command === undefined) return;
    results.delete(command);
    results.set(command, exitCode);
  };
  for (const record of records) {
    if (record.type === "tool.begun") {
      const command = commandIn(record.args);
      if (command !== undefined && !isPreparation(command)) begun.set(record.callId, command);
    }
    if (record.type !== "tool.settled") continue;
    const { detail } = record.outcome;
    if (detail.kind === "command") {
      const command = begun.get(record.callId);
      if (detail.sessionId !== undefined && command !== undefined) sessions.set(detail.sessionId, command);
      settle(command, detail.exitCode);
    }
    // A command that outlived its call is read to its end by later calls.
    if (detail.kind === "input" && !detail.running) settle(sessions.get(detail.sessionId), detail.exitCode);
  }
  return [...results].map(([command, exitCode]) => ({ command, exitCode }));
}

function commandIn(args: unknown): string | undefined {
  const command = typeof args === "object" && args !== null && "cmd" in args ? args.cmd : undefined;
  return typeof command === "string" && command.trim() !== "" ? command.trim() : undefined;
}

/** Every part of the command line reads, writes or arranges files, or is git. */
const isPreparation = (command: string): boolean =>
  command
    .split(/&&|\|\||[;|\n]/)
    .map((part) => part.trim().replace(/^(?:(?:do|then|else|if|elif|while|until|time)\s+|\w+=\S*\s+)+/, ""))
    .filter((part) => part !== "" && !/^(?:for|done|fi|case|esac|else)\b/.test(part))
    .every((part) => /^[({!\s]*(?:\w+=|#)/.test(part) || preparations.has(part.split(/\s+/)[0] ?? ""));

const preparations = new Set(
  [
    ["cd", "pwd", "ls", "cat", "head", "tail", "less", "wc", "sed", "awk", "grep", "rg", "find", "fd", "tree", "stat"],
    ["echo", "printf", "which", "type", "command", "env", "printenv", "export", "set", "true", ":", "sleep", "date"],
    ["mkdir", "touch", "rm", "rmdir", "cp", "mv", "ln", "chmod", "tee", "sort", "uniq", "cut", "tr", "xargs", "diff"],
    ["git", "curl", "wget", "tar", "unzip", "file", "du", "df", "ps", "kill", "uname", "whoami", "id", "test", "["],
    ["seq", "dd", "truncate", "yes", "patch", "basename", "dirname", "realpath", "base64", "sha256sum", "ssh-keygen"],
  ].flat(),
);
