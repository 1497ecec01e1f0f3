// The command line: `gerbang <command>`. Data goes to standard output, messages to standard error; exit code 0 means success.
import { explain } from "./cli/failures.ts";
import { runCommandLine } from "./cli/run.ts";
import { commands } from "./cli/table.ts";
import { stopWithParent } from "./ground/parent.ts";
import { version } from "./ground/version.ts";

stopWithParent();
// A reader such as `head` may close the pipe early. That is no error, and the command runs to its end.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});
process.exitCode = await runCommandLine({ commands, version, explain }, process.argv.slice(2));
