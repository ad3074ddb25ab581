// The documents that the practice model writes for a skill: sections and checklists, marked as not analysed.

/** A document with one heading per section of a list such as "Risks, Effort (hours or days)". */
export function outlineText(path: string, list: string): string {
  const sections = splitList(list.replace(/\.\s.*$/s, "").replace(/\.$/, ""));
  const bodies = sections.map((section) => `## ${nameOf(section)}\n\n${bodyOf(section)}`);
  return [`# ${titleOf(path)}`, ...bodies].join("\n\n");
}

/** The items of a list of quoted or comma-separated names; none if the list only describes its items. */
export function checklistItems(list: string): string[] {
  const quoted = [...list.matchAll(/"([^"\n]+)"|`([^`\n]+)`|“([^”]+)”|'([^'\n]+)'/g)]
    .map((match) => match.slice(1).find((group) => group !== undefined) ?? "")
    .filter((item) => !item.startsWith("- ["));
  if (quoted.length > 0) return quoted;
  const named = /^\s*:?\s+(?!lines\b|with\b|for\b|of\b|that\b|naming\b)(.+)$/s.exec(list)?.[1];
  return named === undefined || named.includes("- [") ? [] : splitList(named.replace(/\.$/, ""));
}

export const checklistText = (path: string, items: string[]): string =>
  [
    `# ${titleOf(path)}`,
    "",
    ...(items.length > 0 ? items : ["Decide what to do first"]).map((item) => `- [ ] ${item}`),
  ].join("\n");

const titleOf = (path: string): string => (path.split("/").at(-1) ?? path).replace(/\.\w+$/, "");

const nameOf = (section: string): string => section.replace(/\s*\(.*$/s, "");

/** If the section has choices in brackets, the first one is used. */
function bodyOf(section: string): string {
  const choices = /\(([^)]*)\)/.exec(section)?.[1]?.split(/,\s*|\s+or\s+/) ?? [];
  const [first] = choices;
  return first && choices.length > 1
    ? `${first}: the first of the choices, taken by the practice model. Nothing was analysed.`
    : "Written by the practice model. Nothing was analysed.";
}

/** Splits at commas and "and" that are not inside brackets. */
function splitList(list: string): string[] {
  const items = list.split(/,\s+(?:and\s+)?(?![^(]*\))|\s+and\s+(?![^(]*\))/);
  return items.map((item) => item.trim().replace(/^["'`“]|["'`”]$/g, "")).filter((item) => item !== "");
}
