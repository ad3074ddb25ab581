// What is said about the work: messages of commits, titles and texts of pull requests. Pure.
import type { RunStory } from "./handoff.ts";

const mostSubjectCharacters = 72;
const mostTitleCharacters = 200;

/** From the result of the run; credits the person it was done for, where that is not its author. */
export function commitMessage({ name, results, onBehalfOf, opensAsApp }: RunStory): string {
  const result = tidy(results.at(-1) ?? "");
  const [first = "", ...rest] = result.split("\n");
  const plain = first.replace(/^[#>*\s-]+|[*_`]+/g, "").trim() || tidy(name).replace(/\n/g, " ") || "Work of an agent";
  const subject = shorten(plain, mostSubjectCharacters);
  // What was cut off is said in full below.
  const body = subject === plain ? rest.join("\n").trim() : result;
  const credit =
    opensAsApp && onBehalfOf && `Co-authored-by: ${oneLine(onBehalfOf.name)} <${oneLine(onBehalfOf.email)}>`;
  return `${[subject, body, credit].filter(Boolean).join("\n\n")}\n`;
}

export const pullRequestTitle = ({ name }: RunStory): string =>
  shorten(tidy(name).replace(/\s+/g, " "), mostTitleCharacters) || "Work of an agent";

/** GitHub takes 65,536; a note may come below. */
const mostBodyCharacters = 60_000;

/** Of all runs so far, or of those before the last: what we wrote the time before. */
export const pullRequestBody = (results: string[]): string =>
  shorten(results.map(tidy).filter(Boolean).join("\n\n---\n\n"), mostBodyCharacters);

export const noDraftNote = "_Ready for review from the beginning: this repository does not take draft pull requests._";

/** The next text of one that we wrote; undefined where a person has changed it: then it is theirs. */
export function grownBody(body: string, results: string[]): string | undefined {
  const [before, now] = [pullRequestBody(results.slice(0, -1)), pullRequestBody(results)];
  if (body === before) return now;
  return body === withNote(before) ? withNote(now) : undefined;
}

const withNote = (body: string): string => [body, noDraftNote].filter(Boolean).join("\n\n");

const tidy = (text: string): string =>
  text
    .replace(/\r\n?/g, "\n")
    .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "")
    .trim();

const oneLine = (text: string): string => text.replace(/[<>\x00-\x1f\x7f]/g, "").trim();

function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1);
  const space = cut.lastIndexOf(" ");
  return `${(space > most / 2 ? cut.slice(0, space) : cut).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
