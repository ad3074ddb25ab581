// Everything a run is driven with.
export { openAssembly, type RunAssembly } from "./assembly.ts";
export { chooseModel, describeModel, identifyModel, isPractice, practiceNotice } from "./model.ts";
export { planRun, type RunPlan, turnSettings } from "./plan.ts";
