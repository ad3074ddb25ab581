// What a controller was asked to do, and what it works with.
import type { ControllerApi } from "./controller-api.ts";
import type { RunProgram } from "./program.ts";

export interface ControllerOptions {
  spawn: string;
  /** Null: all of the team. */
  pools: string[] | null;
  /** Null: requests are claimed. */
  warmIdle: number | null;
  hasSessionTokens: boolean;
  repository: string | undefined;
  url: string;
  readKey(): string;
}

export interface Controller {
  options: ControllerOptions;
  program: RunProgram;
  api: ControllerApi;
}
