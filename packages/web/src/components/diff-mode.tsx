// How diffs are laid out, as this browser remembers it.

import type { DiffMode } from "./diff.tsx";
import { useStored } from "./stored.ts";

export const useDiffMode = () => useStored<DiffMode>("diff-mode", "unified");

export const DiffModeSwitch = ({ mode, onChange }: { mode: DiffMode; onChange(mode: DiffMode): void }) => (
  <fieldset className="segments">
    <legend className="sr-only">Layout</legend>
    {(["unified", "split"] as const).map((one) => (
      <button key={one} type="button" className="segment" aria-pressed={mode === one} onClick={() => onChange(one)}>
        {one === "unified" ? "Unified" : "Split"}
      </button>
    ))}
  </fieldset>
);
