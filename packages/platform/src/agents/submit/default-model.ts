// The model of an agent that names none: the user's default, else the team's; null leaves it to the server.
import type { ModelSelection } from "@agentcli/protocol/api";
import { ApiError, type Queries, type Settings } from "../../foundation/index.ts";
import { type Principal, readDefaultModels } from "../../identity/index.ts";
import { checkDefaultModel } from "./policy.ts";

export interface DefaultModel {
  selection: ModelSelection | null;
  /** In messages. */
  whose: string;
}

export async function findDefaultModel(db: Queries, principal: Principal): Promise<DefaultModel> {
  const userId = principal.kind === "user" ? principal.userId : null;
  const { user: own, team } = await readDefaultModels(db, { teamId: principal.teamId, userId });
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
