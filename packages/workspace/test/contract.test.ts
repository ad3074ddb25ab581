// The contract of a workspace, held in every place.
import { describe } from "vitest";
import { workspaceContract } from "./contract.ts";
import { places } from "./places.ts";

describe.each(places)("a workspace %s", (...place) => workspaceContract(place));
