// What an address fills into the form of a new agent: links of other pages, and what other apps share.
export interface Given {
  repository?: string;
  prompt?: string;
  /** Its name; the agent starts from the build beside it. */
  environment?: string;
  build?: string;
  /** Unlike a prompt it is added to one that was typed before: it exists nowhere else. */
  shared?: string;
}

const maxLength = 20_000;

export function readGiven(search: Record<string, unknown>): Given {
  const { repository, prompt, environment, build } = search;
  const parts = ["title", "text", "url", "shared"].map((name) => textOf(search[name])).filter((text) => text !== "");
  // Many apps repeat the address in the text.
  const shared = [...new Set(parts)].filter(
    (part, _, all) => !all.some((other) => other !== part && other.includes(part)),
  );
  return {
    ...(isText(repository) && { repository }),
    ...(isText(prompt) && { prompt }),
    ...(isText(environment) && isText(build) && { environment, build }),
    ...(shared.length > 0 && { shared: shared.join("\n").slice(0, maxLength) }),
  };
}

/** The same again adds nothing: pages are drawn more than once before the address is cleared. */
export function addShared(prompt: string, shared: string | undefined): string {
  if (shared === undefined || prompt.endsWith(shared)) return prompt;
  return prompt === "" ? shared : `${prompt}\n\n${shared}`;
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= maxLength;

/** The router reads values as JSON: a shared number is a text as well. */
const textOf = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
