// Commit messages, and titles and bodies of pull requests. Pure.
import type { RunSummary } from "./handoff.ts";

const maxSubjectCharacters = 72;
const maxTitleCharacters = 200;

/** Based on the result of the run. Credits the user it ran for, unless they are the author. */
export function commitMessage({ name, results, onBehalfOf, opensAsApp }: RunSummary): string {
  const result = normalize(results.at(-1) ?? "");
  const [first = "", ...rest] = result.split("\n");
  const plain =
    first.replace(/^[#>*\s-]+|[*_`]+/g, "").trim() || normalize(name).replace(/\n/g, " ") || "Work of an agent";
  const subject = shorten(plain, maxSubjectCharacters);
  // If the subject was shortened, the body has the full text.
  const body = subject === plain ? rest.join("\n").trim() : result;
  const credit =
    opensAsApp && onBehalfOf && `Co-authored-by: ${oneLine(onBehalfOf.name)} <${oneLine(onBehalfOf.email)}>`;
  return `${[subject, body, credit].filter(Boolean).join("\n\n")}\n`;
}

export const pullRequestTitle = ({ name }: RunSummary): string =>
  shorten(normalize(name).replace(/\s+/g, " "), maxTitleCharacters) || "Work of an agent";

/** GitHub accepts 65,536 characters; a note may be appended. */
const maxBodyCharacters = 60_000;

/** The body for these results. Without the last result it is the body of the previous run. */
export const pullRequestBody = (results: string[]): string =>
  shorten(results.map(normalize).filter(Boolean).join("\n\n---\n\n"), maxBodyCharacters);

export const noDraftNote = "_Ready for review from the beginning: this repository does not take draft pull requests._";

/** The updated body; undefined if a user has edited it, because then it must not be overwritten. */
export function updatedBody(body: string, results: string[]): string | undefined {
  const [before, now] = [pullRequestBody(results.slice(0, -1)), pullRequestBody(results)];
  if (body === before) return now;
  return body === withNote(before) ? withNote(now) : undefined;
}

const withNote = (body: string): string => [body, noDraftNote].filter(Boolean).join("\n\n");

const normalize = (text: string): string =>
  text
    .replace(/\r\n?/g, "\n")
    .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "")
    .trim();

const oneLine = (text: string): string => text.replace(/[<>\x00-\x1f\x7f]/g, "").trim();

function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max - 1);
  const space = cut.lastIndexOf(" ");
  return `${(space > max / 2 ? cut.slice(0, space) : cut).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
