// Settings of git: from the text of a file, and from variables. Reads more as settings than git does, never less.

export interface Setting {
  section: string;
  key: string;
  value: string;
}

/** Variables that say where git finds the settings of the user, and some settings themselves. */
export type GitVariables = Readonly<Record<string, string | undefined>>;

/** A line that ends with a backslash goes on, except in a comment: both ways are read. */
export function* settingsIn(text: string): Generator<Setting> {
  const joined = text.replaceAll(/\\\r?\n/g, "");
  yield* settingsOf(joined);
  if (joined !== text) yield* settingsOf(text);
}

function* settingsOf(text: string): Generator<Setting> {
  let section = "";
  for (const line of text.split(/\r?\n/)) {
    const [header = "", name] = /^\s*\[\s*([\w.-]+)(?:\s*"(?:[^"\\]|\\.)*")?\s*\]/.exec(line) ?? [];
    if (name !== undefined) section = name.toLowerCase();
    const [, key, value] = /^\s*([A-Za-z][\w-]*)\s*=\s*(.*)$/.exec(line.slice(header.length)) ?? [];
    if (key !== undefined) yield { section, key: key.toLowerCase(), value: unquoted(value ?? "") };
  }
}

/** Without quotes, and without a comment that follows. */
const unquoted = (value: string): string =>
  value
    .replaceAll(/"((?:[^"\\]|\\.)*)"|[#;].*$/g, "$1")
    .replaceAll(/\\(.)/g, "$1")
    .trim();

/** GIT_CONFIG_COUNT with its pairs, what `git -c` passes on, and programs that have a variable of their own. */
export function* settingsOfVariables(variables: GitVariables): Generator<Setting> {
  const count = Math.min(Number(variables.GIT_CONFIG_COUNT) || 0, maxPairs);
  for (let index = 0; index < count; index += 1)
    yield named(variables[`GIT_CONFIG_KEY_${index}`] ?? "", variables[`GIT_CONFIG_VALUE_${index}`] ?? "");
  for (const [, first = "", second] of (variables.GIT_CONFIG_PARAMETERS ?? "").matchAll(/'([^']*)'(?:='([^']*)')?/g)) {
    const end = first.indexOf("=");
    yield second !== undefined || end < 0
      ? named(first, second ?? "")
      : named(first.slice(0, end), first.slice(end + 1));
  }
  for (const name of programVariables) yield { section: "core", key: "editor", value: variables[name] ?? "" };
}

const maxPairs = 1_000;

const programVariables = [
  ...["GIT_EXTERNAL_DIFF", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS"],
  ...["GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "EDITOR", "VISUAL", "PAGER"],
];

/** `filter.x.clean`. */
function named(name: string, value: string): Setting {
  const parts = name.toLowerCase().split(".");
  return { section: parts[0] ?? "", key: parts.at(-1) ?? "", value };
}
