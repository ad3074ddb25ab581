// Every flag in one table.
import type { Flag } from "@agentcli/command-line";

export const flags = {
  data: { value: "DIR", help: "Data directory (~/.platform)" },
  config: { value: "FILE", help: "Configuration in TOML (config.toml in the data directory)" },
  listen: { value: "HOST:PORT", help: "Address to listen on; port 0 picks a free one (127.0.0.1:7420)" },
  role: { value: "ROLES", help: "Roles of this server, separated by commas: api, runner, scheduler, gateway (all)" },
  "tls-cert": { value: "FILE", help: "Certificate in PEM; serves over TLS" },
  "tls-key": { value: "FILE", help: "Private key of the certificate in PEM" },
  name: { value: "NAME", help: "Name of the key" },
  team: { value: "TEAM", help: "The team (default); for a key it is created if missing" },
  user: { value: "EMAIL", help: "Whose it is; for a key created if missing (the first administrator)" },
  "service-account": { help: "Create the key for a service account called NAME" },
  scopes: { value: "SCOPES", help: "Scopes of the key, separated by commas (all scopes of its owner)" },
  expires: { value: "TIME", help: "Expiry: a time such as 2030-01-31T12:00Z, or a duration such as 30d" },
  overlap: { value: "TIME", help: "How long the old key stays valid, such as 24h, 7d or 0 (24h)" },
  from: { value: "PATH", help: "Initial content of the repository (none)" },
  kind: { value: "KIND", help: "Kind of the credential: token, basic, ssh-key or known-hosts" },
  login: { value: "NAME", help: "User name on the git host, for --kind basic" },
  file: { value: "FILE", help: "File with the value (standard input)" },
  fingerprint: { value: "SHA256:…", help: "Accept only the host key with this fingerprint, for --kind known-hosts" },
  environment: { value: "NAME", help: "Name or id of the environment that the secret is for (all)" },
  phase: { value: "PHASE", choices: ["run", "build", "both"], help: "Where it is available (run)" },
  visible: { help: "A plain variable: agents may see the value, and it is not redacted" },
  hosts: { value: "HOSTS", help: "Commands get a placeholder, and requests to these hosts the value; none for all" },
  uses: { value: "USES", help: "Where in them: bearer, basic, header:NAME, query:NAME, body, sigv4 (bearer,basic)" },
  repos: { value: "REPOS", help: "Only for these repositories: host/owner/repo, separated by commas (all)" },
  id: { value: "ID", help: "The version of the secret, where it has several" },
  agent: { value: "ID", help: "The agent" },
  add: { help: "Add another version, for other repositories" },
  "if-missing": { help: "Print the URL even if the repository exists" },
  "user-role": { value: "ROLE", help: "Role of the user in the team: admin or member" },
  "spend-limit": { value: "USD", help: "Maximum spend per calendar month; none removes the limit" },
  "follow-ups": {
    value: "WHO",
    help: "Whose agents accept follow-ups from the whole team: disabled, service-accounts, all",
  },
  "passphrase-file": { value: "FILE", help: "File with the passphrase that encrypts the backup" },
  expect: { value: "HEAD", help: "A head of the audit log from an earlier verification: NUMBER:HASH" },
  packages: { value: "NAMES", help: "More Debian packages of the image, separated by commas" },
  suite: { value: "NAME", help: "Debian release of the image (stable)" },
  mirror: { value: "URL", help: "Debian archive (that of the host)" },
  tar: { value: "FILE", help: "Tar archive of a root directory that becomes the image" },
  dockerfile: { value: "FILE", help: "Dockerfile that becomes the image; needs buildah" },
  context: { value: "DIR", help: "Build context of the Dockerfile (its directory)" },
  delete: { help: "Also delete automations of the team that no file declares" },
  last: { value: "N", help: "How many of the latest events, at most 50 (10)" },
  json: { help: "Print JSON" },
  help: { aliases: ["h"], help: "Show help" },
  version: { aliases: ["V"], help: "Print the version" },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;

/** Flags of every command that opens the data directory. */
export const settingFlags: FlagName[] = ["data", "config"];
