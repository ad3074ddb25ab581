// Credentials of a team for git hosts: `GET`, `PUT` and `DELETE` of `/v1/team/credentials`. No answer has their values.
import { z } from "zod";

export const CredentialKind = z.enum(["token", "basic", "ssh_key", "known_hosts"]);
export type CredentialKind = z.infer<typeof CredentialKind>;

const maxValueCharacters = 65_536;
const host = z
  .string()
  .min(1)
  .max(300)
  .describe("HOST or HOST:PORT as in addresses of repositories; http://HOST for a host without TLS");
const value = z
  .string()
  .min(1)
  .max(maxValueCharacters)
  .describe("The token, the password, the private key without a passphrase, or lines of known_hosts");

export const SetCredential = z
  .strictObject({
    host,
    kind: CredentialKind,
    user: z.string().min(1).max(200).optional().describe("The user name, of kind basic only"),
    value,
  })
  .meta({ id: "SetCredential" });
export type SetCredential = z.infer<typeof SetCredential>;

export const CredentialName = z.strictObject({ host, kind: CredentialKind });
export type CredentialName = z.infer<typeof CredentialName>;

export const RemovedCredential = z
  .object({ host: z.string(), kind: CredentialKind, removed: z.boolean().describe("false: there was none") })
  .meta({ id: "RemovedCredential" });
export type RemovedCredential = z.infer<typeof RemovedCredential>;

export const Credential = z
  .object({
    host: z.string(),
    kind: CredentialKind,
    user: z.string().optional().describe("Of kind basic"),
    fingerprints: z.array(z.string()).optional().describe("Of the public keys, of kinds ssh_key and known_hosts"),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: "Credential" });
export type Credential = z.infer<typeof Credential>;

export const CredentialList = z.object({ items: z.array(Credential) }).meta({ id: "CredentialList" });
