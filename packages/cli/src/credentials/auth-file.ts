// The saved login: $AGENT_HOME/auth.json, readable by its owner alone, replaced whole or not at all.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { makePrivateDirectory } from "@agentcli/host";
import type { AuthFile } from "@agentcli/protocol";

export interface SavedLogin {
  path: string;
  content: AuthFile;
  /** Others on this machine could read the file. */
  warning: string | null;
}

export const authPath = (home: string): string => join(home, "auth.json");

export async function readAuthFile(home: string): Promise<SavedLogin | null> {
  const path = authPath(home);
  const text = readIfPresent(path);
  if (text === null) return null;
  const content = parse(text);
  const { validateAuthFile } = await import("@agentcli/protocol/validators/saved");
  if (content === undefined || !validateAuthFile(content)) {
    throw new CommandError(
      "auth",
      `${path} is damaged: ${whatIsWrong(validateAuthFile.errors)} Log in again: agentcli login.`,
    );
  }
  return { path, content: content as AuthFile, warning: permissionWarning(path) };
}

export function writeAuthFile(home: string, content: AuthFile): void {
  makePrivateDirectory(home);
  const path = authPath(home);
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  const file = openSync(draft, "wx", 0o600);
  try {
    writeSync(file, `${JSON.stringify(content, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
}

/** As `agentcli login` keeps it. */
export const saveKey = (home: string, key: string): void =>
  writeAuthFile(home, { auth_mode: "api_key", AGENT_API_KEY: key, last_refresh: new Date().toISOString() });

export function removeAuthFile(home: string): "removed" | "absent" {
  const path = authPath(home);
  if (!statSync(path, { throwIfNoEntry: false })) return "absent";
  rmSync(path, { force: true });
  return "removed";
}

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new CommandError(
      "auth",
      `${path} cannot be read: ${message}. Fix its permissions or log in again: agentcli login.`,
    );
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Names the location and never quotes the content. */
function whatIsWrong(violations: { instancePath: string; message?: string }[] | null | undefined): string {
  const [violation] = violations ?? [];
  if (!violation) return "it is not JSON.";
  return `${violation.instancePath.slice(1).replaceAll("/", ".") || "it"} ${violation.message ?? "is not valid"}.`;
}

function permissionWarning(path: string): string | null {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return null;
  return `warning: ${path} can be read by others (mode ${mode.toString(8)}). Keep it to yourself: chmod 600 ${path}`;
}
