// What the socket of an agent asks of those who know the agent.

export interface TokenRequest {
  aud: string;
  nonce?: string;
  subClaim?: "team_id";
}

export interface SocketReply {
  status: number;
  /** An object is sent as JSON. */
  body: object | string;
  headers?: Record<string, string>;
}

export interface AgentSocketService {
  token(request: TokenRequest): Promise<SocketReply>;
  /** Values by their paths, such as `agent/id`; or a refusal. Absent: there is no metadata. */
  metadata?(): Promise<Map<string, string> | SocketReply>;
  /** Credentials of the cloud role of the agent. Absent: it has none. */
  awsCredentials?(): Promise<SocketReply>;
}

export interface AgentSocketOptions {
  /** Made if it is missing. Who can enter it is the agent: keep it in a directory that no other user can enter. */
  directory: string;
  /** "every-user": commands that run as other users of the host can connect. */
  connectsFor: "own-user" | "every-user";
}

export interface AgentSocket {
  close(): void;
}
