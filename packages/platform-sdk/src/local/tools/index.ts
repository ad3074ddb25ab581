// The tools of a local agent: those of the calling program, and which of all it is offered.
export { customTools } from "./custom-tools.ts";
export { checkToolNames, selectTools } from "./tool-choice.ts";
