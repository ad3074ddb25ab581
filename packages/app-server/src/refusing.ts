// Errors that the user can fix, as the error a client receives: a refused request with the message.
import { exitNameOf } from "@agentcli/command-line";
import { WorkspaceLost } from "@agentcli/protocol/workspace-errors";
import { invalidRequest, type Methods } from "./method.ts";

export async function refusing<Result>(
  act: () => Promise<Result>,
  scrub: (text: string) => string = (text) => text,
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (isFixable(error)) throw invalidRequest(scrub(error.message));
    throw error;
  }
}

/** The same methods, each of them refusing. */
export function refusingAll(methods: Methods, scrub: (text: string) => string): Methods {
  const wrapped = Object.entries(methods).map(([name, method]) => {
    const act = method as (...args: unknown[]) => unknown;
    return [name, (...args: unknown[]) => refusing(async () => act(...args), scrub)];
  });
  return Object.fromEntries(wrapped) as Methods;
}

const isFixable = (error: unknown): error is Error => exitNameOf(error) !== null || error instanceof WorkspaceLost;
