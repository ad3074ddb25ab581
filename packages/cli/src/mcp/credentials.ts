// Logins to MCP servers: one file in the agent home that only its owner can read, replaced as a whole.
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError } from "@agentcli/command-line";
import type { CredentialStore, Credentials } from "@agentcli/mcp";

export const credentialsPath = (agentHome: string): string => join(agentHome, ".credentials.json");

export function openCredentials(agentHome: string): CredentialStore {
  const path = credentialsPath(agentHome);
  return {
    read: async (server) => readFile(path)[server] ?? null,
    async write(server, credentials) {
      replaceFile(path, `${JSON.stringify({ ...readFile(path), [server]: credentials }, null, 2)}\n`);
    },
    async remove(server) {
      const { [server]: removed, ...rest } = readFile(path);
      if (removed) replaceFile(path, `${JSON.stringify(rest, null, 2)}\n`);
      return removed !== undefined;
    },
  };
}

function readFile(path: string): Record<string, Credentials> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new CommandError("usage", `${path} cannot be read: ${(error as Error).message}.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError("usage", `${path} is not valid JSON. Remove it and log in again with agentcli mcp login.`);
  }
}

/** Readers see the old text or the new, never half of one. */
export function replaceFile(path: string, text: string, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const beside = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(beside, text, { mode, flag: "wx" });
    chmodSync(beside, mode);
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw new CommandError("usage", `${path} cannot be written: ${(error as Error).message}.`);
  }
}
