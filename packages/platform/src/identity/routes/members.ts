// Members of a team over HTTP: all members read them, administrators change them.
import type { Member, ProblemCode } from "@agentcli/protocol/api";
import { type Api, ApiError, type Queries, schema } from "../../foundation/index.ts";
import { changeUser, removeUser } from "../principals/index.ts";
import { makeLoginLink, type Presence } from "../sessions/index.ts";
import { answering, type IdentityHost, requireSession } from "./host.ts";

const tag = "Team";
const problems: ProblemCode[] = ["not_found"];
const one = {
  path: "/v1/members/{memberId}",
  tag,
  scope: "admin",
  params: schema("members", "MemberId"),
  problems,
} as const;

export function addMemberRoutes(api: Api, host: IdentityHost): void {
  const { db, sessions } = host;
  api.route(
    {
      method: "get",
      path: "/v1/members",
      summary: "List the members of the team",
      tag,
      scope: null,
      answer: { status: 200, schema: schema("members", "MemberList"), description: "The members, the first one first" },
    },
    async ({ principal: { teamId } }) => {
      const [rows, presence] = await Promise.all([membersOf(db, teamId).execute(), sessions.presence(teamId)]);
      return { items: rows.map((row) => memberOf(row, presence.get(row.id))), hasLoginLinks: host.provider === null };
    },
  );
  addChanges(api, host);
  addLogins(api, host);
}

function addChanges(api: Api, { db, sessions }: IdentityHost): void {
  api.route(
    {
      ...one,
      method: "patch",
      summary: "Change the role of a member",
      body: schema("members", "MemberChange"),
      answer: { status: 200, schema: schema("members", "Member"), description: "The member" },
    },
    async ({ params, body, principal: { teamId } }) => {
      const member = await findMember(db, teamId, params.memberId);
      await answering(() => db.transaction().execute((tx) => changeUser(tx, member, { role: body.role })));
      const presence = await sessions.presence(teamId);
      return memberOf(await findMember(db, teamId, params.memberId), presence.get(member.id));
    },
  );
  api.route(
    {
      ...one,
      method: "delete",
      summary: "Remove a member: keys and sessions end, what they created stays",
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "The id of the member" },
    },
    async ({ params, principal: { teamId } }) => {
      const member = await findMember(db, teamId, params.memberId);
      await answering(() => removeUser(db, member));
      return { id: params.memberId };
    },
  );
}

function addLogins(api: Api, host: IdentityHost): void {
  const { db, sessions, provider, publicUrl } = host;
  api.route(
    {
      ...one,
      path: "/v1/members/{memberId}/sessions",
      method: "delete",
      summary: "End all sessions of a member",
      answer: { status: 200, schema: schema("members", "EndedSessions"), description: "How many were ended" },
    },
    async ({ params, principal: { teamId } }) => {
      const { id } = await findMember(db, teamId, params.memberId);
      return { ended: await sessions.endOf(id, "all") };
    },
  );
  api.route(
    {
      ...one,
      path: "/v1/members/{memberId}/login-link",
      method: "post",
      summary: "Create a link that logs a member in once",
      answer: { status: 201, schema: schema("members", "LoginLink"), description: "The link. No other answer has it" },
      problems: ["not_found", "forbidden", "key_not_supported"],
    },
    async ({ params, principal }) => {
      const { id } = await findMember(db, principal.teamId, params.memberId);
      await requireSession(host, principal, "create a login link");
      if (provider !== null)
        throw new ApiError("forbidden", `Members log in with ${provider}. Login links are not available.`);
      return { link: await makeLoginLink(db, id, publicUrl()) };
    },
  );
}

const membersOf = (db: Queries, teamId: number) =>
  db
    .selectFrom("users")
    .select(["id", "email", "role", "created_at"])
    .where("team_id", "=", teamId)
    .where("removed_at", "is", null)
    .orderBy("id");

type Row = Awaited<ReturnType<ReturnType<typeof membersOf>["execute"]>>[number];

async function findMember(db: Queries, teamId: number, id: string): Promise<Row> {
  const found = /^\d{1,9}$/.test(id)
    ? await membersOf(db, teamId).where("id", "=", Number(id)).executeTakeFirst()
    : undefined;
  if (found) return found;
  throw new ApiError("not_found", `The team has no member ${id}. List them: GET /v1/members.`);
}

const memberOf = ({ id, email, role, created_at }: Row, presence: Presence | undefined): Member => ({
  ...{ id, email, role, createdAt: created_at.toISOString(), sessions: presence?.sessions ?? 0 },
  ...(presence && { lastSeenAt: presence.lastSeenAt.toISOString() }),
});
