// Opens the endpoint of a provider.
import type { Provider } from "../provider.ts";
import type { Endpoint } from "./endpoint.ts";

/** Loaded only for a provider that has one. */
export async function openEndpoint(provider: Provider): Promise<Endpoint | undefined> {
  switch (provider.endpoint?.kind) {
    case undefined:
      return undefined;
    case "azure":
      return (await import("./azure.ts")).azureEndpoint(provider);
    case "bedrock":
      return (await import("./bedrock.ts")).bedrockEndpoint(provider.endpoint);
    case "vertex":
      return (await import("./vertex.ts")).vertexEndpoint;
  }
}
