// Options and choices that commands for merchants share, and the environment variables that these commands read.
import type { Form } from "../../gateway/src/cli/command.ts";
import { rules } from "../../sdk/src/rules.ts";

const count: Form = { pattern: /^([1-9]\d{0,3}|10000)$/, says: "is a number from 1 to 10000" };
export const minor: Form = {
  pattern: /^[1-9]\d{0,15}$/,
  says: "is a whole number of minor units: 150000 is 1,500.00 of IDR",
};
export const seconds: Form = { pattern: /^[1-9]\d{0,9}$/, says: "is a whole number of seconds" };
export const port: Form = {
  pattern: /^([1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])$/,
  says: "is a port from 1 to 65535",
};
/** The types of events that can be triggered. */
export const eventTypes = rules.TriggerEvent.fields.type.options;
export const httpAddress: Form = { pattern: /^https?:\/\/[^/\s]/, says: "begins with http:// or https://" };

/** Becomes the names of the profiles in a shell: in each line of JSON the name comes first. */
export const profileNames = [String.raw`$(gerbang profiles list --json 2>/dev/null | cut -d\" -f4)`];

export const asWhom = {
  profile: {
    value: "NAME",
    known: profileNames,
    summary: "whose key to use (default: GERBANG_PROFILE, or the one set by `profiles use`)",
  },
} as const;

/** Options of commands that print one object. */
export const one = { ...asWhom, json: { summary: "print JSON, for programs" } } as const;

/** Options of commands that change something. */
export const change = {
  ...one,
  "idempotency-key": {
    value: "KEY",
    summary: "one key for one intent: running the same command again changes nothing twice (default: a new key)",
  },
} as const;

/** Options of commands that print a list. */
export const list = {
  ...asWhom,
  json: { summary: "print one line of JSON for each, for programs" },
  limit: { value: "N", default: "25", form: count, summary: "how many, newest first" },
  watch: { summary: "keep running and show what changes, until Ctrl-C" },
} as const;

/** Environment variables that decide which key is used. */
export const ofIdentity = [
  "GERBANG_CLIENT_ID",
  "GERBANG_SECRET",
  "GERBANG_BASE_URL",
  "GERBANG_PROFILE",
  "XDG_CONFIG_HOME",
  "NO_COLOR",
] as const;

/** Option values of every command about objects. */
export interface Common {
  profile: string | undefined;
  json: boolean;
}

/** Option values of a command that changes something. */
export interface Change extends Common {
  "idempotency-key": string | undefined;
}

/** Option values of a command that prints a list. */
export interface ListOptions extends Common {
  limit: string;
  watch: boolean;
}
