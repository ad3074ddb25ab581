// Parsed rules.
export type Decision = "allow" | "prompt" | "forbidden";

/** The location of a rule, for messages. */
export interface Origin {
  file: string;
  line: number;
}

/** A command whose first words match the pattern is allowed, needs an approval, or is forbidden. */
export interface PrefixRule {
  kind: "prefix";
  /** For each position of the prefix, the words that match. */
  pattern: string[][];
  decision: Decision;
  justification: string | null;
  origin: Origin;
}

export interface NetworkRule {
  kind: "network";
  host: string;
  protocol: "http" | "https" | "socks5_tcp" | "socks5_udp";
  decision: "allow" | "prompt" | "deny";
  justification: string | null;
  origin: Origin;
}

/** The only absolute paths that count as the program of that name. */
export interface HostExecutable {
  kind: "executable";
  name: string;
  paths: string[];
  origin: Origin;
}

export type Rule = PrefixRule | NetworkRule | HostExecutable;

export interface RuleSet {
  prefixes: Ranked<PrefixRule>[];
  networks: Ranked<NetworkRule>[];
  executables: Ranked<HostExecutable>[];
}

/** A higher rank is closer to the administrator. A path list does not affect rules of a higher rank. */
export type Ranked<R> = R & { rank: number };
