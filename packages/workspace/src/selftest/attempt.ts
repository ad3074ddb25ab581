// One attempt to break out: what a hostile model would do, and how to see from outside whether it worked.
import type { ExecRequest, Workspace } from "@agentcli/protocol";
import type { Admission } from "../sandbox/back-end.ts";
import type { World } from "./world.ts";

export interface Attempt {
  /** Goes on from "a command cannot". */
  name: string;
  /** workspace-write when absent. */
  mode?: "read-only";
  network?: "on";
  /** A back end that admits this is not blamed for it. */
  admission?: Admission;
  /** Prepares the world before the sandbox is opened. Opening may then be refused, which holds too. */
  arrange?(world: World): void;
  /** More that is hidden. Opening may then be refused as well. */
  hides?(world: World): string[];
  /** Returns what the attempt saw. */
  carryOut(inside: Inside): Promise<string>;
  /** Looked at while the sandbox is open, or after it has been closed. */
  escaped: { seen: "while-open" | "after-close"; by(world: World, told: string): boolean | Promise<boolean> };
  /** A sandbox and a world of its own, because it may break them. */
  alone?: true;
  /** Whether it may be carried out without a sandbox, to see that success would be noticed. */
  control: "harmless" | "harmless-as-root" | "never";
}

export interface Inside {
  world: World;
  workspace: Workspace;
  /** Runs a script with bash; everything it printed, in order. */
  shell(script: string, more?: Partial<NonNullable<ExecRequest["start"]>>): Promise<string>;
}

type Escaped = Attempt["escaped"];

export const byScript =
  (script: (world: World) => string): Attempt["carryOut"] =>
  ({ shell, world }) =>
    shell(script(world));

export const seen = (by: Escaped["by"]): Escaped => ({ seen: "while-open", by });
export const seenLater = (by: Escaped["by"]): Escaped => ({ seen: "after-close", by });
export const printsSecret: Escaped = seen(({ secret }, told) => told.includes(secret));
/** For attempts that can tell themselves. */
export const saysSo: Escaped = seen((_, told) => told.includes("SUCCEEDED"));
