// Whether a hook is meant, by the pattern of its definition.
import type { HookDefinition } from "@agentcli/protocol";
import type { Occasion } from "./moment.ts";

export function matches({ dialect, event, matcher }: HookDefinition, occasion: Occasion): boolean {
  if (event !== occasion.event) return false;
  if (matcher === null || matcher === "" || matcher === "*" || occasion.subjects === null) return true;
  const isMeant = dialect === "agentcli" ? exactOrPattern(matcher) : pattern(matcher);
  return occasion.subjects.some(isMeant);
}

/** Plain words between bars are names, anything else is a regular expression. */
function exactOrPattern(matcher: string): (subject: string) => boolean {
  if (!/^[A-Za-z0-9_|]+$/.test(matcher)) return pattern(matcher);
  const names = matcher.split("|");
  return (subject) => names.includes(subject);
}

/** Definitions with a pattern that is none were left out when they were read, or mean everything. */
function pattern(matcher: string): (subject: string) => boolean {
  try {
    const expression = new RegExp(matcher, "u");
    return (subject) => expression.test(subject);
  } catch {
    return () => true;
  }
}
