// What a test asks of a machine with transparent egress, and what it gets.
import type { Denial, PlaceholderOptions, Traffic } from "@agentcli/workspace";

export interface TransparentRequest {
  allowed: string[];
  secret?: PlaceholderOptions;
  /** By name; the proxy variables are set in each. */
  scripts: Record<string, string>;
}

export interface TransparentResult {
  egress: "transparent" | "proxy-env";
  obstacle: string | null;
  results: Record<string, { code: number; output: string; denials: Denial[] }>;
  denials: Denial[];
  traffic: Traffic[];
}
