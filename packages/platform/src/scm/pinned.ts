// A repository on the network as git may reach it: resolved and checked here, so that git asks no resolver again.
import { mkdirSync } from "node:fs";
import { isIPv6 } from "node:net";
import { hostText } from "@agentcli/workspace/hosts";
import { type GitRemote, RepositoryFault, requireGit } from "../git/index.ts";
import type { NetworkPolicy } from "../network/index.ts";
import { type RepositoryUrl, shownUrl, urlText } from "./repository-url.ts";

export interface PinOptions {
  policy: NetworkPolicy;
  /** Where hosts that ssh has met are written down, and where the key of the platform is, if it has one. */
  sshDirectory: string;
}

export async function pinnedRemote(url: RepositoryUrl, options: PinOptions, signal: AbortSignal): Promise<GitRemote> {
  const addresses = await addressesOf(url, options.policy, signal);
  // An older one would not heed the addresses, and ask a resolver again.
  await requireGit();
  switch (url.scheme) {
    case "http":
    case "https":
      return {
        address: urlText(url),
        protocol: url.scheme,
        config: [
          ["http.curloptResolve", `${bracketed(hostText(url.host))}:${url.port}:${addresses.map(bracketed).join(",")}`],
        ],
        variables: {},
      };
    case "git":
      return {
        address: urlText(url, addresses[0]),
        protocol: "git",
        config: [],
        variables: { GIT_OVERRIDE_VIRTUAL_HOST: `${hostText(url.host)}:${url.port}` },
      };
    case "ssh":
      mkdirSync(options.sshDirectory, { recursive: true, mode: 0o700 });
      return {
        address: urlText(url),
        protocol: "ssh",
        config: [],
        variables: { GIT_SSH_VARIANT: "ssh", GIT_SSH_COMMAND: sshCommand(url, addresses, options.sshDirectory) },
      };
  }
}

/** Throws RepositoryFault where there is none that may be dialled. */
export async function addressesOf(url: RepositoryUrl, policy: NetworkPolicy, signal: AbortSignal): Promise<string[]> {
  const resolved = await policy.resolve(url.host, signal);
  switch (resolved.kind) {
    case "addresses":
      return resolved.addresses;
    case "private":
      throw new RepositoryFault(
        "repository_unreachable",
        `${shownUrl(url)} leads to a private network. An administrator can list the address under [network] allow_private.`,
      );
    case "unknown":
      throw new RepositoryFault("repository_unreachable", `${resolved.reason}. Check the address of the repository.`);
  }
}

const bracketed = (address: string) => (isIPv6(address) ? `[${address}]` : address);

/** Everything in it is checked or ours; git gives the command to a shell. */
function sshCommand(url: RepositoryUrl, [address = ""]: string[], directory: string): string {
  const options = {
    BatchMode: "yes",
    ConnectTimeout: "15",
    HostName: address,
    HostKeyAlias: hostText(url.host),
    StrictHostKeyChecking: "accept-new",
    UserKnownHostsFile: `"${directory}/known_hosts"`,
    IdentityFile: `"${directory}/id"`,
    IdentitiesOnly: "yes",
    IdentityAgent: "none",
    ClearAllForwardings: "yes",
    PermitLocalCommand: "no",
  };
  const words = Object.entries(options).map(([key, value]) => `-o '${key}=${value.replaceAll("'", "'\\''")}'`);
  return ["ssh", "-F", "/dev/null", ...words].join(" ");
}
