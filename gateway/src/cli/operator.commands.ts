// The rows of the table of commands about the tokens of operators.
import { operatorRoles } from "../people/operator-roles.ts";
import { TOKEN_NAME } from "../operator/tokens.ts";
import { type Command, type Form, defineCommand } from "./command.ts";
import { ofDatabase } from "./variables.ts";

const nameForm: Form = {
  pattern: TOKEN_NAME,
  says: "is not 1 to 40 lower-case letters, digits, dots, dashes or underscores that begin with a letter or a digit",
};
const lasting: Form = { pattern: /^(0|\d{1,9}[smhd])$/, says: "is not a time such as 90d, 12h, 30m or 45s" };
const name = { value: "NAME", required: true, form: nameForm, summary: "whose token" } as const;
const atOnce =
  "The service may run meanwhile: every process of it knows within a second. The change is in the audit as command-line.";

export const operatorCommands: readonly Command[] = [
  defineCommand({
    name: "operator token create",
    summary: "Make a token of the operator's API and print it, this once",
    details: ["The database keeps its digest alone.", atOnce],
    options: {
      name: { ...name, summary: "for whom: it stands in the audit and in the log" },
      role: {
        choices: operatorRoles,
        default: "viewer",
        summary: "a viewer reads, support decides what moves no money, an admin does everything",
      },
      "expires-in": { value: "TIME", form: lasting, summary: "from 1m to 3650d (default: until it is revoked)" },
    },
    examples: [["gerbang operator token create --name sari --role support --expires-in 90d", "for a person"]],
    environment: ofDatabase,
    run: async (values) => (await import("./operator-command.ts")).createTokenCommand(values),
  }),
  defineCommand({
    name: "operator token list",
    summary: "Print the tokens, newest first, those that ended too, one line of JSON each",
    details: ["Those of the environment, OPERATOR_TOKEN and OPERATOR_VIEWER_TOKEN, are not among them."],
    examples: [["gerbang operator token list", "who may call the operator's API"]],
    environment: ofDatabase,
    run: async () => (await import("./operator-command.ts")).listTokensCommand(),
  }),
  defineCommand({
    name: "operator token rotate",
    summary: "Give a token a new secret and print it, this once",
    details: ["Its name, its role and its end stay.", atOnce],
    options: {
      name,
      overlap: {
        value: "TIME",
        default: "0",
        form: lasting,
        summary: "how long the one before stays good, at most 30d",
      },
    },
    examples: [["gerbang operator token rotate --name sari --overlap 1h", "time to change over"]],
    environment: ofDatabase,
    exits: { 1: "there is no good token of this name, or it failed" },
    run: async (values) => (await import("./operator-command.ts")).rotateTokenCommand(values),
  }),
  defineCommand({
    name: "operator token revoke",
    summary: "End a token",
    details: [atOnce],
    options: { name },
    examples: [["gerbang operator token revoke --name sari", "it opens nothing any more"]],
    environment: ofDatabase,
    exits: { 1: "there is no good token of this name, or it failed" },
    run: async (values) => (await import("./operator-command.ts")).revokeTokenCommand(values),
  }),
];
