// A command of the command line, as data: parsing, help, completion and a page of the docs are made from it.

/** The pattern of a value, and the sentence about a value that does not match it. */
export interface Form {
  readonly pattern: RegExp;
  readonly says: string;
}

export interface Option {
  readonly summary: string;
  /** Placeholder of the value in the usage, such as mer_…. An option with neither this nor `choices` is a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly default?: string;
  readonly required?: boolean;
  readonly form?: Form;
  /** Values that Tab offers and others may join. bash, zsh and fish run a `$(…)` among them; no apostrophes. */
  readonly known?: readonly string[];
}

type Options = Readonly<Record<string, Option>>;

type Given<O extends Option> = O extends { choices: readonly (infer Choice)[] }
  ? Choice | (O extends { required: true } | { default: string } ? never : undefined)
  : O extends { value: string }
    ? string | (O extends { required: true } | { default: string } ? never : undefined)
    : boolean;

/** The values with which a command with these options is run. */
export type Values<O extends Options> = { -readonly [Name in keyof O]: Given<O[Name]> };

/** A word after the command's name, such as the shell in `completion bash`. */
interface Operand extends Pick<Option, "choices" | "required" | "known"> {
  readonly name: string;
  /** True when any number of words may follow. */
  readonly many?: boolean;
}

interface Described<O extends Options> {
  /** One word or more, such as `people invite`. */
  readonly name: string;
  /** The command's effect, in the imperative, without a full stop. */
  readonly summary: string;
  /** Further explanations, one paragraph each. */
  readonly details?: readonly string[];
  readonly options?: O;
  readonly operand?: Operand;
  /** True when the name without its last word runs it as well. */
  readonly alone?: boolean;
  readonly examples: readonly (readonly [line: string, purpose: string])[];
  /** Names of the environment variables that the command reads; `variables.ts` explains them. */
  readonly environment?: readonly string[];
  /** Meanings of exit codes, where they are more than done, failed and misunderstood. */
  readonly exits?: Readonly<Record<number, string>>;
}

export interface Command extends Described<Options> {
  readonly options: Options;
  readonly environment: readonly string[];
  run(values: Readonly<Record<string, string | boolean | undefined>>, operands: readonly string[]): Promise<number>;
}

/** Defines a command. `run` gets the values that its options promise, and returns the exit code. */
export function defineCommand<const O extends Options>(
  command: Described<O> & { run(values: Values<O>, operands: readonly string[]): Promise<number> },
): Command {
  return { options: {}, environment: [], ...command };
}

/** The command line was misunderstood: exit code 2, and a line that says how to get help. */
export class UsageError extends Error {
  override name = "UsageError";
}

export const isSwitch = ({ value, choices }: Option): boolean => value === undefined && choices === undefined;

/** An option with its value, as in a usage line. */
export const notationOf = (name: string, option: Option): string =>
  isSwitch(option) ? `--${name}` : `--${name} ${option.choices?.join("|") ?? option.value}`;
