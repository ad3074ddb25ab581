// The path of the MCP server over standard streams.
import { fileURLToPath } from "node:url";

export const stdioServerProgram = fileURLToPath(new URL("stdio-server.mjs", import.meta.url));
