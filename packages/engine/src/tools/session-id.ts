// Session ids of running processes: numbers derived from the id of the call that started them.
const callsPerReply = 1_000;

export function sessionIdOf(callId: string): number {
  const [seq, index] = callId.split(".").map(Number);
  return (seq ?? 0) * callsPerReply + (index ?? 0);
}
