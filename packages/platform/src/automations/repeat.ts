// Work that is done again and again, never twice at once; what fails is logged and done again.
import type { Activity } from "../foundation/index.ts";
import type { AutomationHost } from "./host.ts";

export interface Repeated {
  /** In the log. */
  failure: string;
  work(): Promise<void>;
  intervalMs: number;
}

export function repeat({ platform: { log } }: AutomationHost, { failure, work, intervalMs }: Repeated): Activity {
  let running: Promise<void> | null = null;
  const look = (): void => {
    running ??= work()
      .catch((error: unknown) => log.error(failure, error))
      .finally(() => {
        running = null;
      });
  };
  const timer = setInterval(look, intervalMs);
  look();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
