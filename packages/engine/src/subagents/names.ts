// Names of the tools for sub-agents. Sub-agents at the maximum depth do not have them.
export const agentToolNames = ["spawn_agent", "send_input", "wait_agent", "close_agent", "resume_agent"];
