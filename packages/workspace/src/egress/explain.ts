// Says whether rules allow a host by its name, and which of them decides. Pure.
import { denialOf } from "./dial.ts";
import { readTarget } from "./hosts.ts";
import { type EgressRules, evaluate } from "./rules.ts";

export type TargetExplanation =
  | { kind: "allowed"; rule: string }
  | { kind: "denied"; reason: string }
  /** Neither a name nor an address. */
  | { kind: "invalid" };

/** `host` or `host:port`; without a port 443. What the name resolves to is not looked at. */
export function explainTarget(rules: EgressRules, text: string): TargetExplanation {
  const target = readTarget(text, 443);
  if (target === undefined) return { kind: "invalid" };
  const decision = evaluate(rules, target);
  if (decision.kind === "blocked") return { kind: "denied", reason: denialOf(target, rules, decision).reason };
  const rule = rules.allowed.find((one) => evaluate({ ...rules, allowed: [one] }, target).kind === "allowed");
  return { kind: "allowed", rule: rule?.text ?? "" };
}
