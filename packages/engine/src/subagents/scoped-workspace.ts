// A sub-agent's view of a workspace it shares: its own process ids, and what it releases is its own.
import type { Workspace } from "../ports.ts";

export function scopedWorkspace(shared: Workspace, scope: string): Workspace {
  const started = new Set<string>();
  const own = (id: string) => `${scope}/${id}`;
  return {
    root: shared.root,
    get incarnation() {
      return shared.incarnation;
    },
    exec(request, onChunk, signal) {
      started.add(own(request.id));
      return shared.exec({ ...request, id: own(request.id) }, onChunk, signal);
    },
    read: (request) => shared.read(request),
    list: (request) => shared.list(request),
    search: (request) => shared.search(request),
    edit: (request) => shared.edit(request),
    status: () => shared.status(),
    async release(ids) {
      const named = ids.length > 0 ? ids.map(own) : [...started];
      if (named.length === 0) return;
      for (const id of named) started.delete(id);
      await shared.release(named);
    },
  };
}
