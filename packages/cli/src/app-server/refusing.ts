// Trouble that a user can mend, as the error a client is given: a refusal with its sentence.
import { invalidRequest, type Methods } from "./method.ts";

/** By name: the classes live in packages that need not be loaded to be recognised. */
const mendable = new Set(["Problem", "ConfigProblem", "StaleWriter", "SandboxUnavailable", "WorkspaceLost"]);

export async function refusing<Result>(
  act: () => Promise<Result>,
  scrub: (text: string) => string = (text) => text,
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Error && mendable.has(error.name)) throw invalidRequest(scrub(error.message));
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
