// The skills the model may choose from: one line each, within a budget. Descriptions are shortened before skills are left out.
import { maxDescription, type Skill } from "./skill.ts";

export interface Catalogue {
  /** Null if there is nothing to list. */
  text: string | null;
  /** Skills that did not fit, even without descriptions. */
  leftOut: number;
}

export function skillCatalogue(skills: Skill[], budgetBytes: number): Catalogue {
  const listed = skills.filter(({ invocation }) => invocation === "by-model");
  if (listed.length === 0) return { text: null, leftOut: 0 };
  const shortest = listed.map((skill) => Buffer.byteLength(line(skill, 0)) + 1);
  const fitting = countWithin(shortest, budgetBytes);
  const kept = listed.slice(0, fitting);
  const longest = maxDescriptionLength(kept, budgetBytes);
  const lines = kept.map((skill) => line(skill, longest));
  const leftOut = listed.length - fitting;
  return { text: fitting === 0 ? null : `${introduction}\n${lines.join("\n")}\n${usage}`, leftOut };
}

/** 2 % of the context window at four bytes a token, or the configured size. */
export function catalogueBudget(contextWindow: number | null, maxContextTokens: number | undefined): number {
  if (maxContextTokens !== undefined) return Math.min(maxContextTokens, 10_000) * 4;
  return contextWindow === null ? 8_000 : Math.floor(contextWindow * 0.02) * 4;
}

function line({ name, description, path }: Skill, longest: number): string {
  const shown = shorten(description, longest);
  return `- ${name}:${shown === "" ? "" : ` ${shown}`} (file: ${path})`;
}

/** Never within a surrogate pair. */
function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return longest === 0 ? "" : `${text.slice(0, longest - 1).replace(/[\s\ud800-\udbff]+$/, "")}…`;
}

function countWithin(sizes: number[], budget: number): number {
  let left = budget;
  const over = sizes.findIndex((size) => {
    left -= size;
    return left < 0;
  });
  return over === -1 ? sizes.length : over;
}

/** The same length for all, so that none displaces another. */
function maxDescriptionLength(skills: Skill[], budget: number): number {
  const bare = skills.reduce((sum, skill) => sum + Buffer.byteLength(line(skill, 0)) + 2, 0);
  const sizeAt = (longest: number) =>
    skills.reduce((sum, { description }) => sum + Buffer.byteLength(shorten(description, longest)), bare);
  let [low, high] = [0, maxDescription];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (sizeAt(middle) <= budget) low = middle;
    else high = middle - 1;
  }
  return low;
}

const introduction = `<skills_instructions>
## Skills
A skill is a procedure kept in a file. Each is listed with its name, what it is for, and its file.
### Available skills`;

const usage = `### How to use skills
- When the user names a skill ($name), or the task clearly is what a description says, use that skill. Otherwise use none.
- Before you begin, read its whole file; a skill the user named is in the conversation already. Then follow it step by step.
- Paths in a skill are relative to the folder of its file. Read further files only when a step needs them; run its scripts rather than writing them anew.
- A skill that cannot be read or does not fit: say so briefly and go on without it.
</skills_instructions>`;
