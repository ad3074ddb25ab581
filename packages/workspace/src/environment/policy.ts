// Which environment variables a tool inherits. Pure, and plain data, so that it can be applied inside a sandbox too.
export interface EnvironmentPolicy {
  inherit: "all" | "core" | "none";
  /** Whether names that look like secrets are excluded. */
  secretNames: "excluded" | "inherited";
  /** Globs with `*` and `?`, case-insensitive. */
  exclude: string[];
  /** Globs; if there are any, nothing else passes, not even what is set. */
  includeOnly: string[];
  /** Exact names that pass even if they look like secrets or are not inherited. */
  include: string[];
  /** Set for every tool, whatever their names. */
  set: Record<string, string>;
  /** Exact names that are never inherited: the agent's own credentials. */
  never: string[];
}

/** The agent's own key never reaches tools, whatever is configured. */
const neverInherited = ["AGENT_API_KEY"];
const secretPatterns = ["*KEY*", "*TOKEN*", "*SECRET*", "*PASSWORD*", "*PASSWD*", "*CREDENTIAL*"];
const coreNames = new Set([
  ...["PATH", "SHELL", "TMPDIR", "TEMP", "TMP", "HOME"],
  ...["LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "USER"],
]);

/** Defaults: inherit everything that does not look like a secret. */
export function environmentPolicy(options: Partial<EnvironmentPolicy> = {}): EnvironmentPolicy {
  return {
    inherit: "all",
    secretNames: "excluded",
    exclude: [],
    includeOnly: [],
    include: [],
    set: {},
    ...options,
    never: [...neverInherited, ...(options.never ?? [])],
  };
}

/** Whether a variable of this name may be inherited from the user's environment or a login shell. */
export function inherits(policy: EnvironmentPolicy): (name: string) => boolean {
  const never = new Set(policy.never);
  const included = new Set(policy.include);
  const isExcluded = matchesAny(policy.exclude);
  const looksSecret = matchesAny(policy.secretNames === "excluded" ? secretPatterns : []);
  const isIncluded = matchesIncludeOnly(policy);
  return (name) => {
    if (never.has(name) || isExcluded(name)) return false;
    if (included.has(name)) return true;
    return isInherited(policy, name) && !looksSecret(name) && isIncluded(name);
  };
}

/** Explicitly set variables only have to match `includeOnly`. */
export function setVariables(policy: EnvironmentPolicy): Record<string, string> {
  const isIncluded = matchesIncludeOnly(policy);
  return Object.fromEntries(Object.entries(policy.set).filter(([name]) => isIncluded(name)));
}

function isInherited({ inherit }: EnvironmentPolicy, name: string): boolean {
  switch (inherit) {
    case "all":
      return true;
    case "core":
      return coreNames.has(name);
    case "none":
      return false;
  }
}

function matchesIncludeOnly({ includeOnly, include }: EnvironmentPolicy): (name: string) => boolean {
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
