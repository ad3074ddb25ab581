// What keeps git on the host from running anything but itself: agents may have written the files, the settings of the
// repository and the programs that settings of the user name.

/** Before the subcommand. */
export const neutralFlags = [
  // Paths are literal: a * in one is not a pattern.
  "--literal-pathspecs",
  ...[
    "commit.gpgSign=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.quotePath=false",
    "credential.helper=",
    "diff.external=",
    "diff.suppressBlankEmpty=false",
    // A look into a submodule would run git there, under a configuration the agent may have written.
    "diff.ignoreSubmodules=dirty",
    "gc.auto=0",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
  ].flatMap((setting) => ["-c", setting]),
];

/** No transport, also not for objects that are missing here; no prompts; nothing that changes the output. */
export const neutralVariables = {
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "",
  LC_ALL: "C",
};

/** Inside a git hook these variables point to another index, directory or configuration than the requested one. */
export const misleadingVariables =
  /^(?:SSH_ASKPASS|GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|PREFIX|NAMESPACE|CONFIG|CONFIG_PARAMETERS|EXTERNAL_DIFF|DIFF_OPTS|PAGER|SSH|SSH_COMMAND|PROXY_COMMAND|TRACE.*))$/;

/** With the flags that its subcommand needs, which settings of a submodule or an attribute could change otherwise. */
export function withNeutralFlags(args: string[]): string[] {
  const at = subcommandAt(args);
  return [...neutralFlags, ...args.slice(0, at + 1), ...(flagsOf.get(args[at] ?? "") ?? []), ...args.slice(at + 1)];
}

const flagsOf = new Map([
  ["diff", ["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"]],
  ["status", ["--ignore-submodules=dirty"]],
]);

export const subcommandAt = (args: string[]): number =>
  args.findIndex((arg, at) => arg !== "-c" && args[at - 1] !== "-c");

export interface GitSetting {
  key: string;
  value: string;
}

/** Turns off each filter and hook among the names of settings. Null if one has a name that is not text. */
export function withoutPrograms(names: string[]): GitSetting[] | null {
  const keys = [...new Set(names)].filter((name) => runsProgram.test(name));
  if (keys.some((key) => key.includes("\ufffd"))) return null;
  return keys.map((key) => {
    if (key.startsWith("hook.")) return { key: key.replace(/command$/, "enabled"), value: "false" };
    return { key, value: key.endsWith(".required") ? "false" : "" };
  });
}

const runsProgram = /^(?:filter\..*\.(?:clean|smudge|process|required)|hook\..*\.command)$/s;

/** After those that the variables have already. A name may contain `=`, which `-c` could not express. */
export function asVariables(settings: GitSetting[], { GIT_CONFIG_COUNT }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const start = Number(GIT_CONFIG_COUNT || 0);
  const entries = settings.flatMap(({ key, value }, index) => [
    [`GIT_CONFIG_KEY_${start + index}`, key],
    [`GIT_CONFIG_VALUE_${start + index}`, value],
  ]);
  return { ...Object.fromEntries(entries), GIT_CONFIG_COUNT: String(start + settings.length) };
}
