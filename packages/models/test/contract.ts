// The contract of every wire.
import { answers } from "./contract/answers.ts";
import { faults } from "./contract/faults.ts";
import { interruptions } from "./contract/interruptions.ts";
import { retries } from "./contract/retries.ts";
import type { WireName } from "./harness.ts";

export function modelContract(wire: WireName): void {
  answers(wire);
  faults(wire);
  retries(wire);
  interruptions(wire);
}
