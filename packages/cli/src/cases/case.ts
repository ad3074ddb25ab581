// A test case: a prompt, what the model answers, and what has to be true afterwards.
import type { CaseFacts } from "./facts.ts";

export interface CaseFile {
  path: string;
  cases: Case[];
  /** What is wrong in the file; such a case is not run. */
  problems: { line: number; message: string }[];
}

export interface Case {
  /** Of the file. */
  path: string;
  line: number;
  name: string;
  /** Absent: that of the recording. */
  prompt?: string;
  replies: Replies;
  sandbox?: "read-only" | "workspace-write";
  /** Below the project. */
  directory?: string;
  /** As --budget. */
  budget: string[];
  /** Written into the copy of the project before the run. */
  files: Map<string, string>;
  expectations: Expectation[];
}

export type Replies =
  /** By role for sub-agents. */
  | { kind: "script"; main: ScriptedReply[]; agents: Map<string, ScriptedReply[]> }
  | { kind: "cassette"; path: string }
  /** Only for a real model. */
  | { kind: "none" };

export interface ScriptedReply {
  line: number;
  message?: string;
  calls: ScriptedCall[];
}

export interface ScriptedCall {
  tool: string;
  /** A text, or arguments. */
  input: unknown;
}

export interface Expectation {
  /** As in the file. */
  name: string;
  line: number;
  /** Null if it holds; otherwise what was found instead. */
  check(facts: CaseFacts): Promise<string | null> | string | null;
}
