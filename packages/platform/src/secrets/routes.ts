// Secrets over HTTP. Lists name them; no answer has a value.
import type { ProblemCode } from "@agentcli/protocol/api";
import { z } from "zod";
import { type Api, ApiError, type Call, type Principal, schema } from "../foundation/index.ts";
import type { SecretHost } from "./host.ts";
import { listInventory } from "./inventory.ts";
import { ofEnvironment, ofTeam, ofUser, type SecretOwnerId } from "./owner.ts";
import { listSecrets, removeSecret, setSecret } from "./store.ts";
import { ownedOf, versionOf } from "./views.ts";

export function addSecretRoutes(api: Api, host: SecretHost): void {
  addInventory(api, host);
  for (const scope of scopesOf(host)) {
    addList(api, host, scope);
    addSet(api, host, scope);
    addRemove(api, host, scope);
  }
}

const tag = "Secrets";
const secretName = schema("secrets", "SecretName");

/** A place in the API where secrets of one kind of owner are. */
interface ScopeRoutes {
  path: string;
  of: string;
  params(): z.ZodObject;
  problems: ProblemCode[];
  find(
    call: { params: Record<string, string>; principal: Principal },
    action: "read" | "manage",
  ): Promise<SecretOwnerId>;
}

const scopesOf = ({ environments }: SecretHost): ScopeRoutes[] => [
  {
    path: "/v1/team/secrets",
    of: "of the team",
    params: () => z.object({}),
    problems: ["team_admin_required"],
    async find({ principal }, action) {
      if (action === "manage") requireTeamManager(principal);
      return ofTeam(principal.teamId);
    },
  },
  {
    path: "/v1/me/secrets",
    of: "of the user",
    params: () => z.object({}),
    problems: ["user_required"],
    async find({ principal }) {
      if (principal.kind === "user") return ofUser(principal.teamId, principal.userId);
      throw new ApiError("user_required", "A service account has no secrets of its own; use those of the team.");
    },
  },
  {
    path: "/v1/environments/{environmentId}/secrets",
    of: "of an environment",
    params: () => z.object({ environmentId: z.string() }),
    problems: ["environment_not_found", "team_admin_required"],
    async find({ params, principal }, action) {
      const { id, team_id } = await environments.find(principal, params.environmentId ?? "", action);
      return ofEnvironment(team_id, id);
    },
  },
];

function requireTeamManager(principal: Principal): void {
  if (principal.kind === "service_account") return;
  if (principal.role === "admin" && principal.scopes.includes("admin")) return;
  throw new ApiError(
    "team_admin_required",
    "Only administrators of the team (with a key that has the scope admin) and service accounts can change its secrets. Set one of your own instead: PUT /v1/me/secrets/{name}.",
  );
}

function addInventory(api: Api, { db, environments }: SecretHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/secrets",
      summary: "List the secrets of the team, of the user and of environments, without their values",
      tag,
      scope: "agents:read",
      query: schema("secrets", "SecretQuery"),
      answer: { status: 200, schema: schema("secrets", "OwnedSecretPage"), description: "A page of versions, by name" },
      problems: ["environment_not_found", "user_required"],
    },
    async ({ query, principal }) => {
      const { rows, nextCursor } = await listInventory(db, environments, { principal, query });
      return { items: rows.map(ownedOf), nextCursor };
    },
  );
}

function addList(api: Api, { db }: SecretHost, { path, of, params, problems, find }: ScopeRoutes): void {
  api.route(
    {
      method: "get",
      path,
      summary: `List the secrets ${of}, without their values`,
      tag,
      scope: "agents:read",
      params,
      answer: { status: 200, schema: schema("secrets", "SecretList"), description: "All versions, by name" },
      problems: problems.filter((code) => code !== "team_admin_required"),
    },
    async (call) => {
      const rows = await listSecrets(db, await find(given(call), "read"));
      return { items: rows.map(versionOf), nextCursor: null };
    },
  );
}

function addSet(api: Api, host: SecretHost, { path, of, params, problems, find }: ScopeRoutes): void {
  api.route(
    {
      method: "put",
      path: `${path}/{name}`,
      summary: `Set a secret ${of}: a new one (201), or another value for one that exists (200)`,
      tag,
      scope: "agents:write",
      params: async () => params().extend({ name: await secretName() }),
      query: schema("secrets", "SecretVersionId"),
      body: schema("secrets", "SetSecret"),
      answer: {
        status: 200,
        schema: schema("secrets", "SecretVersion"),
        description: "The version, without its value",
        createdDescription: "The new version, without its value",
      },
      problems: [...problems, "secret_not_found", ...conflicts],
    },
    async (call) => {
      const owner = await find(given(call), "manage");
      const change = { name: given(call).params.name ?? "", id: call.query.id, ...call.body };
      const { version, isNew } = await setSecret(host, owner, { ...change, isOverApi: true });
      return isNew ? call.context.json(versionOf(version), 201, { "cache-control": "no-store" }) : versionOf(version);
    },
  );
}

const conflicts: ProblemCode[] = [
  "secret_name_ambiguous",
  "secret_scope_conflict",
  "secret_limit_reached",
  "secret_name_conflict",
];

function addRemove(api: Api, { db }: SecretHost, { path, of, params, problems, find }: ScopeRoutes): void {
  api.route(
    {
      method: "delete",
      path: `${path}/{name}`,
      summary: `Remove a secret ${of}; agents that have started keep it`,
      tag,
      scope: "agents:write",
      params: () => params().extend({ name: z.string() }),
      query: schema("secrets", "SecretVersionId"),
      answer: { status: 200, schema: schema("secrets", "RemovedSecret"), description: "Its name" },
      problems: [...problems, "secret_not_found", "secret_name_ambiguous"],
    },
    async (call) => {
      const owner = await find(given(call), "manage");
      const { name = "" } = given(call).params;
      await removeSecret({ db }, owner, { name, id: call.query.id });
      return { name };
    },
  );
}

/** Parameters of a path are texts. */
const given = ({ params, principal }: Pick<Call<unknown, unknown, unknown>, "params" | "principal">) => ({
  params: params as Record<string, string>,
  principal,
});
