// The model of an agent that names none: the user's default, else the team's; null leaves it to the server.
import type { ModelSelection } from "@agentcli/protocol/api";
import { ApiError, type Settings } from "../../foundation/index.ts";
import { checkDefaultModel } from "./policy.ts";

export interface DefaultModel {
  selection: ModelSelection | null;
  /** In messages. */
  whose: string;
}

export function defaultModel({ user: own, team }: Record<"user" | "team", ModelSelection | null>): DefaultModel {
  return { selection: own ?? team, whose: own === null ? "the team's settings" : "your settings" };
}

/** `settings`: as the team of the principal sees them. */
export function checkedDefault({ selection, whose }: DefaultModel, settings: Settings): ModelSelection | null {
  try {
    checkDefaultModel(selection, settings);
  } catch (error) {
    // The models of the server have changed since; another model in its place could cost more, or know less.
    if (!(error instanceof ApiError)) throw error;
    throw new ApiError(error.code, `No model was named, and the default of ${whose} cannot be used. ${error.message}`);
  }
  return selection;
}
