// A sub-agent's view of the shared workspace: its own process ids, and release affects only its own processes.
import type { Workspace } from "../ports.ts";

export function scopedWorkspace(shared: Workspace, scope: string): Workspace {
  const started = new Set<string>();
  const scopedId = (id: string) => `${scope}/${id}`;
  return {
    root: shared.root,
    get incarnation() {
      return shared.incarnation;
    },
    exec(request, onChunk, signal) {
      started.add(scopedId(request.id));
      return shared.exec({ ...request, id: scopedId(request.id) }, onChunk, signal);
    },
    read: (request) => shared.read(request),
    list: (request) => shared.list(request),
    search: (request) => shared.search(request),
    edit: (request) => shared.edit(request),
    status: () => shared.status(),
    async release(ids) {
      const named = ids.length > 0 ? ids.map(scopedId) : [...started];
      if (named.length === 0) return;
      for (const id of named) started.delete(id);
      await shared.release(named);
    },
  };
}
