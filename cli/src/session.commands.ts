// The rows of the table of commands about the key that is used: signing in and out, and profiles.
import { type Command, type Form, defineCommand } from "../../gateway/src/cli/command.ts";
import { httpAddress, profileNames } from "./common.ts";

const profileName: Form = {
  pattern: /^[\w.-]{1,40}$/,
  says: "is 1 to 40 letters, digits, dots, dashes and underscores",
};

export const sessionCommands: readonly Command[] = [
  defineCommand({
    name: "login",
    summary: "Sign in through the portal, and keep a key for this machine",
    details: [
      "It shows a code and a page. Whoever is signed in to the portal compares the code there, decides what the key may do, and confirms. The key is kept in a file that nobody else can read.",
      "A key belongs to one environment. To have both, sign in twice under two profile names.",
    ],
    options: {
      "base-url": {
        value: "URL",
        form: httpAddress,
        summary:
          "the service's address (default: GERBANG_BASE_URL, or the profile's, or that of a service that runs from this folder)",
      },
      profile: {
        value: "NAME",
        form: profileName,
        known: profileNames,
        summary: "how the key is kept (default: GERBANG_PROFILE, or default)",
      },
      production: { summary: "ask for a key of production; the person decides" },
      "no-browser": { summary: "do not open a browser: only print the address" },
    },
    examples: [
      ["gerbang login --base-url https://pay.example.com/v1", "a key of the sandbox"],
      ["gerbang login --production --profile live", "another one, of production"],
    ],
    environment: ["GERBANG_BASE_URL", "GERBANG_PROFILE", "XDG_CONFIG_HOME"],
    run: async (values) => (await import("./login.ts")).loginCommand(values),
  }),
  defineCommand({
    name: "logout",
    summary: "Forget a key on this machine",
    details: ["The key itself stays valid until it is revoked in the portal, under Developers, Keys."],
    options: { profile: { value: "NAME", known: profileNames, summary: "which one (default: the one in use)" } },
    examples: [["gerbang logout --profile live", "forgets that one"]],
    environment: ["GERBANG_PROFILE", "XDG_CONFIG_HOME"],
    run: async (values) => (await import("./login.ts")).logoutCommand(values),
  }),
  defineCommand({
    name: "profiles list",
    summary: "List the keys on this machine, without their secrets",
    options: { json: { summary: "print one line of JSON for each" } },
    examples: [["gerbang profiles list", "the one in use has a star"]],
    environment: ["XDG_CONFIG_HOME", "NO_COLOR"],
    run: async (values) => (await import("./login.ts")).profilesCommand(values),
  }),
  defineCommand({
    name: "profiles use",
    summary: "Use a profile when none is named",
    operand: { name: "profile", required: true, known: profileNames },
    examples: [["gerbang profiles use live", "from now on"]],
    environment: ["XDG_CONFIG_HOME"],
    run: async (_values, [name = ""]) => (await import("./login.ts")).useCommand(name),
  }),
];
