// An action that a person starts: one at a time, with its failure to show.
import { useState } from "react";

export interface Action<Argument> {
  /** Whether it worked. */
  run(argument: Argument): Promise<boolean>;
  isPending: boolean;
  /** Of the last time; null when it worked or has not been tried. */
  error: unknown;
}

export function useAction<Argument>(act: (argument: Argument) => Promise<void>): Action<Argument> {
  const [state, setState] = useState<{ isPending: boolean; error: unknown }>({ isPending: false, error: null });
  return {
    ...state,
    async run(argument) {
      setState({ isPending: true, error: null });
      try {
        await act(argument);
        setState({ isPending: false, error: null });
        return true;
      } catch (error) {
        setState({ isPending: false, error });
        return false;
      }
    },
  };
}
