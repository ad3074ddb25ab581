// The types of a program's command line: its commands, its flags and what a command receives.

export interface Flag {
  short?: string;
  /** Other names for the same flag. */
  aliases?: readonly string[];
  /** Name of the value in the help; a flag without one is a switch. */
  value?: string;
  /** What the flag means without its value; a flag without this needs one. */
  valueByDefault?: string;
  choices?: readonly string[];
  repeatable?: true;
  help: string;
}

/** All that help and completion need to know about a command. */
export interface CommandDescription<FlagName extends string = string> {
  /** The words that name it. */
  path: string[];
  aliases?: string[][];
  /** What follows the words, for the help: PROMPT, [ID] … */
  takes: string;
  maxPositionals: number;
  summary: string;
  flags: FlagName[];
  /** Lines shown below the flags. */
  notes?: string;
}

/** `Context` is what the program passes to every command. */
export interface Command<FlagName extends string, Context> extends CommandDescription<FlagName> {
  /** Loaded only when called. `run` returns the exit code. */
  load(): Promise<{ run(invocation: Invocation<FlagName>, context: Context): Promise<number> }>;
}

/** The arguments of one command, checked against the tables. */
export interface Invocation<FlagName extends string = string> {
  positionals: string[];
  has(flag: FlagName): boolean;
  text(flag: FlagName): string | undefined;
  list(flag: FlagName): string[];
}

/** One program's command line; parser, help and completion work from this value. */
export interface Syntax<Entry extends CommandDescription = CommandDescription> {
  /** Name of the program. */
  program: string;
  commands: readonly Entry[];
  /** By name. A name means the same in every command. */
  flags: Readonly<Record<string, Flag>>;
  /** `--name ""` counts as a missing value. */
  rejectEmptyValues?: true;
  /** The command for words that name none, such as a prompt alone; null where there is none. Asked only then. */
  unnamed?(): Entry | null;
  hints?: {
    /** For a word that is not a command and resembles none. */
    unknownCommand?(words: string[]): string;
    /** For an argument too many, where a command takes some. */
    extraArgument?: string;
  };
}
