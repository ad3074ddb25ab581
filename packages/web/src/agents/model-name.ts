// The model of a run, for people. The same words as describeRunModel of the protocol, which would load the schemas.
import type { RunModel } from "@agentcli/protocol/api";

export const modelName = ({ id, provider }: RunModel): string =>
  provider === "practice" ? "practice model (scripted, no intelligence)" : provider ? `${id} of ${provider}` : id;
