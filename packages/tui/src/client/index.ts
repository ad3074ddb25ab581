// The app server as the terminal interface sees it.
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
export { connectTo, type RemoteAddress } from "./remote.ts";
