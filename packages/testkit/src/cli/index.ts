// agentcli as its users run it: the built program, a repository and a scripted model.
export * from "./harness.ts";
