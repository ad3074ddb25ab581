// Follows what a terminal shows: each request is answered once there is something new.
import type { TerminalScreen } from "@agentcli/protocol/api";
import { RequestError, request } from "./request.ts";

export interface FollowedScreen {
  screen: TerminalScreen | null;
  error: unknown;
}

/** A program that draws without end changes the screen with each look. */
const pauseMs = 100;
const retryMs = 2_000;

export async function followScreen(
  path: string,
  onChange: (state: FollowedScreen) => void,
  signal: AbortSignal,
): Promise<void> {
  let screen: TerminalScreen | null = null;
  while (!signal.aborted) {
    try {
      const after: string = screen?.revision ?? "";
      screen = await request<TerminalScreen>(`${path}/screen?after=${encodeURIComponent(after)}`, { signal });
      if (signal.aborted) return;
      if (screen.revision !== after) onChange({ screen, error: null });
      await pause(pauseMs);
    } catch (error) {
      if (signal.aborted) return;
      onChange({ screen, error });
      // The run has left its machine, or the reader may no longer see it.
      if (error instanceof RequestError && error.status >= 400 && error.status < 500 && error.status !== 429) return;
      await pause(retryMs);
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
