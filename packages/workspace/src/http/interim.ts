// Interim responses (status 1xx) of a server that sends them without end: reading them would take all of a processor.
import type { ClientRequest } from "node:http";

/** Servers send one or two. */
const maxInterim = 50;

/** Ends a request whose server sends more, with an error. */
export function limitInterim(sent: ClientRequest): void {
  let count = 0;
  sent.on("information", () => {
    count += 1;
    if (count > maxInterim) sent.destroy(new Error("the server sends interim responses without end"));
  });
}
