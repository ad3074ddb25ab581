// The workspace of a call that a person approved to leave the sandbox.
import type { Workspace } from "../ports.ts";

/** The person has seen the path of an edit as it is written, not where links lead. */
export const approvedWorkspace = (workspace: Workspace): Workspace => ({
  root: workspace.root,
  get incarnation() {
    return workspace.incarnation;
  },
  exec: (request, onChunk, signal) => workspace.exec(request, onChunk, signal),
  read: (request) => workspace.read(request),
  list: (request) => workspace.list(request),
  search: (request) => workspace.search(request),
  edit: (request) => workspace.edit({ ...request, asWritten: true }),
  status: () => workspace.status(),
  release: (ids) => workspace.release(ids),
});
