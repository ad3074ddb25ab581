// With hide_agent_reasoning, neither records nor progress that are shown hold the reasoning of the model. The session keeps it.
import type { Emit, Progress } from "@agentcli/engine";
import type { Assembly, RunCallbacks } from "@agentcli/host";

export function withoutReasoning(callbacks: RunCallbacks): RunCallbacks {
  const { watch } = callbacks;
  const hideFrom = (show: (progress: Progress) => void) => (progress: Progress) => {
    const isHidden =
      progress.type === "reasoning" || (progress.type === "settled" && progress.block.type === "reasoning");
    if (!isHidden) show(progress);
  };
  return {
    ...callbacks,
    onProgress: hideFrom(callbacks.onProgress),
    ...(watch && {
      watch(id) {
        const observer = watch(id);
        return { emit: hiding(observer.emit), onProgress: hideFrom(observer.onProgress) };
      },
    }),
  };
}

export const openingLogs = ({ openLog }: Assembly): Pick<Assembly, "openLog"> => ({
  openLog: (state, emit) => openLog(state, hiding(emit)),
});

const hiding =
  (emit: Emit): Emit =>
  (stored) => {
    const { record } = stored;
    if (record.type !== "model.replied") return emit(stored);
    const blocks = record.blocks.filter(({ type }) => type !== "reasoning");
    return emit({ ...stored, record: { ...record, blocks } });
  };
