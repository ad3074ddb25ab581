// Access to one repository over ssh: host keys are checked strictly, and a team's key is offered by an agent in this process.
import { mkdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hostText } from "@agentcli/workspace/hosts";
import { makeTemporaryDirectory } from "../../foundation/index.ts";
import { type GitRemote, requireGit } from "../git/index.ts";
import { knownHostsText, openSshAgent } from "../ssh/index.ts";
import type { SshCredentials } from "./host-credentials.ts";
import { addressesOf, type PinOptions } from "./pinned-address.ts";
import { type RepositoryUrl, urlText } from "./repository-url.ts";

export interface SshSession {
  remote: GitRemote;
  /** Instead of those of `remote`: ssh then prints the key that the host offers. */
  verboseVariables: Record<string, string>;
  close(): Promise<void>;
}

export interface SshOptions extends PinOptions {
  credentials: SshCredentials;
}

export async function openSshSession(
  url: RepositoryUrl,
  options: SshOptions,
  signal: AbortSignal,
): Promise<SshSession> {
  const [address = ""] = await addressesOf(url, options.policy, signal);
  await requireGit();
  const { key, hostKeys } = options.credentials;
  mkdirSync(options.sshDirectory, { recursive: true, mode: 0o700 });
  // Paths of sockets are short, and the data directory may be deep.
  const directory = await makeTemporaryDirectory("ssh");
  const host = hostText(url.host);
  const files = {
    knownHosts: hostKeys === undefined ? `${options.sshDirectory}/known_hosts` : join(directory, "known_hosts"),
    agent: key === undefined ? undefined : join(directory, "agent"),
    identity: key === undefined ? `${options.sshDirectory}/id` : undefined,
  };
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    if (hostKeys !== undefined) await writeFile(files.knownHosts, knownHostsText(host, hostKeys), { mode: 0o600 });
    const agent = key && files.agent ? await openSshAgent(files.agent, key.key) : undefined;
    const variables = (level: string) => ({
      GIT_SSH_VARIANT: "ssh",
      GIT_SSH_COMMAND: sshCommand({ host, address, files, level }),
    });
    return {
      remote: { address: urlText(url), protocol: "ssh", config: [], variables: variables("INFO") },
      verboseVariables: variables("DEBUG1"),
      async close() {
        await agent?.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

interface SshCommand {
  host: string;
  address: string;
  files: { knownHosts: string; agent: string | undefined; identity: string | undefined };
  level: string;
}

/** Git passes the command to a shell, so it contains only validated values and constants. */
function sshCommand({ host, address, files, level }: SshCommand): string {
  const options = {
    BatchMode: "yes",
    ConnectTimeout: "15",
    HostName: address,
    HostKeyAlias: host,
    LogLevel: level,
    StrictHostKeyChecking: "yes",
    UpdateHostKeys: "no",
    UserKnownHostsFile: `"${files.knownHosts}"`,
    GlobalKnownHostsFile: "none",
    // Without a file, and not only the agent's: ssh would look for keys of the user it runs as.
    IdentityFile: files.identity === undefined ? "none" : `"${files.identity}"`,
    IdentitiesOnly: files.identity === undefined ? "no" : "yes",
    IdentityAgent: files.agent === undefined ? "none" : `"${files.agent}"`,
    PreferredAuthentications: "publickey,none",
    ClearAllForwardings: "yes",
    PermitLocalCommand: "no",
  };
  const words = Object.entries(options).map(([key, value]) => `-o '${key}=${value.replaceAll("'", "'\\''")}'`);
  return ["ssh", "-F", "/dev/null", ...words].join(" ");
}
