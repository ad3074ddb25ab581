// The sessions of a user over HTTP: in which browsers they are logged in.
import type { BrowserSession } from "@agentcli/protocol/api";
import { type Api, ApiError, schema } from "../../foundation/index.ts";
import type { Principal } from "../principals/index.ts";
import type { SessionEntry } from "../sessions/index.ts";
import { type IdentityHost, requireSession } from "./host.ts";

const path = "/v1/me/sessions";
const tag = "Sessions";

export function addSessionRoutes(api: Api, host: IdentityHost): void {
  const { sessions } = host;
  api.route(
    {
      method: "get",
      path,
      summary: "List one's sessions: the browsers that are logged in",
      tag,
      scope: "agents:read",
      answer: {
        status: 200,
        schema: schema("sessions", "BrowserSessionList"),
        description: "The most recently used first",
      },
      problems: ["user_required"],
    },
    async ({ principal }) => {
      const entries = await sessions.list(userIdOf(principal));
      return { items: entries.map((entry) => viewOf(entry, principal)) };
    },
  );
  api.route(
    {
      method: "delete",
      path: `${path}/{sessionId}`,
      summary: "End a session: its browser has to log in again. Only in the web app",
      tag,
      scope: "agents:write",
      params: schema("sessions", "SessionId"),
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "The id of the session" },
      problems: ["key_not_supported", "not_found", "user_required"],
    },
    async ({ params: { sessionId: id }, principal }) => {
      const userId = userIdOf(principal);
      // A key that leaks must not log out the user who could revoke it.
      await requireSession(host, principal, "end a session");
      if ((await sessions.endOf(userId, { id })) > 0) return { id };
      throw new ApiError("not_found", `You have no session ${id}, or it has ended. List them: GET ${path}.`);
    },
  );
}

function userIdOf(principal: Principal): number {
  if (principal.kind === "user") return principal.userId;
  throw new ApiError("user_required", "A service account has no sessions. Use a key of a user.");
}

const viewOf = (entry: SessionEntry, { keyId }: Principal): BrowserSession => ({
  id: entry.id,
  method: entry.method,
  isCurrent: entry.id === keyId,
  createdAt: entry.createdAt.toISOString(),
  lastSeenAt: entry.lastSeenAt.toISOString(),
  expiresAt: entry.expiresAt.toISOString(),
});
