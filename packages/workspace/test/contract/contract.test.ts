// The contract of a workspace, checked in every location.
import { describe } from "vitest";
import { workspaceLocations } from "../support/locations.ts";
import { workspaceContract } from "./contract.ts";

describe.each(workspaceLocations)("a workspace %s", (...location) => workspaceContract(location));
