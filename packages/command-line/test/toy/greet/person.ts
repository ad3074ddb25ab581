// `toy greet person`
import { CommandError, type Invocation } from "@agentcli/command-line";

export async function run(invocation: Invocation<"loud">, { print }: { print(text: string): void }): Promise<number> {
  const [name] = invocation.positionals;
  if (name === undefined) throw new CommandError("usage", "Missing name: toy greet person NAME.");
  const greeting = `Hello ${name}`;
  print(invocation.has("loud") ? `${greeting.toUpperCase()}\n` : `${greeting}\n`);
  return 0;
}
