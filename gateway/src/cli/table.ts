// The table of commands. A new command is a row in one of the files beside this one: help, completion and the docs follow from it.
import { version } from "../ground/version.ts";
import { builtInCommands } from "./built-in.commands.ts";
import { databaseCommands } from "./database.commands.ts";
import { developerCommands } from "./developer.commands.ts";
import type { Command } from "./command.ts";
import { operatorCommands } from "./operator.commands.ts";
import { peopleCommands } from "./people.commands.ts";
import { providerCommands } from "./provider.commands.ts";
import { serviceCommands } from "./service.commands.ts";

export const commands: readonly Command[] = [
  ...serviceCommands,
  ...providerCommands,
  ...databaseCommands,
  ...operatorCommands,
  ...peopleCommands,
  ...developerCommands,
  ...builtInCommands(() => commands, version),
];
