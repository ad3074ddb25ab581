// Every flag in one table.

export interface Flag {
  /** What its value is called; absent for a switch. */
  value?: string;
  help: string;
}

export const flags = {
  data: { value: "DIR", help: "Where everything is kept (~/.platform)" },
  config: { value: "FILE", help: "Configuration in TOML (config.toml in the data directory)" },
  listen: { value: "HOST:PORT", help: "Where to serve; port 0 takes a free one (127.0.0.1:7420)" },
  role: { value: "ROLES", help: "What this server does, separated by commas: api, runner, scheduler, gateway (all)" },
  "tls-cert": { value: "FILE", help: "Certificate in PEM; serves over TLS" },
  "tls-key": { value: "FILE", help: "Key of the certificate in PEM" },
  name: { value: "NAME", help: "What the key is called" },
  team: { value: "TEAM", help: "The team (default); for a key it is made where it does not exist" },
  user: { value: "EMAIL", help: "Its owner; made where there is none (the first administrator)" },
  "service-account": { help: "Make it the key of a service account called NAME" },
  scopes: { value: "SCOPES", help: "What it may be used for, separated by commas (all that its owner may)" },
  expires: { value: "TIME", help: "When it ends: a time such as 2030-01-31T12:00Z, or a duration such as 30d" },
  overlap: { value: "TIME", help: "How long the former key stays good, such as 24h, 7d or 0 (24h)" },
  from: { value: "PATH", help: "What the repository begins with (nothing)" },
  "if-missing": { help: "Print the URL also where there is such a repository already" },
  "user-role": { value: "ROLE", help: "What the user is in the team: admin or member" },
  "spend-limit": { value: "USD", help: "Most to spend in a calendar month; none takes the limit away" },
  "follow-ups": {
    value: "WHO",
    help: "Whose agents take follow-ups from the whole team: disabled, service-accounts, all",
  },
  "passphrase-file": { value: "FILE", help: "File whose text seals the backup" },
  expect: { value: "HEAD", help: "A head of the audit log, kept from an earlier look: NUMBER:HASH" },
  json: { help: "Print JSON" },
  help: { help: "Explain" },
  version: { help: "Print the version" },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;

/** Of every command that opens the data directory. */
export const settingFlags: FlagName[] = ["data", "config"];
