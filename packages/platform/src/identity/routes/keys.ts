// API keys over HTTP: users manage their own, administrators all of the team. A key is created and rotated by a logged in
// user, never with another key.
import type { ApiKey } from "@agentcli/protocol/api";
import { type Api, ApiError, schema } from "../../foundation/index.ts";
import { type KeyEntry, type KeyOwner, listServiceAccounts, type Principal, teamName } from "../principals/index.ts";
import { answering, type IdentityHost, requireSession } from "./host.ts";

const shared = { path: "/v1/keys", tag: "Keys" } as const;
const one = { path: "/v1/keys/{keyId}", tag: "Keys", scope: "agents:write", params: schema("keys", "KeyId") } as const;

export function addKeyRoutes(api: Api, host: IdentityHost): void {
  api.route(
    {
      ...shared,
      method: "get",
      scope: null,
      summary: "List keys: one's own, and with the scope admin all of the team",
      answer: {
        status: 200,
        schema: schema("keys", "ApiKeyList"),
        description: "The newest first, without their secrets",
      },
    },
    async ({ principal }) => ({ items: (await manageable(host, principal)).map((key) => viewOf(key, principal)) }),
  );
  api.route(
    {
      ...one,
      method: "delete",
      summary: "Revoke a key; it is refused within a second",
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "The id of the key" },
      problems: ["not_found"],
    },
    async ({ params, principal }) => {
      const { id } = await findKey(host, principal, params.keyId);
      await host.principals.revokeKey(id);
      return { id };
    },
  );
  addSecrets(api, host);
}

/** Answers with the secret of a key. */
function addSecrets(api: Api, host: IdentityHost): void {
  const { principals } = host;
  api.route(
    {
      ...shared,
      method: "post",
      scope: "agents:write",
      summary: "Create a key of one's own or, as an administrator, of a service account. Only in the web app",
      body: schema("keys", "NewApiKey"),
      answer: { status: 201, schema: schema("keys", "CreatedApiKey"), description: "The key. It is shown this once" },
      problems: ["forbidden", "key_not_supported", "not_found"],
    },
    async ({ body: { name, scopes = null, expiresInDays, serviceAccountId }, principal }) => {
      await requireSession(host, principal, "create a key");
      const owner = await ownerOf(host, principal, serviceAccountId);
      const team = await teamName(host.db, principal.teamId);
      if (team === undefined) throw new Error(`team ${principal.teamId} has no name`);
      const expiresAt = expiresInDays === undefined ? null : daysFromNow(expiresInDays);
      const { id, key } = await answering(() => principals.createKey({ name, team, owner, scopes, expiresAt }));
      return { id, key };
    },
  );
  api.route(
    {
      ...one,
      path: "/v1/keys/{keyId}/rotate",
      method: "post",
      summary: "Replace a key by a new one like it; both are valid for the overlap. Only in the web app",
      body: schema("keys", "RotateApiKey"),
      answer: {
        status: 201,
        schema: schema("keys", "RotatedApiKey"),
        description: "The new key. It is shown this once",
      },
      problems: ["forbidden", "key_not_supported", "not_found"],
    },
    async ({ params, body: { overlapHours }, principal }) => {
      await requireSession(host, principal, "rotate a key");
      const { id, owner } = await findKey(host, principal, params.keyId);
      // The user who rotates a key sees the new one: no other user may act as its owner.
      if (owner.kind === "user" && !isOf(principal, owner))
        throw new ApiError("forbidden", "Only its owner can rotate a key of a user. You can revoke it.");
      const rotated = await answering(() => principals.rotateKey(id, overlapHours * 3_600_000));
      return { id: rotated.id, key: rotated.key, formerUntil: rotated.formerUntil.toISOString() };
    },
  );
}

/** Those that the caller may see and revoke. */
async function manageable({ principals }: IdentityHost, principal: Principal): Promise<KeyEntry[]> {
  const keys = (await principals.listKeys(principal.teamId)).reverse();
  return principal.scopes.includes("admin") ? keys : keys.filter(({ owner }) => isOf(principal, owner));
}

async function findKey(host: IdentityHost, principal: Principal, keyId: string): Promise<KeyEntry> {
  const found = (await manageable(host, principal)).find(({ id }) => id === keyId);
  if (found) return found;
  throw new ApiError("not_found", `There is no key ${keyId}, or it belongs to another user. List them: GET /v1/keys.`);
}

const isOf = (principal: Principal, owner: KeyEntry["owner"]): boolean =>
  owner.kind === "user"
    ? principal.kind === "user" && principal.userId === owner.userId
    : principal.kind === "service_account" && principal.name === owner.name;

async function ownerOf({ db }: IdentityHost, principal: Principal, accountId: string | undefined): Promise<KeyOwner> {
  if (accountId === undefined && principal.kind === "user") return { kind: "user", email: principal.email };
  if (!principal.scopes.includes("admin"))
    throw new ApiError("forbidden", "Only administrators create keys of service accounts. Ask one.");
  const account = (await listServiceAccounts(db, principal.teamId)).find(({ id }) => id === accountId);
  if (account) return { kind: "service_account", name: account.name };
  throw new ApiError("not_found", `There is no service account ${accountId}. List them: GET /v1/service-accounts.`);
}

const daysFromNow = (days: number): Date => new Date(Date.now() + days * 86_400_000);

const viewOf = (key: KeyEntry, principal: Principal): ApiKey => ({
  id: key.id,
  name: key.name,
  owner: {
    type: key.owner.kind,
    name: key.owner.kind === "user" ? key.owner.email : key.owner.name,
    isCaller: isOf(principal, key.owner),
  },
  scopes: key.scopes,
  createdAt: key.createdAt.toISOString(),
  ...(key.expiresAt && { expiresAt: key.expiresAt.toISOString() }),
  ...(key.revokedAt && { revokedAt: key.revokedAt.toISOString() }),
  ...(key.lastUsedAt && { lastUsedAt: key.lastUsedAt.toISOString() }),
  ...(key.successorId !== null && { successorId: key.successorId }),
});
