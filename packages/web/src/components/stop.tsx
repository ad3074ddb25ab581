// Stops a run. It does not ask: what the agent has done stays, and the button says how it goes on.
import type { AgentDetails } from "@agentcli/protocol/api";
import { Button } from "./controls.tsx";

export interface StopButtonProps extends Pick<AgentDetails, "permissions"> {
  isBusy: boolean;
  onStop(): void;
}

export const StopButton = ({ permissions, isBusy, onStop }: StopButtonProps) => {
  const consequence = permissions.followUp
    ? "What it has done stays. A message or Retry lets it go on."
    : "What it has done stays.";
  return (
    <Button icon="stop" title={consequence} isBusy={isBusy} onClick={onStop}>
      Stop
    </Button>
  );
};
