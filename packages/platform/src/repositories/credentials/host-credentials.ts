// The credentials of one team, as git uses them.
import type { CredentialKind } from "@agentcli/protocol/api";
import type { NetworkPolicy } from "../../foundation/index.ts";
import {
  type CredentialLabel,
  type HostCredentials,
  type RepositoryUrl,
  requestReferences,
  urlText,
} from "../scm/index.ts";
import { readKnownHosts, readPrivateKey } from "../ssh/index.ts";
import { credentialHost, sshHost } from "./host.ts";
import { type CredentialStore, findCredentials } from "./store.ts";
import type { StoredCredential } from "./value.ts";

export interface HostCredentialsOptions extends CredentialStore {
  policy: NetworkPolicy;
  teamName(teamId: number): Promise<string | undefined>;
}

export function openHostCredentials(options: HostCredentialsOptions): (teamId: number) => HostCredentials {
  const schemes = rememberSchemes(options.policy);
  return (teamId) => {
    const find = async (url: RepositoryUrl, kinds: CredentialKind[]) => {
      const host = credentialHost(url);
      return host === undefined ? [] : findCredentials(options, { teamId, host }, kinds);
    };
    const setCommand = async (host: string, kind: CredentialKind) =>
      commandFor({ host, kind, team: (await options.teamName(teamId)) ?? "" });
    const label = async ({ host, kind }: StoredCredential): Promise<CredentialLabel> => ({
      name: `${kinds[kind]} for ${host}`,
      setCommand: await setCommand(host, kind),
    });
    return {
      async authorization(url, signal) {
        const [credential] = await find(url, ["token", "basic"]);
        if (credential === undefined) return undefined;
        const value = await headerOf(credential, () => schemes(url, signal));
        const { origin } = new URL(urlText(url));
        return { origin, value, credential: await label(credential), secrets: secretsOf(credential, value) };
      },
      async ssh(url) {
        const found = await find(url, ["ssh_key", "known_hosts"]);
        const key = found.find(({ kind }) => kind === "ssh_key");
        const lines = found.find(({ kind }) => kind === "known_hosts");
        const read = lines && readKnownHosts(lines.value, sshHost(lines.host));
        return {
          key: key && { key: readPrivateKey(key.value), credential: await label(key) },
          hostKeys: read?.kind === "keys" ? read.keys : undefined,
        };
      },
      setCommand: (url, kind) => setCommand(credentialHost(url) ?? "", kind),
    };
  };
}

const kinds: Record<CredentialKind, string> = {
  token: "token",
  basic: "user name and password",
  ssh_key: "ssh key",
  known_hosts: "host keys",
};

function commandFor({ host, kind, team }: { host: string; kind: CredentialKind; team: string }): string {
  const ofTeam =
    team === "default" ? "" : ` --team ${/^[\w.-]+$/.test(team) ? team : `'${team.replaceAll("'", "'\\''")}'`}`;
  const user = kind === "basic" ? " --login NAME" : "";
  return `platform credentials set ${host} --kind ${kind.replace("_", "-")}${user}${ofTeam}`;
}

type Scheme = "Basic" | "Bearer";

async function headerOf({ kind, user, value }: StoredCredential, scheme: () => Promise<Scheme>): Promise<string> {
  const basic = (name: string) => `Basic ${Buffer.from(`${name}:${value}`).toString("base64")}`;
  if (kind === "basic") return basic(user ?? "");
  // Hosts that take a token as a password accept this user name, or ignore it.
  return (await scheme()) === "Bearer" ? `Bearer ${value}` : basic("x-access-token");
}

const secretsOf = ({ value }: StoredCredential, header: string): string[] => [value, header.split(" ")[1] ?? ""];

const maxRemembered = 1_000;

/** Hosts say how they take a token: as a password, or as it is. Asked once per origin. */
function rememberSchemes(policy: NetworkPolicy): (url: RepositoryUrl, signal: AbortSignal) => Promise<Scheme> {
  const known = new Map<string, Scheme>();
  return async (url, signal) => {
    const { origin } = new URL(urlText(url));
    const found = known.get(origin) ?? (await askScheme(url, policy, signal));
    if (known.size >= maxRemembered) known.clear();
    if (found !== undefined) known.set(origin, found);
    return found ?? "Basic";
  };
}

/** Undefined if the host does not answer: git will say so. */
async function askScheme(url: RepositoryUrl, policy: NetworkPolicy, signal: AbortSignal): Promise<Scheme | undefined> {
  try {
    const { status, challenge } = await requestReferences(url, { policy, authorization: undefined }, signal);
    if (/\bbasic\b/i.test(challenge)) return "Basic";
    return status === 401 || /\bbearer\b/i.test(challenge) ? "Bearer" : "Basic";
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
