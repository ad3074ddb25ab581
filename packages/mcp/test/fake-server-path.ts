// Where the fake server is, for tests that start it.
import { fileURLToPath } from "node:url";

export const fakeServer = fileURLToPath(new URL("fake-server.mjs", import.meta.url));
