// Trouble that is not ours, as the error a client is given.
import { invalidRequest, type Methods } from "../method.ts";

/** By name: the classes live in packages that need not be loaded to be recognised. */
const known = new Set(["Problem", "ConfigProblem", "StaleWriter", "SandboxUnavailable"]);

/** The same methods; what they throw for what a user can mend is a refusal with its sentence. */
export function refusing(methods: Methods, scrub: (text: string) => string): Methods {
  const wrapped = Object.entries(methods).map(([name, method]) => {
    const act = method as (...args: unknown[]) => unknown;
    const attempt = async (...args: unknown[]) => {
      try {
        return await act(...args);
      } catch (error) {
        if (error instanceof Error && known.has(error.name)) throw invalidRequest(scrub(error.message));
        throw error;
      }
    };
    return [name, attempt];
  });
  return Object.fromEntries(wrapped) as Methods;
}

export const unknownThread = (threadId: string): Error => invalidRequest(`thread not found: ${threadId}`);
