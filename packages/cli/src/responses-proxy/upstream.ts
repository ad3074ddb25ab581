// The one address that the proxy forwards to, and what it offers there.
import http from "node:http";
import https from "node:https";
import { CommandError } from "@agentcli/command-line";

export const defaultUpstream = "https://api.openai.com/v1/responses";

export interface Upstream {
  responses: URL;
  models: URL;
  request: typeof http.request;
  agent: http.Agent;
}

export function openUpstream(address: string): Upstream {
  const responses = parseAddress(address);
  const models = new URL(responses);
  models.pathname = responses.pathname.replace(/\/responses$/, "/models");
  const isPlain = responses.protocol === "http:";
  return {
    responses,
    models,
    request: isPlain ? http.request : https.request,
    agent: new (isPlain ? http : https).Agent({ keepAlive: true }),
  };
}

function parseAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || !url.pathname.endsWith("/responses") || url.username || url.hash)
    throw new CommandError(
      "usage",
      `--upstream-url ${address} is not the address of a Responses API: expected one like ${defaultUpstream}.`,
    );
  if (url.protocol === "http:" && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname))
    throw new CommandError("usage", `--upstream-url ${address} would send the key unencrypted. Use https.`);
  return url;
}
