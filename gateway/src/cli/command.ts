// What a command of the command line is, as data: from it come the parsing, the help, the completion and a page of the docs.

/** What a value has to look like, and the sentence for one that does not. */
export interface Form {
  readonly pattern: RegExp;
  readonly says: string;
}

export interface Option {
  readonly summary: string;
  /** What stands for the value in the usage, such as mer_…. An option with neither this nor `choices` is a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly default?: string;
  readonly required?: boolean;
  readonly form?: Form;
}

export type Options = Readonly<Record<string, Option>>;

type Given<O extends Option> = O extends { choices: readonly (infer Choice)[] }
  ? Choice | (O extends { required: true } | { default: string } ? never : undefined)
  : O extends { value: string }
    ? string | (O extends { required: true } | { default: string } ? never : undefined)
    : boolean;

/** The values that a command with these options is run with. */
export type Values<O extends Options> = { -readonly [Name in keyof O]: Given<O[Name]> };

/** A word that follows the command's name: the shell of `completion bash`. */
export interface Operand {
  readonly name: string;
  readonly choices?: readonly string[];
  readonly required?: boolean;
  /** True when any number of words may follow. */
  readonly many?: boolean;
}

interface Described<O extends Options> {
  /** One word or more, such as `people invite`. */
  readonly name: string;
  /** What it does, in the imperative, without a full stop. */
  readonly summary: string;
  /** What else one has to know, in paragraphs. */
  readonly details?: readonly string[];
  readonly options: O;
  readonly operand?: Operand;
  /** Each with what it is good for. */
  readonly examples: readonly (readonly [line: string, purpose: string])[];
  /** The names of the variables that it heeds; `variables.ts` says what they mean. */
  readonly environment: readonly string[];
  /** What exit codes mean, where it is more than done, failed and misunderstood. */
  readonly exits?: Readonly<Record<number, string>>;
}

export interface Command extends Described<Options> {
  run(values: Readonly<Record<string, string | boolean | undefined>>, operands: readonly string[]): Promise<number>;
}

/** A command; `run` gets the values that its options promise, and gives the exit code. */
export function defineCommand<const O extends Options>(
  command: Described<O> & { run(values: Values<O>, operands: readonly string[]): Promise<number> },
): Command {
  return command;
}

/** The command was misunderstood: exit code 2, and a line that says how to get help. */
export class UsageError extends Error {
  override name = "UsageError";
}

export const isSwitch = ({ value, choices }: Option): boolean => value === undefined && choices === undefined;

/** How an option's value is written in a usage line. */
export const valueOf = ({ value, choices }: Option): string => choices?.join("|") ?? value ?? "";
