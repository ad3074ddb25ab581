// The contract of a workspace, the same in every location it can be opened in.

import type { WorkspaceLocation } from "../support/locations.ts";
import { endingContract } from "./ending.ts";
import { runningContract } from "./running.ts";

export function workspaceContract(location: WorkspaceLocation): void {
  runningContract(location);
  endingContract(location);
}
