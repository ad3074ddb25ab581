// A login that is kept: the key of every call that names none, in a file that only its owner can read.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { makePrivateDirectory } from "@agentcli/host/private-directory";
import { fieldsOf } from "./refusal.ts";
import type { Runtime } from "./runtime.ts";

export interface StoredSdkCredentials {
  version: 1;
  /** The key is sent to this platform and to no other. */
  backendUrl: string;
  apiKey: string;
  /** Milliseconds since 1970; absent where it does not expire. */
  apiKeyExpiresAtMs?: number;
  email?: string;
  createdAtMs: number;
}

/** Where logins are kept; the file unless a program brings its own. */
export interface SdkCredentialStore {
  load(): Promise<StoredSdkCredentials | undefined>;
  save(credentials: StoredSdkCredentials): Promise<void>;
  clear(): Promise<void>;
}

export function fileCredentials(variables: Runtime["variables"]): SdkCredentialStore {
  const file = loginFile(variables);
  return {
    load: async () => readLogin(variables),
    async save(credentials) {
      makePrivateDirectory(dirname(file));
      const draft = `${file}.${process.pid}.draft`;
      writeFileSync(draft, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
      renameSync(draft, file);
    },
    clear: async () => rmSync(file, { force: true }),
  };
}

/** Undefined where no user is logged in: there is no file, it is not ours, or its key is too old. */
export function readLogin(variables: Runtime["variables"]): StoredSdkCredentials | undefined {
  const kept = credentialsIn(textOf(loginFile(variables)));
  return kept && !isExpired(kept) ? kept : undefined;
}

export const isExpired = ({ apiKeyExpiresAtMs }: StoredSdkCredentials): boolean =>
  apiKeyExpiresAtMs !== undefined && apiKeyExpiresAtMs <= Date.now();

function loginFile(variables: Runtime["variables"]): string {
  const usual = join(variables.HOME || homedir(), ".platform", "sdk");
  return join(resolve(variables.PLATFORM_SDK_HOME || usual), "auth.json");
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

function credentialsIn(text: string): StoredSdkCredentials | undefined {
  const value = fieldsOf(parsed(text));
  const isOurs = value.version === 1 && typeof value.apiKey === "string" && typeof value.backendUrl === "string";
  return isOurs ? (value as unknown as StoredSdkCredentials) : undefined;
}

/** A damaged file is the same as no login. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
