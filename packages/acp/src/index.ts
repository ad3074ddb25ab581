// Editors: `agentcli acp` passes in the connection to an app server and the standard streams.
export { type EditorOptions, serveEditor } from "./serve.ts";
