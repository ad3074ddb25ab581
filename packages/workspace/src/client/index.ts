// The client of a workspace server at the other end of a byte stream.
export { type Connection, connectStarting, connectWorkspace } from "./client.ts";
export { addNote, type NotedResult } from "./note.ts";
