// Credentials of the team for git hosts over HTTP, for its administrators. No answer has a value.
import type { Credential, CredentialName, RemovedCredential, SetCredential } from "@agentcli/protocol/api";
import { type Api, ApiError, schema } from "../../foundation/index.ts";
import { readCredentialHost } from "./host.ts";
import { type CredentialStore, listCredentials, removeCredential, setCredential } from "./store.ts";
import { readCredential } from "./value.ts";

const shared = { path: "/v1/team/credentials", tag: "Settings", scope: "admin" } as const;

export function addCredentialRoutes(api: Api, store: CredentialStore): void {
  api.route(
    {
      ...shared,
      method: "get",
      summary: "List the credentials of the team for git hosts, without their values",
      answer: { status: 200, schema: schema("credentials", "CredentialList"), description: "By host and kind" },
    },
    async ({ principal }) => ({ items: await listCredentials(store, principal.teamId) }),
  );
  api.route(
    {
      ...shared,
      method: "put",
      summary: "Set a credential of the team for a git host; an existing one is replaced",
      body: schema("credentials", "SetCredential"),
      answer: {
        status: 200,
        schema: schema("credentials", "Credential"),
        description: "The credential, without its value",
      },
    },
    async ({ body, principal: { teamId } }) => putCredential(store, teamId, body),
  );
  api.route(
    {
      ...shared,
      method: "delete",
      summary: "Remove a credential of the team",
      query: schema("credentials", "CredentialName"),
      answer: { status: 200, schema: schema("credentials", "RemovedCredential"), description: "What was removed" },
    },
    async ({ query, principal: { teamId } }) => deleteCredential(store, teamId, query),
  );
}

/** Throws ApiError `validation_error`. */
export async function putCredential(
  store: CredentialStore,
  teamId: number,
  request: SetCredential,
): Promise<Credential> {
  const read = readCredential(request);
  if (read.kind === "refused") throw new ApiError("validation_error", `${read.field} ${read.reason}.`);
  const { host, kind } = read.credential;
  await setCredential(store, teamId, read.credential);
  const found = (await listCredentials(store, teamId)).find((one) => one.host === host && one.kind === kind);
  if (found === undefined) throw new ApiError("validation_error", `The ${kind} for ${host} was removed meanwhile.`);
  return found;
}

/** Throws ApiError `validation_error`. */
export async function deleteCredential(
  store: CredentialStore,
  teamId: number,
  { host: text, kind }: CredentialName,
): Promise<RemovedCredential> {
  const read = readCredentialHost(text, kind);
  if (read.kind === "refused") throw new ApiError("validation_error", `host ${read.reason}.`);
  const name = { host: read.host, kind };
  return { ...name, removed: await removeCredential(store, teamId, name) };
}
