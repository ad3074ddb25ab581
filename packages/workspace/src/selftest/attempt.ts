// One attempt to break out: what a hostile model would do, and how to see from outside whether it worked.

import type { ExecRequest, Workspace } from "@agentcli/protocol";
import type { KnownGap } from "../sandbox/index.ts";
import type { EscapeFixture } from "./fixture.ts";

export interface Attempt {
  /** Goes on from "a command cannot". */
  name: string;
  /** workspace-write when absent. */
  mode?: "read-only";
  network?: "on";
  /** A back end that admits this is not blamed for it. */
  knownGap?: KnownGap;
  /** Prepares the fixture before the sandbox is opened. Opening may then be refused, which counts as held. */
  prepare?(fixture: EscapeFixture): void;
  /** More that is hidden. Opening may then be refused as well. */
  hiddenPaths?(fixture: EscapeFixture): string[];
  /** Returns what the attempt saw. */
  run(inside: AttemptContext): Promise<string>;
  /** Looked at while the sandbox is open, or after it has been closed. */
  escaped: {
    when: "while-open" | "after-close";
    /** What ends by itself has this long to do so. */
    check(fixture: EscapeFixture, output: string, waitMs: number): boolean | Promise<boolean>;
  };
  /** Its own sandbox and fixture, because it may break them. */
  ownSandbox?: true;
  /** Whether it may run without a sandbox, to check that success would be noticed. */
  control: "harmless" | "harmless-as-root" | "never";
}

export interface AttemptContext {
  fixture: EscapeFixture;
  workspace: Workspace;
  /** Runs a script with bash; everything it printed, in order. */
  shell(script: string, more?: Partial<NonNullable<ExecRequest["start"]>>): Promise<string>;
}

type Escaped = Attempt["escaped"];

export const runScript =
  (script: (fixture: EscapeFixture) => string): Attempt["run"] =>
  ({ shell, fixture }) =>
    shell(script(fixture));

export const whileOpen = (check: Escaped["check"]): Escaped => ({ when: "while-open", check });
export const afterClose = (check: Escaped["check"]): Escaped => ({ when: "after-close", check });
export const printsSecret: Escaped = whileOpen(({ secret }, output) => output.includes(secret));
/** For attempts that can tell themselves. */
export const printsSucceeded: Escaped = whileOpen((_, output) => output.includes("SUCCEEDED"));
