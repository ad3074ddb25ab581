// Which environment variables reach a tool. Pure, and plain data, so that it can be applied inside a sandbox too.
export interface EnvironmentPolicy {
  inherit: "all" | "core" | "none";
  /** Whether names that speak of secrets are left out. */
  secretNames: "excluded" | "inherited";
  /** Globs with `*` and `?`, upper and lower case alike. */
  exclude: string[];
  /** Globs; when there are any, nothing else passes, not even what is set. */
  includeOnly: string[];
  /** Exact names that pass though they look like secrets or are not inherited. */
  include: string[];
  /** Given to every tool, whatever their names. */
  set: Record<string, string>;
  /** Exact names that are never taken over: the credentials of the agent itself. */
  never: string[];
}

/** The agent's own key does not reach tools, whatever is configured. */
const neverInherited = ["AGENT_API_KEY"];
const likeSecrets = ["*KEY*", "*TOKEN*", "*SECRET*", "*PASSWORD*", "*PASSWD*", "*CREDENTIAL*"];
const core = new Set([
  ...["PATH", "SHELL", "TMPDIR", "TEMP", "TMP", "HOME"],
  ...["LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "USER"],
]);

/** Fills in what was not chosen: everything but what looks like a secret. */
export function environmentPolicy(choice: Partial<EnvironmentPolicy> = {}): EnvironmentPolicy {
  return {
    inherit: "all",
    secretNames: "excluded",
    exclude: [],
    includeOnly: [],
    include: [],
    set: {},
    ...choice,
    never: [...neverInherited, ...(choice.never ?? [])],
  };
}

/** Whether a variable of this name may be taken over from the user's environment or from a login shell. */
export function inherits(policy: EnvironmentPolicy): (name: string) => boolean {
  const never = new Set(policy.never);
  const included = new Set(policy.include);
  const isExcluded = matchesAny(policy.exclude);
  const looksSecret = matchesAny(policy.secretNames === "excluded" ? likeSecrets : []);
  const isWanted = wants(policy);
  return (name) => {
    if (never.has(name) || isExcluded(name)) return false;
    if (included.has(name)) return true;
    return isInherited(policy, name) && !looksSecret(name) && isWanted(name);
  };
}

/** What is set on purpose passes by its name alone. */
export function setVariables(policy: EnvironmentPolicy): Record<string, string> {
  const isWanted = wants(policy);
  return Object.fromEntries(Object.entries(policy.set).filter(([name]) => isWanted(name)));
}

function isInherited({ inherit }: EnvironmentPolicy, name: string): boolean {
  switch (inherit) {
    case "all":
      return true;
    case "core":
      return core.has(name);
    case "none":
      return false;
  }
}

function wants({ includeOnly, include }: EnvironmentPolicy): (name: string) => boolean {
  const matches = matchesAny(includeOnly);
  return (name) => includeOnly.length === 0 || include.includes(name) || matches(name);
}

function matchesAny(globs: string[]): (name: string) => boolean {
  const patterns = globs.map((glob) => new RegExp(`^${glob.replace(/[^\w]/g, translate)}$`, "is"));
  return (name) => patterns.some((pattern) => pattern.test(name));
}

function translate(character: string): string {
  if (character === "*") return ".*";
  return character === "?" ? "." : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
