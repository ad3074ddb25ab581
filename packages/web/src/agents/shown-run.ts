// The run that an item belongs to, for items that read more of it than its stream has.
import { createContext, type ReactNode } from "react";
import type { Item } from "../stream/transcript.ts";

export interface ShownRun {
  agentId: string;
  runId: string;
  isActive: boolean;
  /** Sub-agents have items of their own. */
  render(item: Item): ReactNode;
}

export const ShownRunContext = createContext<ShownRun | null>(null);
