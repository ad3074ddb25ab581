// The repository around a directory as others know it: the addresses of its remotes.
import { CommandError } from "@agentcli/command-line";
import type { Environment } from "@agentcli/host";
import { git } from "@agentcli/host/git";
import { findRepositoryRoot } from "@agentcli/workspace";

export interface Checkout {
  root: string;
  /** By the names of the remotes. */
  remotes: Map<string, string>;
}

/** Null outside of a repository. */
export async function findCheckout(environment: Environment, signal: AbortSignal): Promise<Checkout | null> {
  const root = findRepositoryRoot(environment.cwd);
  if (!root) return null;
  const args = ["config", "--get-regexp", "--null", "^remote\\..*\\.url$"];
  const { stdout } = await git({ directory: root, args, environment, signal });
  const entries = stdout.toString().split("\0").filter(Boolean);
  const remotes = entries.map((entry): [string, string] => {
    const [key = "", ...url] = entry.split("\n");
    return [key.replace(/^remote\.(.*)\.url$/s, "$1"), url.join("\n")];
  });
  return { root, remotes: new Map(remotes) };
}

/** Throws a CommandError where git sees something else there, a repository further up as a rule: it would pass changes over without a word. */
export async function requireTop(root: string, environment: Environment, signal: AbortSignal): Promise<void> {
  const args = ["rev-parse", "--show-prefix"];
  const { code, stdout, stderr } = await git({ directory: root, args, environment, signal });
  if (code === 0 && stdout.toString().trim() === "") return;
  const reason = code === 0 ? "it is part of another git repository" : stderr.trim();
  throw new CommandError("usage", `Changes cannot be applied to ${root}: ${reason}.`);
}

/** An address that the platform can reach too: not a directory of this machine, and without a password. */
export function sharedAddress(address: string): string | null {
  if (/^[\w.-]+@[\w.-]+:(?!\/\/)\S+$/.test(address)) return address;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || !/^(?:https?|ssh|git):$/.test(url.protocol)) return null;
  url.password = "";
  if (url.protocol !== "ssh:") url.username = "";
  return url.toString();
}

/** Without scheme, user and ending: one text for one repository, as the platform writes it. */
export function bareAddress(address: string): string {
  const scp = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)(\S+)$/.exec(address);
  const url = !scp && URL.canParse(address) ? new URL(address) : null;
  const bare = scp ? `${scp[1]}/${scp[2]}` : url ? `${url.host}${url.pathname}` : address;
  return bare
    .replace(/\/{2,}/g, "/")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "")
    .toLowerCase();
}
