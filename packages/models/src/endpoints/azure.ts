// Azure OpenAI: the model is the name of a deployment, and part of the path.
import type { Provider } from "../provider.ts";
import type { Endpoint } from "./endpoint.ts";

export const azureEndpoint = ({ wireApi }: Provider): Endpoint => ({
  path: (model) => (wireApi === "chat" ? `deployments/${encodeURIComponent(model)}/chat/completions` : "responses"),
});
