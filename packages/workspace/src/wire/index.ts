// What both ends of a stream into a sandbox agree on: JSON lines, and the bridge to the proxy.
export {
  bridgeDescriptor,
  bridgePorts,
  type ChannelKind,
  firstHostChannel,
  kindOf,
  numberOf,
  portKind,
  processKind,
  proxyVariables,
  unroutableKind,
} from "./bridge.ts";
export { type LineWriter, maxLineBytes, openLineWriter, readLines } from "./json-lines.ts";
export {
  connectionKind,
  linkMask,
  listenerAddress,
  lookupAnswers,
  lookupKind,
  machineAddress,
  nameServerPort,
  namesMask,
  namesPrefix,
} from "./transparent.ts";
