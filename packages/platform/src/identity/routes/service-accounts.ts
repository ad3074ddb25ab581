// Service accounts of a team over HTTP, for its administrators.
import type { ServiceAccount } from "@agentcli/protocol/api";
import { type Api, schema } from "../../foundation/index.ts";
import { createServiceAccount, listServiceAccounts, type ServiceAccountEntry } from "../principals/index.ts";
import { answering, type IdentityHost } from "./host.ts";

const shared = { path: "/v1/service-accounts", tag: "Keys", scope: "admin" } as const;

export function addServiceAccountRoutes(api: Api, { db }: IdentityHost): void {
  api.route(
    {
      ...shared,
      method: "get",
      summary: "List the service accounts of the team",
      answer: { status: 200, schema: schema("keys", "ServiceAccountList"), description: "By name" },
    },
    async ({ principal: { teamId } }) => ({ items: (await listServiceAccounts(db, teamId)).map(viewOf) }),
  );
  api.route(
    {
      ...shared,
      method: "post",
      summary: "Create a service account: an owner of keys that stay valid when members leave",
      body: schema("keys", "NewServiceAccount"),
      answer: { status: 201, schema: schema("keys", "ServiceAccount"), description: "The service account" },
    },
    async ({ body: { name }, principal: { teamId } }) =>
      viewOf(await answering(() => createServiceAccount(db, teamId, name))),
  );
}

const viewOf = ({ id, name, createdAt }: ServiceAccountEntry): ServiceAccount => ({
  ...{ id, name },
  createdAt: createdAt.toISOString(),
});
