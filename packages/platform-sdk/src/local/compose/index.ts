// What a local run is driven with.
export { openAssembly } from "./assembly.ts";
export { type Intent, intentOf, modelMissing } from "./intent.ts";
