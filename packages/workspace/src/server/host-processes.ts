// Processes a host starts beside its workspaces, such as hooks: none of them outlives the host, however that ends.
import { endFamily } from "./terminate.ts";
import { markerName } from "./tool-environment.ts";
import { openWatchdog } from "./watchdog.ts";

export interface HostProcesses {
  /** For the environment of each: by it those are found that left their group. */
  variables: Record<string, string>;
  /** The leader of a group that has just been started. */
  started(group: number): void;
  ended(group: number): void;
  /** Ends whatever is left of them. */
  close(): Promise<void>;
}

export function openHostProcesses(incarnation: string): HostProcesses {
  const groups = new Set<number>();
  const watchdog = openWatchdog(incarnation);
  watchdog.start();
  return {
    variables: { [markerName]: `${incarnation}/` },
    started(group) {
      groups.add(group);
      watchdog.guard([...groups]);
    },
    ended(group) {
      groups.delete(group);
      watchdog.guard([...groups]);
    },
    async close() {
      await endFamily({ leaders: [...groups], marker: `${incarnation}/` });
      watchdog.dismiss();
    },
  };
}
