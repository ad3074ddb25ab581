// Models of Anthropic on Amazon Bedrock: signed requests, and events in the binary frames of AWS.
import type { AwsIdentity } from "../provider.ts";
import { openAwsEvents } from "./aws-events.ts";
import type { Endpoint } from "./endpoint.ts";
import { signAws } from "./sigv4.ts";

export const bedrockEndpoint = ({ region, accessKeyId, sessionToken }: AwsIdentity): Endpoint => ({
  path: (model) => `model/${encodeURIComponent(model)}/invoke-with-response-stream`,
  body: (body) => ({ anthropic_version: "bedrock-2023-05-31", ...body, model: undefined, stream: undefined }),
  sign: ({ url, headers, body, key: secretAccessKey = "" }) =>
    signAws(
      { url, method: "POST", headers: signedHeaders(headers), body },
      { accessKeyId, secretAccessKey, sessionToken, region, service: "bedrock", at: new Date() },
    ),
  events: { contentType: "application/vnd.amazon.eventstream", open: openAwsEvents },
});

/** Proxies may change the others. */
const signedHeaders = (headers: Record<string, string>): Record<string, string> => ({
  accept: "application/vnd.amazon.eventstream",
  "content-type": headers["content-type"] ?? "application/json",
});
