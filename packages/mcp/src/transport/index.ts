// How messages reach a server: a process's standard streams or HTTP, with the credentials they carry.
export {
  type Authorization,
  bearerToken,
  type Challenge,
  configuredHeaders,
  helperHeaders,
  noAuthorization,
} from "./authorization.ts";
export type { Channel, ChannelEvents, OpenChannel } from "./channel.ts";
export type { Variables } from "./environment.ts";
export { openHttp } from "./http.ts";
export type { LookupFor } from "./http-request.ts";
export { openLegacySse } from "./legacy-sse.ts";
export { openStdio } from "./stdio.ts";
