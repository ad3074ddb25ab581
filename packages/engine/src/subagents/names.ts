// The tools for sub-agents, by name. Those at the deepest level have none of them.
export const agentToolNames = ["spawn_agent", "send_input", "wait_agent", "close_agent", "resume_agent"];
