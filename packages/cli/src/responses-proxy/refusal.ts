// Answers of the proxy itself, in the form of the API's errors.
import type { ServerResponse } from "node:http";

export interface Refusal {
  status: number;
  code: string;
  message: string;
}

/** Where an answer has begun, its connection is cut instead: the client must not take the rest for complete. */
export function refuse(response: ServerResponse, { status, code, message }: Refusal): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const body = JSON.stringify({ error: { message, type: "proxy_error", code } });
  // Whatever of the request is still to come is not read.
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    connection: "close",
  });
  response.end(body);
}

export const refusals = {
  unauthorized: {
    status: 401,
    code: "proxy_token",
    message: "This is not a token of the proxy. Send the content of its token file as a bearer token.",
  },
  notServed: {
    status: 403,
    code: "not_served",
    message: "The proxy forwards only POST /v1/responses and GET /v1/models.",
  },
  busy: {
    status: 503,
    code: "proxy_busy",
    message: "The proxy has as many requests under way as it accepts. Retry later.",
  },
  upstreamUnauthorized: {
    status: 401,
    code: "upstream_unauthorized",
    message: "The upstream did not accept the key that the proxy was started with. Check that key.",
  },
  redirect: {
    status: 502,
    code: "upstream_redirect",
    message:
      "The upstream redirects, and the proxy sends its key nowhere else. Give the final address as --upstream-url.",
  },
} satisfies Record<string, Refusal>;

export const tooLarge = (maxBytes: number): Refusal => ({
  status: 413,
  code: "body_too_large",
  message: `The request is larger than ${maxBytes} bytes, the limit set by --max-body-bytes.`,
});

export const unreachable = (reason: string): Refusal => ({
  status: 502,
  code: "upstream_unreachable",
  message: `The upstream could not be reached: ${reason}. Check --upstream-url and the network.`,
});
