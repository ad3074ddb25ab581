// The token of clients that connect over a port, made once per agent home, in a file that only its owner can read.
import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { makePrivateDirectory } from "@agentcli/host";

export interface TokenFile {
  path: string;
  token: string;
}

/** The same token for every server of this home: a second one must not lock out clients of the first. */
export function openTokenFile(agentHome: string): TokenFile {
  const path = join(agentHome, "app-server-control", "ws-token");
  try {
    const token = readToken(path) ?? makeToken(path) ?? readToken(path);
    if (token !== undefined) return { path, token };
    throw unusable(path, "another process keeps removing it");
  } catch (error) {
    throw error instanceof CommandError ? error : unusable(path, (error as Error).message);
  }
}

/** Undefined where there is no file. */
function readToken(path: string): string | undefined {
  const file = openIfExists(path);
  if (file === undefined) return undefined;
  try {
    const { uid, mode } = fstatSync(file);
    const isPrivate = uid === process.geteuid?.() && (mode & 0o077) === 0;
    if (!isPrivate) throw unusable(path, "other users can read it");
    const token = readFileSync(file, "utf8").trim();
    if (/^[\w-]{43}$/.test(token)) return token;
    throw unusable(path, "it does not hold a token");
  } finally {
    closeSync(file);
  }
}

/** Never through a link, and without waiting where the name is a pipe. */
function openIfExists(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Undefined where another server was faster. Complete from the moment it has its name. */
function makeToken(path: string): string | undefined {
  const token = randomBytes(32).toString("base64url");
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  makePrivateDirectory(dirname(path));
  writeFileSync(draft, `${token}\n`, { mode: 0o600, flag: "wx" });
  try {
    linkSync(draft, path);
    return token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

const unusable = (path: string, reason: string) =>
  new CommandError(
    "usage",
    `The token file ${path} cannot be used: ${reason}. Remove it to get a new token, or give one with --ws-auth capability-token --ws-token-file FILE.`,
  );
