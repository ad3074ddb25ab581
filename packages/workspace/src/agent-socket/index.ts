// The socket that tells the commands of an agent who they work for: identity tokens (OIDC) and, where there are any, metadata.

export { openAgentSocket } from "./socket.ts";
export type { AgentSocket, AgentSocketOptions, AgentSocketService, SocketReply, TokenRequest } from "./types.ts";
