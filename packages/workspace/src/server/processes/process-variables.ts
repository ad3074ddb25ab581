// What every process of a workspace finds in its environment besides what it was given.

import type { Environment } from "../../environment/index.ts";
/** Marks what a workspace started, so that children that left their group are found again. */
export const markerName = "AGENT_WORKSPACE";

const plain: Environment = {
  LANG: "C.UTF-8",
  LC_ALL: "C.UTF-8",
  LC_CTYPE: "C.UTF-8",
  COLORTERM: "",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GH_PAGER: "cat",
  AGENT_CI: "1",
};

export const pipeVariables: Environment = { ...plain, NO_COLOR: "1", TERM: "dumb" };
export const terminalVariables: Environment = { ...plain, TERM: "xterm-256color" };
