// Finds the session the user means: by id, by the beginning of an id, by name, or the newest.
import { CommandError } from "@agentcli/command-line";
import { trustedNames } from "@agentcli/host/session-files";
import { listSessionPaths } from "@agentcli/host/sessions";
import { listSessions, type Where } from "./list.ts";
import { type SessionSummary, threadIdOf } from "./summary.ts";

export type Session = { by: "id"; id: string } | { by: "last"; anywhere: boolean };

export interface SessionSearch {
  home: string;
  cwd: string;
  warn(message: string): void;
}

export function findThread(session: Session, { home, cwd, warn }: SessionSearch): string {
  if (session.by === "id") return findByReference(session.id, home);
  const { newest, passedOver } = findNewest(home, session.anywhere ? { in: "everywhere" } : { in: "directory", cwd });
  const [damaged] = passedOver;
  if (damaged) warn(passedOverWarning(damaged, passedOver.length - 1));
  if (newest) return newest;
  const where = session.anywhere ? `under ${home}/sessions` : `for ${cwd} (use --all to look in every directory)`;
  throw new CommandError("usage", `There is no session to resume ${where}. Start one with: agentcli exec "…"`);
}

export function findByReference(reference: string, home: string): string {
  const [found, ...others] = matchThreads(reference, home);
  if (found !== undefined && others.length === 0) return found;
  if (found === undefined) throw unknown(reference, home);
  const matches = [found, ...others].slice(0, 5).join("\n  ");
  const advice = found.startsWith(reference.toLowerCase()) ? "Give more of the id" : "Give the id of one";
  throw new CommandError("usage", `${reference} matches ${others.length + 1} sessions. ${advice}:\n  ${matches}`);
}

const shortestPrefix = 8;

/** The thread with this id; else those with this name; else all whose id begins like this. */
export function matchThreads(reference: string, home: string): string[] {
  const ids = listSessionPaths(home).map(threadIdOf);
  if (ids.includes(reference)) return [reference];
  const named = threadsNamed(reference, home, ids);
  if (named.length > 0) return named;
  const isPrefix = reference.length >= shortestPrefix && /^[0-9a-f-]+$/i.test(reference);
  return isPrefix ? ids.filter((id) => id.startsWith(reference.toLowerCase())) : [];
}

/** Names of sessions that are gone do not count. */
export function threadsNamed(name: string, home: string, ids = listSessionPaths(home).map(threadIdOf)): string[] {
  const owners = [...trustedNames(home)].filter(([, known]) => known === name).map(([id]) => id);
  return owners.filter((id) => ids.includes(id));
}

/** The newest that can be read, and the damaged ones that are newer. */
function findNewest(home: string, where: Where): { newest?: string; passedOver: SessionSummary[] } {
  const passedOver: SessionSummary[] = [];
  for (const session of listSessions(home, where)) {
    if (session.status !== "damaged") return { newest: session.id, passedOver };
    passedOver.push(session);
  }
  return { passedOver };
}

function passedOverWarning({ id, path }: SessionSummary, others: number): string {
  const more = others === 0 ? "" : `, and ${others} more`;
  return `The newest session, ${path}, is damaged or not only yours, and is passed over${more}. To see why: agentcli sessions show ${id}`;
}

export function* take<T>(values: Iterable<T>, most: number): Generator<T> {
  let taken = 0;
  for (const value of values) {
    if (taken >= most) return;
    yield value;
    taken += 1;
  }
}

const unknown = (reference: string, home: string): CommandError =>
  new CommandError(
    "usage",
    `There is no session ${reference} under ${home}/sessions. Pass an id, at least its first ${shortestPrefix} characters, or a name. To list sessions: agentcli sessions list --all`,
  );
