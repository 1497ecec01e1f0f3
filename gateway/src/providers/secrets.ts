// Keys of providers: where acquirers.json says that they are, and how they are rotated while the service runs.
import { z } from "zod";
import { type SecretFile, environmentVariable, watchedFile } from "../ground/secret-source.ts";

/**
 * The place of a key: an environment variable or a file. A file is read again when it has changed. Its first line is the key; a second line is
 * the previous key, which is still accepted from the provider.
 */
export const secretSource = z.union(
  [
    z.strictObject({ env: z.string().regex(/^[A-Z][A-Z0-9_]{0,99}$/, "must be the name of an environment variable") }),
    z.strictObject({ file: z.string().min(1).max(4096) }),
  ],
  { error: 'must be { "env": "NAME" } or { "file": "/path" }' },
);
type SecretSource = z.infer<typeof secretSource>;

export interface Secret {
  /** The key that requests are made with. Throws when there is none; the message names its place and never the key. */
  current(): string;
  /** The keys that are accepted from the provider, the current one first. */
  accepted(): readonly string[];
}

/** Opens a key. An environment variable is read once. Throws when there is no key at the start. */
export function openSecret(source: SecretSource): Secret {
  const secret = "env" in source ? secretOfVariable(source.env) : secretOfFile(watchedFile(source.file));
  secret.current();
  return secret;
}

function secretOfVariable(name: string): Secret {
  const lines = linesOf(environmentVariable(name) ?? "");
  return secretOf(() => lines, `the environment variable ${name}`);
}

function secretOfFile(file: SecretFile): Secret {
  return secretOf(() => linesOf(file.read()), file.path);
}

/** A PEM block of several lines is one key; a further line or block is the previous key. */
function linesOf(text: string): string[] {
  const pem = text.match(/-----BEGIN [A-Z ]+-----[\s\S]+?-----END [A-Z ]+-----/g);
  return pem ? [...pem] : text.split(/\r?\n/).filter((line) => line.trim() !== "");
}

function secretOf(read: () => readonly string[], place: string): Secret {
  return {
    current() {
      const [first] = read();
      if (first === undefined) throw new Error(`there is no key in ${place}`);
      return first;
    },
    accepted: () => read().slice(0, 2),
  };
}
