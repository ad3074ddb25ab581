// The app server as interactive programs see it: the terminal interface, and editors.
export {
  type Client,
  type ClientEvents,
  type Connect,
  ConnectionLost,
  type Link,
  openClient,
  type Question,
  RequestError,
} from "./client.ts";
export { initPrompt, interactiveDefaults, type ThreadOverrides } from "./defaults.ts";
export { connectTo, type RemoteAddress } from "./remote.ts";
