// A network repository as git may access it: its host is resolved and checked here, and git uses those addresses without another DNS lookup.
import { isIPv6 } from "node:net";
import { hostText } from "@agentcli/workspace/hosts";
import { type NetworkPolicy, privateAddressReason } from "../../foundation/index.ts";
import { type GitRemote, RepositoryFault, requireGit } from "../git/index.ts";
import { type RepositoryUrl, shownUrl, urlText } from "./repository-url.ts";

export interface PinOptions {
  policy: NetworkPolicy;
  /** Holds the known_hosts file and the platform's private key, if there is one. */
  sshDirectory: string;
  /** The certificates that git trusts; absent: its own list. */
  certificateFile?: string | undefined;
}

/** For all protocols but ssh. */
export async function pinnedRemote(url: RepositoryUrl, options: PinOptions, signal: AbortSignal): Promise<GitRemote> {
  const addresses = await addressesOf(url, options.policy, signal);
  // Older versions of git ignore the pinned addresses and resolve the name again.
  await requireGit();
  switch (url.scheme) {
    case "http":
    case "https":
      return {
        address: urlText(url),
        protocol: url.scheme,
        config: [
          [
            "http.curloptResolve",
            `${withBrackets(hostText(url.host))}:${url.port}:${addresses.map(withBrackets).join(",")}`,
          ],
          ...certificates(options),
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
      throw new Error("a repository over ssh is reached with openSshSession");
  }
}

const certificates = ({ certificateFile }: PinOptions): [string, string][] =>
  certificateFile === undefined ? [] : [["http.sslCAInfo", certificateFile]];

/** Throws RepositoryFault if the host has no address that may be dialled. */
export async function addressesOf(url: RepositoryUrl, policy: NetworkPolicy, signal: AbortSignal): Promise<string[]> {
  const resolved = await policy.resolve(url.host, signal);
  switch (resolved.kind) {
    case "addresses":
      return resolved.addresses;
    case "private":
      throw new RepositoryFault("repository_unreachable", `${privateAddressReason(shownUrl(url))}.`);
    case "unknown":
      throw new RepositoryFault("repository_unreachable", `${resolved.reason}. Check the address of the repository.`);
  }
}

const withBrackets = (address: string) => (isIPv6(address) ? `[${address}]` : address);
