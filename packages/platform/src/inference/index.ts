// Models for programs outside.
export { type Inference, openInference } from "./routes.ts";
export { addInferenceUsageRoute } from "./usage.ts";
