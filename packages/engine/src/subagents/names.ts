// The tools for sub-agents, by name. Children have none of them: the tree is one level deep.
export const agentToolNames = ["spawn_agent", "send_input", "wait_agent", "close_agent", "resume_agent"];
