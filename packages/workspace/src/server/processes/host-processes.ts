// Processes a host starts outside its workspaces, such as hooks: none outlives the host, however it ends.

import { markerName } from "./process-variables.ts";
import { endProcessTree } from "./terminate.ts";
import { openWatchdog } from "./watchdog.ts";

export interface HostProcesses {
  /** For the environment of each: marks children that leave their group. */
  variables: Record<string, string>;
  /** The leader of a group that has just been started. */
  started(group: number): void;
  ended(group: number): void;
  /** Ends those still running. */
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
      await endProcessTree({ leaders: [...groups], marker: `${incarnation}/` });
      watchdog.stop();
    },
  };
}
