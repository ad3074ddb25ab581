// `POST /v1/sub-tokens`: a service account acts for a user of its team, for an hour.
import { type Api, invalid, schema } from "../../foundation/index.ts";
import { type FleetHost, ownerOf } from "./host.ts";

export function addSubTokenRoute(api: Api, { principals }: FleetHost): void {
  api.route(
    {
      ...{
        method: "post",
        path: "/v1/sub-tokens",
        tag: "Workers",
        scope: "agents:write",
        body: schema("workers", "SubTokenRequest"),
      },
      summary: "Get a token for a user of the team, valid for an hour, with the scopes of this key at most",
      answer: { status: 200, schema: schema("workers", "SubToken"), description: "The token; it cannot be renewed" },
    },
    async ({ principal, body }) => {
      const { teamId } = ownerOf(principal);
      const token = await principals.createSubToken(principal, { email: body.forUserEmail, id: body.forUserId });
      if (token !== null) return { ...token, expiresAt: token.expiresAt.toISOString(), teamId };
      const [name, value] =
        body.forUserId === undefined ? ["forUserEmail", body.forUserEmail] : ["forUserId", body.forUserId];
      throw invalid([`${name}: the team has no user ${JSON.stringify(value).slice(0, 100)}`]);
    },
  );
}
