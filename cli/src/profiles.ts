// Profiles: named keys in the system's folder for configuration, in a file that only its owner may read.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { Trouble } from "./failures.ts";

export interface Profile {
  client_id: string;
  secret: string;
  /** Ends in /v1. */
  base_url: string;
  environment: "sandbox" | "production";
  merchant_id: string;
  merchant_name: string;
  /** Address of the portal. */
  portal_url: string;
}

interface Kept {
  /** Name of the profile that is used when none is named. */
  current: string | undefined;
  profiles: Record<string, Profile>;
}

/** The identifier of a key. The service makes 26 letters and digits after its beginning. */
export const CLIENT_ID = /^ak_(?:test|live)_[0-9a-z]{1,60}$/;

export const PROFILE_NAME = /^[\w.-]{1,40}$/;

/** Gerbang's folder for configuration on this system, of this user. Throws `Trouble` where the user has no home: a number in a container may be nobody's. */
export function configFolder(
  environment: NodeJS.ProcessEnv = process.env,
  platform = process.platform,
  homeFolder = homedir,
): string {
  const { XDG_CONFIG_HOME: xdg = "", APPDATA: appData = "" } = environment;
  const home = (): string => {
    try {
      return homeFolder();
    } catch (cause) {
      const message = "This user has no home folder. Set XDG_CONFIG_HOME to a folder for the files of this command.";
      throw new Trouble(message, { cause });
    }
  };
  if (xdg !== "") return join(xdg, "gerbang");
  if (platform === "win32") return join(appData === "" ? join(home(), "AppData", "Roaming") : appData, "gerbang");
  if (platform === "darwin") return join(home(), "Library", "Application Support", "gerbang");
  return join(home(), ".config", "gerbang");
}

export class Profiles {
  readonly file: string;

  constructor(folder = configFolder()) {
    this.file = join(folder, "profiles.json");
  }

  /** Reads the file. Throws `Trouble` when others could read it, or it is no file of profiles. */
  read(): Kept {
    let text: string;
    try {
      text = readFileSync(this.file, "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return { current: undefined, profiles: {} };
      // A container makes a folder of a file that it was to mount and that was not there.
      if (code === "EISDIR") throw new Trouble(`${this.file} is a folder. Remove it, and sign in with gerbang login.`);
      throw error;
    }
    // On Windows a user's folder is private, and the mode says nothing.
    if (process.platform !== "win32" && (statSync(this.file).mode & 0o077) !== 0)
      throw new Trouble(
        `Others on this machine could read the keys in ${this.file}. Make it private: chmod 600 '${this.file}'`,
      );
    try {
      return keptOf(JSON.parse(text));
    } catch (cause) {
      throw new Trouble(`${this.file} is damaged. Remove it, and sign in again with gerbang login.`, { cause });
    }
  }

  /** The profile of this name, or the current one; undefined when there is none. Throws `Trouble` for an unknown name. */
  find(name?: string): { name: string; profile: Profile } | undefined {
    const { current, profiles } = this.read();
    const wanted = name ?? current;
    const profile = wanted !== undefined && Object.hasOwn(profiles, wanted) ? profiles[wanted] : undefined;
    if (wanted !== undefined && profile) return { name: wanted, profile };
    if (name === undefined) return undefined;
    const known = Object.keys(profiles);
    throw new Trouble(
      `There is no profile ${JSON.stringify(name)}. ${known.length === 0 ? "Make one with gerbang login." : `There are: ${known.join(", ")}.`}`,
    );
  }

  /** Stores a profile and makes it the current one. */
  keep(name: string, profile: Profile): void {
    const { profiles } = this.read();
    this.write({ current: name, profiles: { ...profiles, [name]: profile } });
  }

  use(name: string): void {
    this.find(name);
    this.write({ ...this.read(), current: name });
  }

  /** Removes a profile. If it was the current one, another profile becomes current, if there is one. */
  forget(name: string): void {
    const { current, profiles } = this.read();
    const { [name]: _, ...others } = profiles;
    this.write({ current: current === name ? Object.keys(others)[0] : current, profiles: others });
  }

  /** Writes a new file and moves it into place: whenever the process dies, a whole file is there. */
  private write(kept: Kept): void {
    mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
    const aside = `${this.file}.${process.pid}`;
    try {
      writeFileSync(aside, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600, flag: "wx" });
      chmodSync(aside, 0o600); // the umask may have changed the mode above
      renameSync(aside, this.file);
    } finally {
      rmSync(aside, { force: true });
    }
  }
}

/** Reads the content of a file of profiles. Throws for anything else. */
function keptOf(value: unknown): Kept {
  const { current, profiles } = objectOf(value);
  if (current !== undefined && typeof current !== "string") throw new TypeError("current is no name");
  const known = Object.entries(objectOf(profiles)).map(([name, one]) => [name, profileOf(objectOf(one))] as const);
  return { current, profiles: Object.fromEntries(known) };
}

function profileOf(value: Record<string, unknown>): Profile {
  const text = (name: keyof Profile): string => {
    const found = value[name];
    if (typeof found !== "string") throw new TypeError(`${name} is no text`);
    return found;
  };
  const environment = text("environment");
  if (environment !== "sandbox" && environment !== "production") throw new TypeError("environment is none");
  return {
    client_id: text("client_id"),
    secret: text("secret"),
    base_url: text("base_url"),
    environment,
    merchant_id: text("merchant_id"),
    merchant_name: text("merchant_name"),
    portal_url: text("portal_url"),
  };
}

function objectOf(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new TypeError("no object");
  return value as Record<string, unknown>;
}
