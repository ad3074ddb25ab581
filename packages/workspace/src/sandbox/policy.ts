// What commands of one thread may touch: a value, made once, enforced by the kernel.
import { realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { SandboxMode } from "@agentcli/protocol";

export interface SandboxPolicy {
  mode: SandboxMode;
  /** Absolute, without symlinks. */
  root: string;
  /** More directories that may be written in workspace-write. */
  writableRoots: string[];
  /** With a proxy only the hosts of allowedDomains can be reached, and nothing goes around it. */
  network: "on" | "off" | "proxy";
  allowedDomains: string[];
  deniedDomains: string[];
  unixSockets: "allowed" | "refused";
  /** Files and directories that seem empty or unreadable inside. Those that do not exist are passed over. */
  hidden: string[];
  /** Shown read-only even inside something hidden. */
  shown: string[];
  /** Directly under every writable root these stay as they are, and cannot be made when missing. */
  protectedNames: string[];
  /** Whether git add, commit, mv and rm may bring commits into protected repositories. */
  git: "commit" | "none";
  /** Nested sandboxes need user namespaces of their own. */
  nestedSandboxes: "allowed" | "refused";
}

export const protectedNames = [".git", ".agentcli", ".agents", ".platform"];

export type PolicyChoice = Pick<SandboxPolicy, "mode" | "root"> & Partial<SandboxPolicy>;

/** Fills in what was not chosen: no network, nothing more to write, nothing hidden. */
export function sandboxPolicy(choice: PolicyChoice): SandboxPolicy {
  return {
    network: choice.mode === "danger-full-access" ? "on" : "off",
    allowedDomains: [],
    deniedDomains: [],
    unixSockets: "refused",
    hidden: [],
    shown: [],
    protectedNames,
    git: "commit",
    nestedSandboxes: "refused",
    ...choice,
    root: realpathSync(choice.root),
    writableRoots: (choice.writableRoots ?? []).map(resolveWhereThere),
  };
}

/** One that is missing keeps its name, so that opening the sandbox can refuse it by name. */
function resolveWhereThere(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const secretsInHome = [
  ".agentcli",
  ".ssh",
  ".aws",
  ".config/gh",
  ".gnupg",
  ".netrc",
  ".docker/config.json",
  ".config/containers/auth.json",
  ".npmrc",
  ".pypirc",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".gem/credentials",
  ".git-credentials",
  ".config/git/credentials",
  ".pgpass",
  ".vault-token",
  ".terraform.d/credentials.tfrc.json",
  ".password-store",
  ".local/share/keyrings",
  ".kube",
  ".config/gcloud",
  ".azure",
];

/** What a tool has no business reading: the agent's own home and the usual places of credentials. */
export const hiddenByDefault = (home: string, agentHome: string): string[] => [
  agentHome,
  ...[...new Set([home, ...accountHome()])].flatMap((each) => secretsInHome.map((path) => join(each, path))),
];

/** HOME may point elsewhere, as it does in CI; the keys stay where the account has them. */
function accountHome(): string[] {
  try {
    return [userInfo().homedir];
  } catch {
    // An account without an entry in the password file, as in many containers.
    return [];
  }
}
