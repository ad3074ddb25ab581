// Which hosts and ports commands may connect to: allowed_domains and denied_domains. Pure.
import { domainToASCII } from "node:url";
import { type Host, hostText, readHost, readTarget, type Target } from "./hosts.ts";

export interface DomainRule {
  /** As configured. */
  text: string;
  match: Match;
  /** Absent: 80 and 443 if it allows, every port if it denies. */
  port?: number;
}

type Match =
  | { kind: "any-name" }
  | { kind: "host"; host: Host }
  | { kind: "below"; suffix: string }
  | { kind: "at-or-below"; suffix: string };

export interface EgressRules {
  allowed: DomainRule[];
  denied: DomainRule[];
  /** What the list of allowed domains is called in messages; absent: allowed_domains. */
  name?: string | undefined;
}

export type RuleDecision =
  | { kind: "allowed" }
  | { kind: "blocked"; by: "allowlist" }
  | { kind: "blocked"; by: "denylist"; rule: string };

const defaultPorts = [80, 443];

export class InvalidDomainRule extends Error {
  constructor(text: string) {
    super(
      `Invalid domain "${text}". Write example.com, *.example.com, **.example.com, * or an address, with :port if it is not 80 or 443.`,
    );
    this.name = "InvalidDomainRule";
  }
}

/** Throws InvalidDomainRule for an entry that is not a domain or an address. */
export const readRules = (allowed: string[], denied: string[]): EgressRules => ({
  allowed: allowed.map(readRule),
  denied: denied.map(readRule),
});

/** By name only; the addresses behind a name are checked later. */
export function evaluate(rules: EgressRules, target: Target): RuleDecision {
  const denial = rules.denied.find((rule) => denies(rule, target));
  if (denial) return { kind: "blocked", by: "denylist", rule: denial.text };
  if (rules.allowed.some((rule) => allows(rule, target))) return { kind: "allowed" };
  return { kind: "blocked", by: "allowlist" };
}

/** Whether a name can be reached on any port. */
export function evaluateName(rules: EgressRules, host: Host): RuleDecision {
  const denial = rules.denied.find(({ match, port }) => port === undefined && matches(match, host));
  if (denial) return { kind: "blocked", by: "denylist", rule: denial.text };
  const isAllowed = host.kind === "name" && rules.allowed.some(({ match }) => matches(match, host));
  return isAllowed ? { kind: "allowed" } : { kind: "blocked", by: "allowlist" };
}

/** On which a bridge listens in the place of hosts: those that are allowed, and usual ones, so that refusals name the host. */
export const listenedPorts = ({ allowed }: EgressRules): number[] => [
  ...[...new Set(allowed.flatMap(({ port }) => port ?? defaultPorts))].slice(0, maxListened),
  ...usualPorts,
];

/** Each takes a descriptor of the machine. */
const maxListened = 200;

const usualPorts = [
  ...[21, 22, 23, 25, 80, 110, 143, 389, 443, 465, 587, 636, 853, 873, 993, 1433, 2375, 2376, 3000, 3306, 3389, 4222],
  ...[5000, 5432, 5672, 6379, 6443, 8000, 8080, 8443, 8888, 9000, 9092, 9200, 9418, 11211, 27017],
];

/** Whether this very address is listed, so that it is allowed even if private. */
export const listsAddress = (rules: EgressRules, address: string, port: number): boolean =>
  rules.allowed.some(
    (rule) => rule.match.kind === "host" && allows(rule, { host: { kind: "address", address }, port }),
  );

/** Which entry would have allowed the target on another port, or under a name; a sentence. */
export function explainMiss({ allowed }: EgressRules, { host }: Target): string | null {
  const other = allowed.find(({ match }) => matches(match, host));
  if (other) return `"${other.text}" allows it on port ${other.port ?? defaultPorts.join(" and ")} only.`;
  const any = host.kind === "address" && allowed.find(({ match }) => match.kind === "any-name");
  return any ? `"${any.text}" allows names, not addresses.` : null;
}

/** A host that a secret is bound to: a name, or `*.` and a name for all below. Throws InvalidDomainRule. */
export function readBinding(text: string): DomainRule {
  const rule = readRule(text);
  if (rule.match.kind === "any-name" || (rule.match.kind === "host" && rule.match.host.kind === "address"))
    throw new InvalidDomainRule(text);
  return rule;
}

export const matchesRule = ({ match }: DomainRule, name: string): boolean => matches(match, { kind: "name", name });

function readRule(text: string): DomainRule {
  const [, prefix = "", rest = ""] = /^(\*\*\.|\*\.|\*(?=$|:))?(.*)$/s.exec(text.trim()) ?? [];
  const { host, port } = prefix === "*" ? readTargetOf(`any${rest}`, text) : readTargetOf(toAscii(rest), text);
  return { text, match: matchOf(prefix, host, text), ...port };
}

function matchOf(prefix: string, host: Host, text: string): Match {
  if (prefix === "*") return { kind: "any-name" };
  if (prefix === "") return { kind: "host", host };
  if (host.kind === "address") throw new InvalidDomainRule(text);
  return { kind: prefix === "*." ? "below" : "at-or-below", suffix: host.name };
}

/** The port only if one is given. IPv6 without brackets has no port. */
function readTargetOf(entry: string, text: string): { host: Host; port: { port?: number } } {
  const whole = readTarget(entry);
  if (whole) return { host: whole.host, port: { port: whole.port } };
  const host = readTarget(entry, 443)?.host ?? readHost(entry);
  if (host === undefined) throw new InvalidDomainRule(text);
  return { host, port: {} };
}

/** Users may write internationalized names, programs request them in ASCII. */
function toAscii(text: string): string {
  const [, name = "", port = ""] = /^([^:[]*)(:\d+)?$/.exec(text) ?? [];
  return /[^\0-\x7f]/.test(name) ? `${domainToASCII(name)}${port}` : text;
}

const allows = ({ match, port }: DomainRule, target: Target) =>
  matches(match, target.host) && (port === undefined ? defaultPorts.includes(target.port) : port === target.port);

const denies = ({ match, port }: DomainRule, target: Target) =>
  matches(match, target.host) && (port === undefined || port === target.port);

function matches(match: Match, host: Host): boolean {
  switch (match.kind) {
    case "any-name":
      return host.kind === "name";
    case "host":
      return match.host.kind === host.kind && hostText(match.host) === hostText(host);
    case "below":
      return host.kind === "name" && host.name.endsWith(`.${match.suffix}`);
    case "at-or-below":
      return host.kind === "name" && (host.name === match.suffix || host.name.endsWith(`.${match.suffix}`));
  }
}
