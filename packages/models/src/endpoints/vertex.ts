// Models of Anthropic on Vertex AI: the model is part of the path, and the version of the wire part of the body.
import type { Endpoint } from "./endpoint.ts";

export const vertexEndpoint: Endpoint = {
  path: (model) => `${encodeURIComponent(model)}:streamRawPredict`,
  body: (body) => ({ anthropic_version: "vertex-2023-10-16", ...body, model: undefined }),
};
