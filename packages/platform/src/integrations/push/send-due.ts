// The activity that sends: takes what is due, tries it, and tries later what may pass. Servers share the work.
import { type Selectable, sql } from "kysely";
import type { PushMessageTable, ServerContext } from "../../foundation/index.ts";
import { type Outcome, send } from "../webhooks/index.ts";
import { encryptMessage } from "./encrypt.ts";
import { readDue } from "./message.ts";
import { pushChannel } from "./outbox.ts";
import { openServerKey, type ServerKey } from "./server-key.ts";
import { removeSubscription } from "./store.ts";

const pollIntervalMs = 10_000;
const timeoutMs = 10_000;
const atOnce = 16;
/** Of these, of one team: services that do not answer delay its own messages, as for webhooks. */
const teamShare = 4;
/** After 1, 4, 16 and 64 minutes: who looks later finds it in the inbox. */
const maxAttempts = 5;
/** A push service keeps it for so long if the browser cannot be reached. */
const keptSeconds = 24 * 3_600;

export async function startPushes(context: ServerContext): Promise<{ stop(): Promise<void> }> {
  const { notifications, log, vault, publicUrl } = context;
  const stopping = new AbortController();
  const serverKey = await openServerKey(vault, publicUrl);
  let working: Promise<void> | null = null;
  let isAgain = false;
  const work = async () => {
    do {
      isAgain = false;
      while (!stopping.signal.aborted && (await sendDue(context, serverKey, stopping.signal)) > 0);
    } while (isAgain && !stopping.signal.aborted);
  };
  const wake = () => {
    isAgain = true;
    working ??= work()
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) log.error("pushes.failed", error, {});
      })
      .finally(() => {
        working = null;
      });
  };
  const unlisten = await notifications.subscribe(pushChannel, { onMessage: wake, onGap: wake });
  const timer = setInterval(wake, pollIntervalMs);
  wake();
  return {
    async stop() {
      unlisten();
      clearInterval(timer);
      stopping.abort();
      await working;
    },
  };
}

type DueRow = Pick<Selectable<PushMessageTable>, "id" | "session_id" | "run_id" | "build_id" | "attempts">;

/** The time of the next attempt is written before this one: if the server is lost, another one makes it. */
async function sendDue(context: ServerContext, serverKey: ServerKey, signal: AbortSignal): Promise<number> {
  const { rows } = await sql<DueRow>`
    update push_messages set attempts = attempts + 1,
      next_attempt_at = now() + interval '1 minute' * power(4, attempts)
    where id in (
      select id from push_messages where next_attempt_at <= now() and id in (
        select id from (
          select push_messages.id, next_attempt_at,
            row_number() over (partition by team_id order by next_attempt_at) as place
          from push_messages
          join sessions on sessions.id = session_id join users on users.id = user_id
          where next_attempt_at <= now()
        ) due
        where place <= ${teamShare} order by next_attempt_at limit ${atOnce}
      ) for update skip locked
    )
    returning id, session_id, run_id, build_id, attempts
  `.execute(context.db);
  await Promise.all(rows.map((row) => attempt(context, { row, serverKey }, signal)));
  return rows.length;
}

async function attempt(
  context: ServerContext,
  { row, serverKey }: { row: DueRow; serverKey: ServerKey },
  signal: AbortSignal,
): Promise<void> {
  const { db, network: policy, log } = context;
  const due = await readDue(context, row);
  let outcome: Outcome["kind"] | "gone" | "decided" = due === "decided" ? "decided" : "gone";
  if (due !== null && due !== "decided") {
    const { subscription, message } = due;
    const { endpoint, keys } = subscription;
    const body = encryptMessage(Buffer.from(JSON.stringify(message)), keys);
    const headers = headersOf(serverKey.authorize(endpoint, new Date()), message.tag);
    const sent = await send({ url: endpoint, headers, body }, { policy, timeoutMs }, signal);
    outcome = isGone(sent) ? "gone" : sent.kind;
    if (outcome !== "gone" && mayPass(sent) && row.attempts < maxAttempts)
      return log.info("push.attempted", { id: row.id, attempt: row.attempts, outcome });
  }
  log.info("push.attempted", { id: row.id, attempt: row.attempts, outcome });
  if (outcome === "gone") return removeSubscription(db, row.session_id);
  await db.deleteFrom("push_messages").where("id", "=", row.id).execute();
}

/** A newer message about the same agent or build takes the place of one that the browser has not fetched: `topic`, at most 32 characters. */
const headersOf = (authorization: string, tag: string): Record<string, string> => ({
  authorization,
  "content-type": "application/octet-stream",
  "content-encoding": "aes128gcm",
  ttl: String(keptSeconds),
  urgency: "normal",
  topic: tag.replace(/[^A-Za-z0-9]/g, "").slice(-32),
});

/** The browser has unsubscribed, or is no more. */
const isGone = (outcome: Outcome): boolean =>
  outcome.kind === "refused" && (outcome.responseStatus === 404 || outcome.responseStatus === 410);

const mayPass = (outcome: Outcome): boolean =>
  outcome.kind === "refused"
    ? outcome.responseStatus === 429 || outcome.responseStatus >= 500
    : outcome.kind === "timed_out" || outcome.kind === "unreachable";
