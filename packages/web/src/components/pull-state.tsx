// The state of a pull request, as a word with its colour.
import { Icon } from "./icon.tsx";

export type PullState = "draft" | "open" | "merged" | "closed";

export const pullWords: Record<PullState, string> = {
  draft: "Draft",
  open: "Open",
  merged: "Merged",
  closed: "Closed",
};

export const PullStateBadge = ({ state }: { state: PullState }) => (
  <span className={`pull pull-${state}`} data-state={state}>
    <Icon name="pull" size={14} />
    {pullWords[state]}
  </span>
);
