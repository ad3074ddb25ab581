// Writes a note for each host that the sandbox refused, once per host.
import type { Log } from "@agentcli/engine";
import type { Denial } from "@agentcli/workspace";

/** A command that tries host after host must not fill the session. */
const maxNotes = 50;

export function logBlockedConnections(log: Log): (denial: Denial) => void {
  const noted = new Set<string>();
  return ({ host, port, by, reason }) => {
    const key = `${host}:${port} ${by}`;
    if (noted.has(key) || noted.size >= maxNotes || !log.state.turn) return;
    noted.add(key);
    const data = { message: `The sandbox blocked a connection: ${reason}`, host, port, by };
    // A session that can no longer be written fails with the next record of the turn itself.
    log.write({ type: "noted", kind: "policy", data }).catch(() => {});
  };
}
