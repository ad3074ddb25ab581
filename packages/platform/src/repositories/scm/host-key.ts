// The key of an ssh host that is not accepted: which one the host offers, and how an operator accepts it.

import { hostText } from "@agentcli/workspace/hosts";
import { askGit, GitFailed, nowhere } from "../git/index.ts";
import type { HostCredentials } from "./host-credentials.ts";
import type { RepositoryUrl } from "./repository-url.ts";
import type { SshSession } from "./ssh-session.ts";

export const isHostKeyRefused = (error: unknown): boolean =>
  error instanceof GitFailed &&
  /Host key verification failed|HOST IDENTIFICATION HAS CHANGED|no matching host key/i.test(error.stderr);

export interface HostKeyOptions {
  session: SshSession;
  credentials?: HostCredentials;
}

const answerLimitMs = 45_000;

/** Connects again, with the messages of ssh that name the key. */
export async function describeHostKey(
  url: RepositoryUrl,
  { session, credentials }: HostKeyOptions,
  signal: AbortSignal,
): Promise<string> {
  const { remote } = session;
  const args = ["ls-remote", "--", remote.address];
  const verbose = { ...remote, variables: { ...remote.variables, ...session.verboseVariables } };
  const { stderr } = await askGit({ location: nowhere, remote: verbose, args, limitMs: answerLimitMs }, signal);
  const [, algorithm, fingerprint] = /Server host key: (\S+) (SHA256:\S+)/.exec(stderr) ?? [];
  const isChanged = /HOST IDENTIFICATION HAS CHANGED|Offending/i.test(stderr);
  const host = hostText(url.host);
  const state = isChanged ? "is not the known one" : "is not known";
  const offered = fingerprint === undefined ? "" : `: it offers ${algorithm} ${fingerprint}`;
  const set = await credentials?.setCommand(url, "known_hosts");
  const accept = `ssh-keyscan${url.port === 22 ? "" : ` -p ${url.port}`} ${host} | ${set}${fingerprint === undefined ? "" : ` --fingerprint ${fingerprint}`}`;
  return `is on ${host}, whose ssh host key ${state}${offered}. Compare it with the fingerprint that the administrator of ${host} publishes. Only if they are the same, accept it: ${accept}`;
}
