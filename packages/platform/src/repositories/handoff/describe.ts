// Commit messages, and titles of pull requests. Pure.
import { firstSentence } from "./first-sentence.ts";
import type { RunSummary } from "./handoff.ts";

const maxSubjectCharacters = 72;
const maxTitleCharacters = 200;

/** Named after the first sentence of the result. Credits the user it ran for, unless they are the author. */
export function commitMessage(summary: RunSummary): string {
  const { results, onBehalfOf, opensAsApp } = summary;
  const result = normalize(results.at(-1) ?? "");
  const full = sentenceOf(summary);
  const subject = shorten(full, maxSubjectCharacters);
  // If the subject was shortened, the body has the full text.
  const body = subject === full ? (firstSentence(result)?.rest ?? result) : result;
  const credit =
    opensAsApp && onBehalfOf && `Co-authored-by: ${oneLine(onBehalfOf.name)} <${oneLine(onBehalfOf.email)}>`;
  return `${[subject, body, credit].filter(Boolean).join("\n\n")}\n`;
}

/** The name of the agent stands in for a result without sentences. */
const sentenceOf = ({ name, results }: RunSummary): string =>
  firstSentence(normalize(results.at(-1) ?? ""))?.sentence ||
  normalize(name).replace(/\s+/g, " ").trim() ||
  "Work of an agent";

/** The subject of the agent's own first commit; without one, the first sentence of the result. */
export function pullRequestTitle(summary: RunSummary, subjects: string[]): string {
  const full = sentenceOf(summary);
  const own = subjects
    .map((subject) => normalize(subject).replace(/\s+/g, " "))
    .find((subject) => subject !== "" && subject !== shorten(full, maxSubjectCharacters) && !isProvisional(subject));
  return shorten(own ?? full, maxTitleCharacters);
}

const isProvisional = (subject: string): boolean =>
  /^(?:wip|tmp|temp|checkpoint|save|commit|update|changes|\.+)\W*$|^(?:wip|fixup|squash|amend)\b[!:]/i.test(subject);

export const normalize = (text: string): string =>
  text
    .replace(/\r\n?/g, "\n")
    .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "")
    .trim();

const oneLine = (text: string): string => text.replace(/[<>\x00-\x1f\x7f]/g, "").trim();

export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max - 1);
  const space = cut.lastIndexOf(" ");
  return `${(space > max / 2 ? cut.slice(0, space) : cut).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
