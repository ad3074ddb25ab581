// Mentions: a comment `@<bot> …` of a person with rights starts an agent, or continues the one that made the pull request.
// The record comes first, in the transaction that processes the comment; the run is started by startMentions.
import { randomUUID } from "node:crypto";
import { sanitize } from "@agentcli/project/sanitize";
import { type Queries, teamKey } from "../../foundation/index.ts";
import type { AutomationHost } from "../host.ts";
import { findPull } from "./agent-pulls.ts";
import { agentBehind, type CausedEvent } from "./cause.ts";
import { readMention } from "./mention-text.ts";

export const promptAad = (mentionId: string): string => `mention:${mentionId}`;

export interface MentionEvent extends CausedEvent {
  /** Of the delivery. */
  eventId: string;
}

/** What agents and other programs write is never one. */
export async function recordMention(host: AutomationHost, tx: Queries, mention: MentionEvent): Promise<void> {
  const { source, event } = mention;
  const { platform, now } = host;
  const asked = readMention(event, platform.settings.botName);
  if (asked === null || event.sender === null || event.sender.isBot || agentBehind(mention) !== null) return;
  const judged = await judgeSender(tx, mention);
  const agentId = await findAgent(host, tx, mention);
  const key = await teamKey(tx, platform.vault, source.team_id);
  const number = event.pullRequest?.number ?? event.issue ?? 0;
  const kind = event.pullRequest === null ? ("issue" as const) : ("pull_request" as const);
  await tx
    .insertInto("mentions")
    .values({
      ...{ id: mention.eventId, team_id: source.team_id, sender: event.sender.login.slice(0, 200), kind, number },
      ...{ repo_url: event.repositoryUrl, is_new_agent: agentId === null, retry_at: now(), created_at: now() },
      prompt: key.seal(promptOf(mention, asked), promptAad(mention.eventId)),
      ...("userId" in judged
        ? { user_id: judged.userId, status: "planned", agent_id: agentId ?? `bc-${randomUUID()}` }
        : { user_id: null, status: "refused", agent_id: agentId, reason: judged.reason }),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The one that made the pull request, or the one that a comment there started. */
async function findAgent(host: AutomationHost, tx: Queries, { source, event }: MentionEvent): Promise<string | null> {
  const pull = await findPull(host, tx, { source, event, by: { url: event.pullRequest?.url ?? "" } });
  if (pull !== null) return pull.agentId;
  const former = await tx
    .selectFrom("mentions")
    .innerJoin("agents", "agents.id", "mentions.agent_id")
    .select("agents.id")
    .where("mentions.team_id", "=", source.team_id)
    .where("agents.team_id", "=", source.team_id)
    .where("agents.archived_at", "is", null)
    .where("repo_url", "=", event.repositoryUrl)
    .where("kind", "=", event.pullRequest === null ? "issue" : "pull_request")
    .where("number", "=", event.pullRequest?.number ?? event.issue ?? 0)
    .where("mentions.status", "<>", "refused")
    .orderBy("mentions.created_at", "desc")
    .executeTakeFirst();
  return former?.id ?? null;
}

const notAsked = "The platform has no access to the API of the host, so it cannot see what the person may do.";

const unknownFork = "It is not known whether the pull request is of a fork.";

type Judged = { userId: number } | { reason: string };

/** Comments on pull requests of forks count for nothing: anyone can open them. */
async function judgeSender(tx: Queries, { source, event }: MentionEvent): Promise<Judged> {
  const { pullRequest, sender, permission, failure } = event;
  if (pullRequest?.isFork === true)
    return { reason: "Fork pull requests not supported: they can be opened by anyone." };
  if (pullRequest?.isFork === null) return { reason: [unknownFork, failure].filter(Boolean).join(" ") };
  const user = tx.selectFrom("users").select("users.id").where("users.team_id", "=", source.team_id);
  const active = user.where("users.removed_at", "is", null);
  if (source.type === "git_host") {
    const [, id] = /^user:(\d{1,9})$/.exec(sender?.login ?? "") ?? [];
    const found = id === undefined ? undefined : await active.where("users.id", "=", Number(id)).executeTakeFirst();
    return found ? { userId: found.id } : { reason: "The comment is not of a member of the team." };
  }
  if (permission === null) return { reason: failure ?? notAsked };
  if (permission !== "push") return { reason: `${sender?.login} may not push to ${event.repositoryUrl}.` };
  const account = await active
    .innerJoin("source_accounts", "source_accounts.user_id", "users.id")
    .where("source_accounts.host", "=", new URL(event.repositoryUrl).host)
    .where("source_accounts.account_id", "=", sender?.id ?? "")
    .executeTakeFirst();
  return account
    ? { userId: account.id }
    : { reason: `${sender?.login} has not connected an account as a member of the team; see the page /accounts.` };
}

/** The person may send the agent a follow-up, so the text is theirs; what readers of the comment do not see is removed. */
function promptOf({ event: { sender, pullRequest, issue, repositoryUrl } }: MentionEvent, asked: string): string {
  const where = pullRequest === null ? `issue ${issue}` : `pull request ${pullRequest.number}`;
  return [
    `${sender?.login} asks you in a comment on ${where} of ${repositoryUrl}:`,
    "",
    sanitize(asked).text,
    "",
    ...(pullRequest === null
      ? []
      : [`Answer with comment_on_pull_request on pull request ${pullRequest.number} when you are done.`]),
  ].join("\n");
}
