// The command line: `gerbang <command>`. Data goes to standard output, words to standard error; exit 0 means clean.
import { explain } from "./cli/failures.ts";
import { runCommandLine } from "./cli/run.ts";
import { commands } from "./cli/table.ts";
import { stopWithParent } from "./ground/parent.ts";
import { version } from "./ground/version.ts";

stopWithParent();
// Whoever reads our output may have read enough, as head has: that is no mistake, and the work goes on to its end.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});
process.exitCode = await runCommandLine({ commands, version, explain }, process.argv.slice(2));
