// What a rules file can say, once it is understood.
export type Decision = "allow" | "prompt" | "forbidden";

/** Where a rule was written: shown in messages. */
export interface Origin {
  file: string;
  line: number;
}

/** A command whose first words fit the pattern is allowed, needs an approval, or is forbidden. */
export interface PrefixRule {
  kind: "prefix";
  /** Each place of the prefix with the words that may stand there. */
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

/** Only these absolute paths may stand for the program of that name. */
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

/** The higher the rank, the closer to the machine's owner. A path list says nothing about rules of a higher rank. */
export type Ranked<R> = R & { rank: number };
