// Which hosts and ports commands may reach: the entries of allowed_domains and denied_domains. Pure.
import { domainToASCII } from "node:url";
import { type Host, hostText, readHost, readTarget, type Target } from "./hosts.ts";

export interface DomainRule {
  /** As it was written. */
  text: string;
  match: Match;
  /** Absent: 80 and 443 where it allows, every port where it denies. */
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
}

export type Judgement =
  | { kind: "allowed" }
  | { kind: "blocked"; by: "allowlist" }
  | { kind: "blocked"; by: "denylist"; rule: string };

const usualPorts = [80, 443];

export class BadDomainRule extends Error {
  constructor(text: string) {
    super(
      `"${text}" is not a domain to allow or deny. Write example.com, *.example.com, **.example.com, * or an address, each with :port if it is not 80 or 443.`,
    );
    this.name = "BadDomainRule";
  }
}

/** Throws BadDomainRule for an entry nobody could meet. */
export const readRules = (allowed: string[], denied: string[]): EgressRules => ({
  allowed: allowed.map(readRule),
  denied: denied.map(readRule),
});

/** What the names say; where a name leads is looked at later. */
export function judge(rules: EgressRules, target: Target): Judgement {
  const denial = rules.denied.find((rule) => denies(rule, target));
  if (denial) return { kind: "blocked", by: "denylist", rule: denial.text };
  if (rules.allowed.some((rule) => allows(rule, target))) return { kind: "allowed" };
  return { kind: "blocked", by: "allowlist" };
}

/** Whether this very address is listed, so that it may be reached wherever it is. */
export const listsAddress = (rules: EgressRules, address: string, port: number): boolean =>
  rules.allowed.some(
    (rule) => rule.match.kind === "host" && allows(rule, { host: { kind: "address", address }, port }),
  );

function readRule(text: string): DomainRule {
  const [, prefix = "", rest = ""] = /^(\*\*\.|\*\.|\*(?=$|:))?(.*)$/s.exec(text.trim()) ?? [];
  const { host, port } = prefix === "*" ? readTargetOf(`any${rest}`, text) : readTargetOf(toAscii(rest), text);
  return { text, match: matchOf(prefix, host, text), ...port };
}

function matchOf(prefix: string, host: Host, text: string): Match {
  if (prefix === "*") return { kind: "any-name" };
  if (prefix === "") return { kind: "host", host };
  if (host.kind === "address") throw new BadDomainRule(text);
  return { kind: prefix === "*." ? "below" : "at-or-below", suffix: host.name };
}

/** The port only where one is written. IPv6 may come without brackets, hence without a port. */
function readTargetOf(entry: string, text: string): { host: Host; port: { port?: number } } {
  const whole = readTarget(entry);
  if (whole) return { host: whole.host, port: { port: whole.port } };
  const host = readTarget(entry, 443)?.host ?? readHost(entry);
  if (host === undefined) throw new BadDomainRule(text);
  return { host, port: {} };
}

/** People write names in their own script, programs ask for them in ASCII. */
function toAscii(text: string): string {
  const [, name = "", port = ""] = /^([^:[]*)(:\d+)?$/.exec(text) ?? [];
  return /[^\0-\x7f]/.test(name) ? `${domainToASCII(name)}${port}` : text;
}

const allows = ({ match, port }: DomainRule, target: Target) =>
  matches(match, target.host) && (port === undefined ? usualPorts.includes(target.port) : port === target.port);

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
