// The text of a pull request: the results of the runs, what was verified, the commits, and what was held back. Pure.
import { createHash } from "node:crypto";
import { normalize, shorten } from "./describe.ts";
import type { VerifiedCommand } from "./handoff.ts";
import type { HeldBackFile } from "./held-back.ts";

export interface PullRequestDetails {
  /** Results of the runs, oldest first. */
  results: string[];
  commands: VerifiedCommand[];
  /** Oldest first. */
  commits: ListedCommit[];
  heldBack: HeldBackFile[];
}

export interface ListedCommit {
  name: string;
  subject: string;
}

/** GitHub accepts 65,536 characters; a note may be appended. */
const maxBodyCharacters = 60_000;
const maxDetailCharacters = 15_000;

export function pullRequestBody({ results, commands, commits, heldBack }: PullRequestDetails): string {
  const details = [verification(commands), commitList(commits), heldBackList(heldBack)].filter(Boolean).join("\n\n");
  const shown = shorten(details, maxDetailCharacters);
  return [resultTexts(results, maxBodyCharacters - shown.length), shown].filter(Boolean).join("\n\n");
}

const resultTexts = (results: string[], max: number): string =>
  shorten(results.map(normalize).filter(Boolean).join("\n\n---\n\n"), max);

const maxItems = 50;

function verification(commands: VerifiedCommand[]): string {
  if (commands.length === 0) return "## Verified\n\nNo command was run to verify this.";
  return `## Verified\n\n${listOf(commands.map(({ command, exitCode }) => `${code(command)}: ${resultOf(exitCode)}`))}`;
}

function resultOf(exitCode: number | null): string {
  if (exitCode === null) return "did not end";
  return exitCode === 0 ? "passed" : `failed with exit code ${exitCode}`;
}

function commitList(commits: ListedCommit[]): string {
  if (commits.length === 0) return "";
  return `## Commits\n\n${listOf(commits.map(({ name, subject }) => `${name.slice(0, 10)} ${oneLine(subject)}`))}`;
}

const reasons = { secret: "looks like a secret", leftover: "looks like a leftover of a tool" };

function heldBackList(files: HeldBackFile[]): string {
  if (files.length === 0) return "";
  return `## Held back\n\nThese files are not part of this pull request:\n\n${listOf(files.map(({ path, reason }) => `${code(path)}: ${reasons[reason]}`))}`;
}

function listOf(items: string[]): string {
  const more = items.length > maxItems ? [`and ${items.length - maxItems} more`] : [];
  return [...items.slice(0, maxItems), ...more].map((item) => `- ${item}`).join("\n");
}

const maxCodeCharacters = 200;

/** As code in Markdown: with more backticks around it than the text has in a row. */
function code(text: string): string {
  const line = shorten(oneLine(text), maxCodeCharacters);
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}

const oneLine = (text: string): string => normalize(text).replace(/\s+/g, " ");

export const noDraftNote = "_Ready for review from the beginning: this repository does not take draft pull requests._";

/** Identifies a body that the platform wrote. */
export const bodyDigest = (body: string): string => createHash("sha256").update(body).digest("hex");

export interface WrittenBody {
  /** As it is on the host now. */
  body: string;
  /** Of the body that the platform wrote last; null if that is not known. */
  digest: string | null;
}

/** The updated body; undefined if it is up to date, or a user has edited it, because then it must not be overwritten. */
export function updatedBody({ body, digest }: WrittenBody, details: PullRequestDetails): string | undefined {
  const text = withoutNote(body);
  const now = pullRequestBody(details);
  if (text === now || (bodyDigest(text) !== digest && !isEarlierFormat(text, details))) return undefined;
  return text === body ? now : `${now}\n\n${noDraftNote}`;
}

/** Whether the body on the host is the one for these details: an earlier attempt may have written it. */
export const isWrittenAs = (body: string, details: PullRequestDetails): boolean =>
  withoutNote(body) === pullRequestBody(details);

const withoutNote = (body: string): string =>
  body.endsWith(noDraftNote) ? body.slice(0, -noDraftNote.length).trimEnd() : body;

/** Before it listed commits, a body was only the results of the runs so far. */
const isEarlierFormat = (text: string, { results }: PullRequestDetails): boolean =>
  results.length > 1 && text === resultTexts(results.slice(0, -1), maxBodyCharacters);
