// What git's error output says about the host of a repository, in words for users. Pure.
import { STATUS_CODES } from "node:http";
import { damagedObject, localFailure } from "../git/index.ts";
import type { CredentialLabel } from "./host-credentials.ts";

/** Phrased to follow the repository's name. Undefined if the failure is one of this machine, not of the host. */
export function describeGitFailure(stderr: string, setCommand?: string): string | undefined {
  if (localFailure.test(stderr)) return undefined;
  const status = statusIn(stderr);
  const isRefused = status === 401 || status === 403 || (status === 0 && authenticationFailed.test(stderr));
  const noCredential = isRefused && setCommand !== undefined ? `. To give it access: ${setCommand}` : "";
  const damaged = damagedObject(stderr);
  if (damaged !== undefined) return damaged;
  return `${(status > 0 ? describeStatus(status) : undefined) ?? describeText(stderr)}${noCredential}`;
}

const statusIn = (stderr: string): number =>
  Number(/returned error: (\d{3})|HTTP (\d{3})\b/.exec(stderr)?.slice(1).find(Boolean) ?? 0);

const authenticationFailed =
  /could not read (?:Username|Password)|Authentication failed|Permission denied|Too many authentication/i;

/** For a failure with a credential of the team; undefined if the credential is not the reason. */
export function refusedCredential(stderr: string, { name, setCommand }: CredentialLabel): string | undefined {
  if (localFailure.test(stderr)) return undefined;
  const status = statusIn(stderr);
  const answer = status > 0 ? ` (${[status, STATUS_CODES[status]].filter(Boolean).join(" ")})` : "";
  if (status === 404)
    return `does not exist, or the ${name} has no access to it${answer}. Check the URL and the credential`;
  if (status !== 401 && status !== 403 && !authenticationFailed.test(stderr)) return undefined;
  return `is on a host that refused the team's ${name}${answer}. Check that it is valid and has access to the repository, or set another: ${setCommand}`;
}

const noAccess =
  "asks for credentials that the platform does not have. Check that it is public, or that the platform was given access";

const missing = "does not exist, or the platform has no access to it. Check the URL";

/** What the host answered, and what to do about it. */
export function describeStatus(status: number): string {
  const answer = `answered ${[status, STATUS_CODES[status]].filter(Boolean).join(" ")}`;
  switch (status) {
    case 401:
    case 403:
      return `${noAccess} (its host ${answer})`;
    case 404:
      return `${missing} (its host ${answer})`;
    case 407:
      return `is behind a proxy that asks for a password: its host ${answer}. Ask an administrator of the platform`;
    case 408:
    case 429:
      return `is on a host that is busy: it ${answer}. Wait a few minutes and try again`;
    case 410:
      return `is gone: its host ${answer}. Use its new address, or ask its owner`;
    default:
  }
  if (status >= 500) return `is on a host that is failing: it ${answer}. Try again later`;
  if (status >= 300 && status < 400)
    return `redirects to an address that the platform may not follow: its host ${answer}. Use its current address`;
  return `is not served as a git repository at this address: its host ${answer}. Check the address and the port`;
}

/** An answer of a type that git does not have, such as a login page. */
export const notGit = (type: string): string =>
  `is not served as a git repository at this address: its host answered with ${/html/i.test(type) ? `a web page (${type}), perhaps to log in` : type}. Check the address, and that the platform was given access`;

export const redirectedElsewhere = (location: string): string =>
  `is not served as a git repository at this address: its host redirects git to ${location}${/log[-_]?in|sign[-_]?in|sso|auth/i.test(location) ? ", a page to log in" : ""}. Check the address, and that the platform was given access`;

const texts: [RegExp, string][] = [
  [authenticationFailed, noAccess],
  [/not found|not appear to be a git repository|access denied or repository not exported|no such repository/i, missing],
  [
    /certificate|SSL|TLS/i,
    "could not be reached over https: its certificate is not valid, or of an authority that this server does not trust. Ask an administrator of the host; an operator of this server can trust its authority with NODE_EXTRA_CA_CERTS=FILE",
  ],
  [
    /not valid: is this a git repository|bad line length|invalid server response|protocol error|expected (?:flush|service)|unexpected (?:flush|line)/i,
    "is not served as a git repository at this address: its host answered with something else, such as a web page. Check the address",
  ],
  [
    /resolve host|look up|name or service|failed to connect|couldn't connect|unable to connect|connection refused|no route to host|network is unreachable/i,
    "could not be reached: nothing answers at this address. Check the address, or try again later",
  ],
  [
    /connection (?:reset|timed out|closed)|timed out|operation too slow|early EOF|empty reply|hung up|unexpected disconnect|RPC failed|could not read from remote|read error/i,
    "could not be reached: its host ended the connection. Try again later",
  ],
];

function describeText(stderr: string): string {
  const known = texts.find(([pattern]) => pattern.test(stderr));
  if (known !== undefined) return known[1];
  return `could not be read: ${lastLine(stderr)}. Check it with git ls-remote`;
}

/** The last line in which git says what is wrong. */
function lastLine(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const fatal = lines.findLast((line) => /^(?:fatal|error|remote): /.test(line)) ?? lines.at(-1);
  return (fatal ?? "git gave no reason")
    .replace(/^(?:fatal|error|remote): (?:(?:fatal|error): )?/, "")
    .slice(0, 300)
    .replace(/\.$/, "");
}
