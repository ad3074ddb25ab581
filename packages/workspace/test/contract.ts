// The one contract of a workspace; every place it can be opened in is held to it.
import { endingContract } from "./contract-ending.ts";
import { runningContract } from "./contract-running.ts";
import type { Place } from "./places.ts";

export function workspaceContract(place: Place): void {
  runningContract(place);
  endingContract(place);
}
