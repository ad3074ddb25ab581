// `agentcli sessions list`: the newest sessions of this directory, or of all.
import { CommandError } from "@agentcli/command-line";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { outcomeWords } from "@agentcli/protocol/outcomes";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { take } from "../../sessions/find.ts";
import { listSessions } from "../../sessions/list.ts";
import type { SessionSummary } from "../../sessions/summary.ts";

const defaultLimit = 20;

export async function run(invocation: Invocation, { environment, reporter, print }: Program): Promise<number> {
  const most = readLimit(invocation.list("limit").at(-1));
  const isEverywhere = invocation.has("all");
  const all = isEverywhere
    ? listSessions(environment.agentHome, { in: "everywhere" })
    : sessionsOfDirectory(environment);
  const sessions = [...take(all, most + 1)];
  const shown = sessions.slice(0, most);
  if (invocation.has("json")) await print(shown.map((session) => `${JSON.stringify(asJson(session))}\n`).join(""));
  else await print(shown.map((session) => asText(session, isEverywhere ? "with-directory" : "alone")).join(""));
  if (sessions.length > most) reporter.log(`There are more; --limit N shows more than ${most}.`);
  if (sessions.length === 0)
    reporter.log(`No sessions ${isEverywhere ? "yet" : "in this directory; --all lists those of all directories"}.`);
  return exitCodes.completed.code;
}

/** A damaged session does not say which directory it is of. */
function* sessionsOfDirectory({ agentHome, cwd }: Program["environment"]): Generator<SessionSummary> {
  for (const session of listSessions(agentHome, { in: "directory", cwd }))
    if (session.status !== "damaged") yield session;
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return defaultLimit;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new CommandError("usage", `--limit ${text}: expected a number of sessions, for example --limit 50.`);
}

const asJson = ({ createdAt, updatedAt, forkedFrom, ...rest }: SessionSummary): object => ({
  ...rest,
  created_at: createdAt,
  updated_at: updatedAt,
  forked_from: forkedFrom,
});

/** The words of the platform, where a run has the same status. */
const statusWords: Record<SessionSummary["status"], string> = {
  running: outcomeWords.RUNNING,
  completed: outcomeWords.FINISHED,
  failed: outcomeWords.ERROR,
  cancelled: outcomeWords.CANCELLED,
  interrupted: "Interrupted",
  damaged: "Damaged",
};

/** As on the platform: ended by a limit of time, not by a failure. */
const outcomeOf = ({ status, limit }: SessionSummary): string =>
  limit === "wall" ? outcomeWords.EXPIRED : statusWords[status];

function asText(session: SessionSummary, form: "alone" | "with-directory"): string {
  const labels = Object.entries(session.tags).map(([key, value]) => ` [${key}=${value}]`);
  const name = session.name ? `"${session.name}" ` : "";
  const columns = [session.id, localTime(session.updatedAt), outcomeOf(session).padEnd(11), session.model];
  const directory = form === "with-directory" ? `  ${session.cwd}` : "";
  return `${columns.join("  ")}${directory}\n    ${name}${session.prompt}${labels.join("")}\n`;
}

function localTime(instant: string): string {
  const date = new Date(instant);
  const two = (number: number) => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
