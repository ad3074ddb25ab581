// Names of sessions: lines of $AGENT_HOME/session_index.jsonl, only ever added to; the last line for a thread counts.
import { appendFileSync, closeSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionName } from "@agentcli/protocol";
import { unprintable } from "@agentcli/protocol/names";
import { HostError } from "../host-error.ts";
import { makePrivateDirectory } from "../private-directory.ts";
import { openOwnFile } from "./trusted-file.ts";

const indexPath = (home: string): string => join(home, "session_index.jsonl");

/** Thread id to name; none from an index that is not this user's alone. */
export function readNames(home: string): Map<string, string> {
  try {
    return trustedNames(home);
  } catch (error) {
    if (error instanceof HostError) return new Map();
    throw error;
  }
}

/**
 * The same, where a name decides which thread is continued: throws HostError for an index that is not this user's alone. A
 * line that cannot be parsed was cut short by a crash and is skipped.
 */
export const trustedNames = (home: string): Map<string, string> =>
  new Map(readLines(home).map(({ id, thread_name: name }) => [id, name]));

/** Several threads may have the same name: clients make titles of their own. */
export function writeName(home: string, id: string, name: string): void {
  if (name.trim() !== name || name === "" || name.length > 200 || unprintable.test(name)) {
    throw new HostError(
      "usage",
      "Invalid name: use 1 to 200 characters on one line, without leading or trailing spaces.",
    );
  }
  makePrivateDirectory(home);
  const line: SessionName = { id, thread_name: name, updated_at: new Date().toISOString() };
  // The leading line end terminates a line that a crash may have cut short.
  appendFileSync(indexPath(home), `${endsOpen(home) ? "\n" : ""}${JSON.stringify(line)}\n`, { mode: 0o600 });
}

const endsOpen = (home: string): boolean => !/(^|\n)$/.test(readIndex(home));

function readLines(home: string): SessionName[] {
  return readIndex(home)
    .split("\n")
    .flatMap((line) => {
      try {
        const parsed = JSON.parse(line);
        return typeof parsed?.id === "string" && typeof parsed.thread_name === "string" ? [parsed] : [];
      } catch {
        return [];
      }
    });
}

function readIndex(home: string): string {
  let file: number | undefined;
  try {
    file = openOwnFile(indexPath(home));
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
