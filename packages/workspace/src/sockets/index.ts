// Sockets of this machine, and the processes that hold them.
export {
  type ConnectionEnds,
  findDatagramSocket,
  findHolder,
  findSocket,
  maxReads,
  readLines,
  readLink,
} from "./holder.ts";
